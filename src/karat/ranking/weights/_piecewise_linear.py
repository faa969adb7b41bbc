"""A weight drawn as a line between knots, with jumps where a knot is named twice."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_scores
from karat.exceptions import DataError
from karat.ranking.weights._weight import Weight, gauss_rule

__all__ = ["PiecewiseLinear"]


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class PiecewiseLinear(Weight):
    """A weight that is linear between knots, and 0 outside them.

    Parameters
    ----------
    fpr : column (knots,)
        False-positive rates in ascending order; one that is named twice is a jump.
    values : column (knots,)
        The weight at each knot, at least 0.

    Examples
    --------
    Full weight up to a false-positive rate of 5 %, then less, none from 10 % on:

    >>> weight = PiecewiseLinear([0, 0.05, 0.1], [1, 1, 0])
    >>> weight([0.0, 0.075, 0.5]).round(4).tolist()
    [1.0, 0.5, 0.0]
    >>> round(weight.area, 4), round(weight.lipschitz, 4)
    (0.075, 20.0)
    """

    fpr: FloatArray
    values: FloatArray
    _rule: ClassVar[tuple[FloatArray, FloatArray]] = gauss_rule(2)  # K is a parabola

    def __init__(self, fpr: Any, values: Any) -> None:
        knots, heights = check_scores(fpr, "fpr"), check_scores(values, "values")
        if len(knots) != len(heights) or len(knots) < 2:
            raise DataError(
                f"fpr has {len(knots)} knots and values has {len(heights)}; expected as many "
                "values as knots, and at least two"
            )
        if (np.diff(knots) < 0).any() or knots[0] < 0 or knots[-1] > 1 or knots[0] == knots[-1]:
            raise DataError(
                f"fpr is {knots.tolist()}; expected false-positive rates between 0 and 1 in "
                "ascending order, not all equal"
            )
        if (heights < 0).any() or not np.any((heights[1:] + heights[:-1]) * np.diff(knots)):
            raise DataError(
                f"values is {heights.tolist()}; expected weights of at least 0, and some above 0 "
                "between two knots"
            )
        object.__setattr__(self, "fpr", knots)
        object.__setattr__(self, "values", heights)
        Weight.__post_init__(self)

    @property
    def _knots(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Knots and weights in ascending v, and K at the knots."""
        v, w = 1.0 - self.fpr[::-1], self.values[::-1]
        steps = np.diff(v) * (w[1:] + w[:-1]) / 2
        return v, w, np.concatenate([[0.0], np.cumsum(steps)])

    def _located(self, x: FloatArray) -> tuple[FloatArray, ...]:
        """Return how far x is into its piece, and start, slope and K of that piece."""
        v, w, k = self._knots
        piece = np.clip(np.searchsorted(v, x, side="right") - 1, 0, len(v) - 2)
        width = np.diff(v)
        slope = np.divide(np.diff(w), width, out=np.zeros_like(width), where=width > 0)
        return np.clip(x, v[0], v[-1]) - v[piece], w[piece], slope[piece], k[piece]

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        x = np.asarray(v, dtype=float)
        into, start, slope, _ = self._located(x)
        knots = self._knots[0]
        return np.where((x < knots[0]) | (x > knots[-1]), 0.0, start + slope * into)

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v) = ∫₀ᵛ W``."""
        into, start, slope, k = self._located(np.asarray(v, dtype=float))
        return np.asarray(k + into * (start + slope * into / 2))

    def _pieces(self) -> list[tuple[float, float]]:
        ends = np.unique([0.0, 1.0, *self._knots[0].tolist()]).tolist()
        return list(pairwise(ends))

    @property
    def _closed(self) -> FloatArray:
        """The weights from u = 0 to 1, with 0 outside the knots."""
        before = [0.0] if self.fpr[0] > 0 else []
        after = [0.0] if self.fpr[-1] < 1 else []
        return np.array([*before, *self.values.tolist(), *after])

    @property
    def area(self) -> float:
        """``‖W‖₁``."""
        return float(self._knots[2][-1])

    @property
    def sup(self) -> float:
        """``‖W‖_∞``."""
        return float(self.values.max())

    @property
    def variation(self) -> float:
        """Total variation."""
        return float(np.abs(np.diff(self._closed)).sum())

    @property
    def lipschitz(self) -> float:
        """``‖W‖_Lip``."""
        width, rise = np.diff(self.fpr), np.abs(np.diff(self.values))
        jumps = rise[width == 0].any()
        ends = (self.fpr[0] > 0 and self.values[0] > 0) or (
            self.fpr[-1] < 1 and self.values[-1] > 0
        )
        if jumps or ends:
            return float("inf")
        return float((rise[width > 0] / width[width > 0]).max())

    @property
    def title(self) -> str:
        """What the area is called."""
        return "weighted AUC"
