"""A loss that trains networks to be calibrated on several labels jointly."""

import math

import torch
from torch import Tensor, nn

from karat._sentences import Argument, Expected
from karat._validate import check_count, check_flag, check_number, refuse_option
from karat.exceptions import (
    DataError,
    LabelError,
    LengthMismatchError,
    ProbabilityError,
    ShapeError,
)

# --- The latent Gaussian model of labels, with gradients.

FOLDS = 4


_LEAST = 2 * FOLDS  # rows


class CopulaCalibrationLoss(nn.Module):
    """How far a batch's probabilities are from what they mean jointly, to add to any loss.

    **It seldom pays.** On six multi-label datasets, with five splits each, networks trained with
    it were never better than the same network without it and then
    `karat.calibration.CopulaCalibrator`, which sees the same rows and takes less than half of the
    time; `docs/theory/calibration.md` has the table. It is for those who cannot map probabilities
    afterwards, or who study the objective of Panda & Garain (2023).

    ``loss = criterion(logits, y) + beta * CopulaCalibrationLoss()(torch.sigmoid(logits), y)``.

    Probabilities of rows that a network was trained on say little about its calibration: pass rows
    that the criterion does not see, such as those kept for early stopping, with
    ``stop_gradient=True``. With gradients through ``Ê``, on training rows, the error also falls as
    probabilities say less, which costs accuracy.

    It is ``mean ‖Ê[y | h] − h‖²`` with the latent Gaussian model of
    `karat.calibration.canonical_calibration_error` fitted to the batch. Ranks have no gradient, so
    distribution functions are smoothed: ``F(h) = mean_i σ((h − h_i)/(smoothing·s))`` with s the
    spread of the column; everything after that is differentiable.

    Parameters
    ----------
    smoothing : float, default 0.1
        Width of the steps of the smoothed distribution functions, in standard deviations.
    shrink : bool, default True
        Whether ``Ê`` of a row is fitted to other rows (four folds) and each label's move
        ``m = Ê − h`` shortened by what it is worth there, ``Σ(y−h)·m / Σm²`` between 0 and 1. Few
        rows and many labels give large moves by chance; without this a network learns them.
    stop_gradient : bool, default False
        Whether the shortened ``Ê`` is taken as a constant: the plain pull ``‖h − Ê‖²``, by ranks
        that need no smoothing. The right choice for rows that the criterion does not see.
    memory : int, default 0
        Number of earlier rows that are kept (without gradients) and join each batch, so that a
        small batch has a stable fit.

    Examples
    --------
    >>> import torch
    >>> generator = torch.Generator().manual_seed(0)
    >>> prob = torch.rand(2000, 3, generator=generator)
    >>> y = (torch.rand(2000, 3, generator=generator) < prob).float()
    >>> loss = CopulaCalibrationLoss()
    >>> bool(loss(prob, y) < loss(prob**3, y) / 4)
    True
    """

    kept_prob: Tensor
    kept_target: Tensor

    def __init__(
        self,
        *,
        smoothing: float = 0.1,
        shrink: bool = True,
        stop_gradient: bool = False,
        memory: int = 0,
    ) -> None:
        super().__init__()
        self.smoothing = check_number(smoothing, "smoothing", at_least=0.0)
        if self.smoothing == 0:  # steps have no gradient
            refuse_option(smoothing, "smoothing", "a number above 0, such as 0.1")
        self.shrink = check_flag(shrink, "shrink")
        self.stop_gradient = check_flag(stop_gradient, "stop_gradient")
        self.memory = check_count(memory, "memory", at_least=0)
        self.register_buffer("kept_prob", torch.empty(0, 0), persistent=False)
        self.register_buffer("kept_target", torch.empty(0, 0), persistent=False)

    def forward(self, prob: Tensor, target: Tensor) -> Tensor:
        """Return the loss of a batch.

        Parameters
        ----------
        prob : tensor (n, K)
            Probabilities between 0 and 1.
        target : tensor (n, K)
            0 or 1 for each label.
        """
        _check(prob, target)
        with torch.autocast(prob.device.type, enabled=False):
            h = prob if prob.dtype == torch.float64 else prob.float()
            y = target.to(h.dtype)
            rows, labels = self._with_memory(h, y)
            self._remember(h, y)
            if not len(h) or len(rows) < _LEAST:
                return h.sum() * 0.0
            with torch.set_grad_enabled(torch.is_grad_enabled() and not self.stop_gradient):
                move = self._move(rows, labels)[: len(h)]
            if self.stop_gradient:
                move = (h.detach() + move) - h
            return (move**2).sum(dim=1).mean()

    def _move(self, h: Tensor, y: Tensor) -> Tensor:
        """Return ``Ê − h``, as far as labels that it was not fitted to bear it out."""
        v = ranked_scores(h) if self.stop_gradient else normal_scores(h, self.smoothing)
        if not self.shrink:
            return conditional_means(v, v, y) - h
        move = held_out_means(v, y) - h
        gained, length = ((y - h) * move).sum(dim=0), (move**2).sum(dim=0)
        return move * (gained / length.clamp_min(1e-12)).clamp(0.0, 1.0)

    def reset(self) -> None:
        """Forget the rows of earlier batches."""
        self.kept_prob, self.kept_target = self.kept_prob[:0], self.kept_target[:0]

    def _with_memory(self, h: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        if not len(self.kept_prob) or self.kept_prob.shape[1] != h.shape[1]:
            return h, y
        kept, labels = self.kept_prob.to(h), self.kept_target.to(h)
        return torch.cat([h, kept]), torch.cat([y, labels])

    def _remember(self, h: Tensor, y: Tensor) -> None:
        if self.memory and self.training:
            same = len(self.kept_prob) and self.kept_prob.shape[1] == h.shape[1]
            prob = torch.cat([h.detach(), self.kept_prob.to(h)]) if same else h.detach()
            label = torch.cat([y, self.kept_target.to(h)]) if same else y
            self.kept_prob, self.kept_target = prob[: self.memory], label[: self.memory]


def _check(prob: Tensor, target: Tensor) -> None:
    for name, value in (("prob", prob), ("target", target)):
        if not isinstance(value, Tensor):
            raise DataError(
                Argument.of(name),
                f" is a {type(value).__name__}; expected ",
                Expected("a tensor"),
            )
    if prob.ndim != 2:
        raise ShapeError(
            Argument("prob"),
            f" has shape {tuple(prob.shape)}; expected ",
            Expected("(rows, labels)"),
        )
    if prob.shape != target.shape:
        raise LengthMismatchError(
            Argument("prob"),
            f" has shape {tuple(prob.shape)} and target {tuple(target.shape)}; expected ",
            Expected("one target for each probability"),
        )
    low, high = _range(prob)
    if not (low >= 0 and high <= 1):
        raise ProbabilityError(
            Argument("prob"),
            f" is between {low:g} and {high:g}; expected ",
            Expected("probabilities"),
            ". Apply torch.sigmoid",
        )
    low, high = _range(target)
    if not (low >= 0 and high <= 1):
        raise LabelError(
            Argument("target"),
            f" is between {low:g} and {high:g}; expected ",
            Expected("0 or 1"),
        )


def _range(values: Tensor) -> tuple[float, float]:
    if not values.numel():
        return 0.0, 1.0
    low, high = torch.aminmax(values.detach())
    return float(low), float(high)


_EXPLAINED = 0.98  # of a latent label's variance that probabilities may explain
_RIDGE = 0.02  # least share of independence in the correlation, so that it can be inverted


def held_out_means(v: Tensor, y: Tensor) -> Tensor:
    """Return E[y | h] of each row, fitted to the rows of other folds."""
    fold = torch.arange(len(v), device=v.device) % FOLDS
    parts = [conditional_means(v[fold == k], v[fold != k], y[fold != k]) for k in range(FOLDS)]
    return torch.cat(parts)[torch.argsort(torch.argsort(fold, stable=True))]


def normal_scores(h: Tensor, smoothing: float) -> Tensor:
    """Return standardised normal scores of each column, by a smoothed distribution function."""
    n = len(h)
    spread = h.std(dim=0).clamp_min(1e-4)
    step = (h[:, None, :] - h[None, :, :]) / (smoothing * spread)
    level = torch.sigmoid(step).mean(dim=1)
    return _standard(torch.special.ndtri((n * level + 0.5) / (n + 1)))


def ranked_scores(h: Tensor) -> Tensor:
    """Return standardised normal scores by mid-ranks, which is faster and has no gradient."""
    columns = h.T.contiguous()
    ordered = columns.sort(dim=1).values
    below, upto = (torch.searchsorted(ordered, columns, right=right) for right in (False, True))
    return _standard(torch.special.ndtri((below + upto + 1).T.to(h) / (2 * len(h) + 2)))


def _standard(v: Tensor) -> Tensor:
    v = v - v.mean(dim=0)
    return v / v.std(dim=0, correction=0).clamp_min(1e-4)


def conditional_means(at: Tensor, v: Tensor, y: Tensor) -> Tensor:
    """Fit the latent model to scores v and labels y; return E[y | h] at the scores ``at``."""
    n, k = v.shape
    share = y.mean(dim=0)
    kept = share.clamp(0.5 / (n + 1), 1 - 0.5 / (n + 1))
    tau = -torch.special.ndtri(kept)
    density = torch.exp(-(tau**2) / 2) / math.sqrt(2 * math.pi)
    r = (y - share).T @ v / n / density[:, None]
    # A batch is small: correlations are drawn toward independence by its size.
    amount = min(1.0, k / (n + k) + _RIDGE)
    eye = torch.eye(k, dtype=v.dtype, device=v.device)
    corr = (v.T @ v / n) * (1 - amount) + eye * amount
    weight = torch.linalg.solve(corr, r.T).T
    explained = (weight * r).sum(dim=1)
    factor = torch.sqrt((_EXPLAINED / explained.clamp_min(1e-12)).clamp(max=1.0))
    noise = torch.sqrt(1 - explained * factor**2)
    meant: Tensor = torch.special.ndtr((at @ (weight * factor[:, None]).T - tau) / noise)
    return meant


# --- The objective of Panda & Garain (2023, eq. 12–13) as it is printed, for comparison.


def published_objective(h: Tensor, y: Tensor, v: Tensor, noise: Tensor, beta: float) -> Tensor:
    """Return ``mean ‖z − h‖² + γ·E[E[z | h]²]`` with ``z = y + noise`` and ``γ = β/(β + 1)``."""
    risk = ((y + noise - h) ** 2).sum(dim=1).mean()
    return risk + beta / (beta + 1) * published_penalty(y, v, noise)


def published_penalty(y: Tensor, v: Tensor, noise: Tensor) -> Tensor:
    """Return the estimate of ``Σ_j E[E[z_j | h]²]`` by a Gaussian copula of z and h (eq. 13).

    Normal scores ``v`` of h carry every gradient there is. The paper's are of ranks
    (`ranked_scores`), which are constant between ties: then the penalty has no gradient at all, and
    its objective trains as the squared risk alone. The sum inside the square is divided by the
    number of rows, which eq. 13 leaves out, and ranks by one more than that.
    """
    n, k = v.shape
    z, none = y + noise, 1 - y.mean(dim=0)
    level = torch.where(y > 0, none + (1 - none) * (noise + 0.5), none * (noise + 0.5))
    q = torch.special.ndtri(level.clamp(0.5 / n, 1 - 0.5 / n))
    scaled = q - q.mean(dim=0)
    scaled = scaled / scaled.std(dim=0, correction=0).clamp_min(1e-4)
    amount = min(1.0, k / (n + k) + _RIDGE)
    eye = torch.eye(k, dtype=v.dtype, device=v.device)
    corr = (v.T @ v / n) * (1 - amount) + eye * amount
    r = scaled.T @ v / n * (1 - amount)
    weight = torch.linalg.solve(corr, r.T).T
    spread = (1 - (weight * r).sum(dim=1)).clamp_min(0.02).sqrt()
    centre = v @ weight.T
    # c/c_h: the density of q_ij given the scores of row l, over its density without them.
    off = (q[None, :, :] - centre[:, None, :]) / spread
    ratio = torch.exp((q[None, :, :] ** 2 - off**2) / 2) / spread
    found: Tensor = ((z[None, :, :] * ratio).mean(dim=1) ** 2).sum(dim=1).mean()
    return found
