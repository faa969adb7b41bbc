"""A weighted AUC as a loss of PyTorch."""

import numpy as np
import torch
from torch import Tensor, nn

from karat._sentences import Argument, Expected, Remedy, Row
from karat._validate import check_count, check_number, refuse_option
from karat.exceptions import DataError, LabelError, LengthMismatchError, ScoreError
from karat.ranking import Uniform, Weight
from karat.ranking.learning import LOSSES, check_loss, lower_weight


class WeightedAUCLoss(nn.Module):
    """Pairwise surrogate of a weighted AUC, to be minimised over minibatches.

    For the scores sᵢ of positives and sⱼ of negatives,
    ``Σⱼ ωⱼ · meanᵢ φ((sᵢ − sⱼ) / margin)`` with ``ωⱼ = (K(r/n₀) − K((r−1)/n₀)) / K(1)`` for the
    negative of ascending rank r: 1 − f_{W′,ℓ} / ‖W′‖₁ of Maurer & Pontil (2020), section 2.2, with
    ℓ = 1 − φ. Ranks count as constants for the gradient, which is exact where no two negatives have
    the same score; negatives of one score share their weights.

    Parameters
    ----------
    weight : Weight, default Uniform()
        What a false-positive rate is worth.
    loss : {"truncated_hinge", "hinge", "squared_hinge", "logistic"}
        φ; see `karat.ranking.WeightedAUCClassifier`.
    margin : float, default 1.0
        The difference of scores from which a pair counts as ranked well.
    ramp : float, default 0.1
        Width of the ramps of W′, as a share of the band of an ``FprBand``; other weights are taken
        as they are.
    memory : int, default 0
        How many scores of earlier batches to keep of each class, detached. In a batch of 64 the
        top 5 % are 3 rows; ranks among the memory and the batch together are finer. It is filled
        in training mode only, and the gradient keeps the scale that it has without memory. Choose
        no more than a few dozen batches, for the scores are those of earlier parameters, and call
        `reset` when the network or the data change.

    Examples
    --------
    >>> import torch
    >>> from karat.ranking import FprBand
    >>> from karat.torch import WeightedAUCLoss
    >>> loss = WeightedAUCLoss(FprBand(0, 0.5), loss="hinge")
    >>> scores = torch.tensor([2.0, 0.5, 0.0, -1.0], requires_grad=True)
    >>> value = loss(scores, torch.tensor([1, 1, 0, 0]))
    >>> value.backward()
    >>> round(value.item(), 3), scores.grad.numpy().round(3).tolist()
    (0.25, [0.0, -0.5, 0.5, 0.0])
    """

    memory_positive: Tensor
    memory_negative: Tensor

    def __init__(
        self,
        weight: Weight | None = None,
        *,
        loss: str = "truncated_hinge",
        margin: float = 1.0,
        ramp: float = 0.1,
        memory: int = 0,
    ) -> None:
        super().__init__()
        self.weight = Uniform() if weight is None else weight
        self.loss = check_loss(loss)
        self.margin = check_number(margin, "margin", at_least=0.0)
        if self.margin == 0:
            refuse_option(margin, "margin", "a positive difference of scores")
        self.ramp = ramp
        self.memory = check_count(memory, "memory", at_least=0)
        self._lower = lower_weight(self.weight, ramp)
        self.register_buffer("memory_positive", torch.empty(0), persistent=False)
        self.register_buffer("memory_negative", torch.empty(0), persistent=False)

    def extra_repr(self) -> str:
        """Return the options, for the repr of the module."""
        return (
            f"{self.weight!r}, loss={self.loss!r}, margin={self.margin:g}, ramp={self.ramp:g}, "
            f"memory={self.memory}"
        )

    def reset(self) -> None:
        """Forget the scores of earlier batches."""
        self.memory_positive = self.memory_positive[:0]
        self.memory_negative = self.memory_negative[:0]

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of a batch, a scalar.

        Parameters
        ----------
        scores : Tensor (n,) or (n, 1)
            One real score per row, larger for more likely positives; logits, not probabilities.
        targets : Tensor (n,) or (n, 1)
            1 (or True) for positives, 0 for negatives.

        Returns
        -------
        Tensor
            0, with a gradient of 0, where a class is neither in the batch nor in the memory.
        """
        flat, positives = _check(scores, targets)
        # Half precision would merge the ranks of close scores, and overflow in squares.
        with torch.autocast(device_type=flat.device.type, enabled=False):
            flat = flat if flat.dtype == torch.float64 else flat.float()
            mine = flat[positives], flat[~positives]
            held = self.memory_positive.to(flat), self.memory_negative.to(flat)
            s, t = (_joined(new, old) for new, old in zip(mine, held, strict=True))
            if self.training and self.memory:
                self.memory_positive = self._kept(held[0], mine[0])
                self.memory_negative = self._kept(held[1], mine[1])
            # An empty sum keeps the graph, so that backward() works on any batch.
            return self._value(s, t) if len(s) and len(t) else 0.0 * flat.sum()

    def _value(self, s: Tensor, t: Tensor) -> Tensor:
        omega = self._rank_weights(t.detach())
        counted = omega > 0  # outside a band there is nothing to compare with
        d = (s[:, None] - t[counted][None, :]) / self.margin
        return _phi(d, self.loss).mean(dim=0) @ omega[counted]

    def _rank_weights(self, t: Tensor) -> Tensor:
        """Return ω of each negative; the level ones share."""
        n = len(t)
        steps = np.diff(self._lower.cumulative(np.arange(n + 1) / n)) / self._lower.area
        by_rank = torch.as_tensor(steps, dtype=t.dtype, device=t.device)
        _, group, sizes = torch.unique(t, sorted=True, return_inverse=True, return_counts=True)
        order = torch.argsort(group, stable=True)
        total = torch.zeros(len(sizes), dtype=t.dtype, device=t.device)
        total.index_add_(0, group[order], by_rank)
        shared: Tensor = total / sizes
        return shared[group]

    def _kept(self, old: Tensor, new: Tensor) -> Tensor:
        return torch.cat([old, new.detach()])[-self.memory :]


def _joined(new: Tensor, old: Tensor) -> Tensor:
    """Return the batch and the memory together, with gradients as large as without memory."""
    if not len(old) or not len(new):
        return torch.cat([new, old])
    larger = (len(new) + len(old)) / len(new)
    fixed = new.detach()
    return torch.cat([fixed + larger * (new - fixed), old])


def _phi(d: Tensor, loss: str) -> Tensor:
    if loss == "logistic":
        return nn.functional.softplus(-d)
    terms = [c * torch.relu(b - d) ** 2 for c, b in LOSSES[loss]]
    return torch.stack(terms).sum(dim=0) if len(terms) > 1 else terms[0]


def _check(scores: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return scores and which rows are positive, both of one dimension."""
    for name, tensor in (("scores", scores), ("targets", targets)):
        if not isinstance(tensor, Tensor):
            raise DataError(
                Argument.of(name),
                f" is of type {type(tensor).__name__}; expected ",
                Expected("a torch.Tensor"),
            )
        if tensor.ndim > 2 or (tensor.ndim == 2 and tensor.shape[1] != 1):
            raise DataError(
                Argument.of(name),
                f" has the shape {tuple(tensor.shape)}; expected ",
                Expected("one number per row"),
                ". Of two logits per row, pass their difference",
            )
    if not scores.is_floating_point():
        raise ScoreError(
            Argument("scores"),
            f" has the dtype {scores.dtype}; expected ",
            Expected("floating-point numbers"),
        )
    flat, labels = scores.reshape(-1), targets.reshape(-1).to(scores.device)
    if len(flat) != len(labels):
        raise LengthMismatchError(
            Argument("scores"),
            f" has {len(flat)} rows and targets has {len(labels)}",
            Remedy("pass one per row"),
        )
    wrong = (labels != 0) & (labels != 1)
    if bool(wrong.any()):
        row = int(wrong.nonzero()[0])
        raise LabelError(
            Argument("targets"),
            Row(row),
            f" is {labels[row].item()}; expected ",
            Expected("0 or 1"),
        )
    return flat, labels == 1
