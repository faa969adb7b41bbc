"""Whether one side of a question is better whatever anyone wants."""

import numpy as np

from karat._typing import BoolArray, FloatArray

__all__ = ["better_side", "neither_dominates", "worst_rates", "wrong_shares"]

# Differences that are no more than rounding.
_ROUNDING = 1e-9


def neither_dominates(first: FloatArray, second: FloatArray) -> BoolArray:
    """Whether each row (n, d) of what is good has more of something on both sides."""
    gain = first - second
    return np.asarray((gain > _ROUNDING).any(axis=1) & (gain < -_ROUNDING).any(axis=1))


def better_side(first: FloatArray, second: FloatArray) -> str | None:
    """Return the side that is right at least as often about every class, in every group.

    None if neither side of the confusions (k, k) or (groups, k, k) is, or both are.
    """
    gain = np.diagonal(first - second, axis1=-2, axis2=-1)
    if (gain >= -_ROUNDING).all() and (gain > _ROUNDING).any():
        return "first"
    if (gain <= _ROUNDING).all() and (gain < -_ROUNDING).any():
        return "second"
    return None


def worst_rates(confusions: FloatArray) -> FloatArray:
    """Return the greatest share of a true class, in a group, that each of (n, …, k, k) gets wrong.

    A class that does not occur is none.
    """
    return np.asarray(wrong_shares(confusions).reshape(len(confusions), -1).max(axis=1))


def wrong_shares(confusions: FloatArray) -> FloatArray:
    """Return the share of each class (..., k) that is wrong; 0 of a class that does not occur."""
    rows = confusions.sum(axis=-1)
    right = np.diagonal(confusions, axis1=-2, axis2=-1)
    return np.asarray(1.0 - np.divide(right, rows, out=np.ones_like(rows), where=rows > 0))
