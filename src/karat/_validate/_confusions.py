"""Confusions: one k×k table of joint probabilities, or a stack of them."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate._columns import shown
from karat.exceptions import ProbabilityError, ShapeError

__all__ = ["check_confusions"]

# Loose enough for a finite difference, tight enough to notice counts and percentages.
_TOLERANCE = 1e-3


def check_confusions(confusion: Any) -> tuple[FloatArray, bool]:
    """Return a stack (b, k, k) of confusions that each sum to 1, and whether one was passed.

    A stack may hold one confusion per group that together sum to 1 (joint probabilities of
    group, truth and prediction) or separate confusions that each sum to 1; both come out as
    the latter. An empty group comes out as NaN.
    """
    try:
        table = np.asarray(confusion, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(
            f"the confusion is {shown(confusion)}; expected k×k joint probabilities"
        ) from error
    if table.ndim not in (2, 3) or table.shape[-1] != table.shape[-2] or table.shape[-1] < 2:
        raise ShapeError(
            f"the confusion has shape {table.shape}; expected k×k, or groups×k×k, with k at "
            "least 2 (rows are the truth, columns the prediction)"
        )
    if table.size == 0:
        raise ShapeError("the stack holds no confusion; pass at least one")
    if not np.isfinite(table).all():
        raise ProbabilityError(
            "the confusion holds a value that is not a finite number; expected joint probabilities"
        )
    if table.min() < -_TOLERANCE:
        raise ProbabilityError(
            f"the confusion holds {table.min():.6g}; expected joint probabilities of at least 0"
        )
    stack = table[None] if table.ndim == 2 else table
    sums = stack.sum(axis=(1, 2))
    if np.abs(sums - 1.0).max() <= _TOLERANCE:
        return stack, table.ndim == 2
    if table.ndim == 2 or abs(sums.sum() - 1.0) > _TOLERANCE:
        raise ProbabilityError(
            f"the confusion sums to {sums.sum():.6g}; expected joint probabilities that sum to 1. "
            "If these are counts, divide them by their sum"
        )
    with np.errstate(invalid="ignore"):
        return stack / np.where(sums > 0, sums, np.nan)[:, None, None], False
