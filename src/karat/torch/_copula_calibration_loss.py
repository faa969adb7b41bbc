"""The canonical calibration error as a loss of PyTorch."""

import torch
from torch import Tensor, nn

from karat._validate import check_count, check_flag, check_number, refuse_option
from karat.exceptions import (
    DataError,
    LabelError,
    LengthMismatchError,
    ProbabilityError,
    ShapeError,
)
from karat.torch.copula import (
    FOLDS,
    conditional_means,
    held_out_means,
    normal_scores,
    ranked_scores,
)

__all__ = ["CopulaCalibrationLoss"]

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
            raise DataError(f"{name} is a {type(value).__name__}; expected a tensor")
    if prob.ndim != 2:
        raise ShapeError(f"prob has shape {tuple(prob.shape)}; expected (rows, labels)")
    if prob.shape != target.shape:
        raise LengthMismatchError(
            f"prob has shape {tuple(prob.shape)} and target {tuple(target.shape)}; expected one "
            "target for each probability"
        )
    low, high = _range(prob)
    if not (low >= 0 and high <= 1):
        raise ProbabilityError(
            f"prob is between {low:g} and {high:g}; expected probabilities. Apply torch.sigmoid"
        )
    low, high = _range(target)
    if not (low >= 0 and high <= 1):
        raise LabelError(f"target is between {low:g} and {high:g}; expected 0 or 1")


def _range(values: Tensor) -> tuple[float, float]:
    if not values.numel():
        return 0.0, 1.0
    low, high = torch.aminmax(values.detach())
    return float(low), float(high)
