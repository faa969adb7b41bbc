"""The weight of the partial AUC."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_number, refuse_option
from karat.ranking.weights._piecewise_linear import PiecewiseLinear
from karat.ranking.weights._rate_band import RateBand
from karat.ranking.weights._weight import Weight, gauss_rule

__all__ = ["FprBand", "Sandwich"]


class Sandwich(NamedTuple):
    """Two weights without jumps: one below a step and one above it."""

    below: Weight
    above: Weight


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FprBand(RateBand, Weight):
    """Weight 1 at false-positive rates between ``low`` and ``high``: the partial AUC.

    ``FprBand(0, 0.1) & TprBand(0.8, 1)`` is the two-way partial AUC.

    Parameters
    ----------
    low, high : float
        The band, ``0 ≤ low < high ≤ 1``.

    Examples
    --------
    >>> band = FprBand(0, 0.1)
    >>> band.area, round(band.chance, 4)
    (0.1, 0.005)
    """

    _rule: ClassVar[tuple[FloatArray, FloatArray]] = gauss_rule(1)  # K is straight

    @property
    def sup(self) -> float:
        """``‖W‖_∞``."""
        return 1.0

    @property
    def lipschitz(self) -> float:
        """``‖W‖_Lip``; infinite unless the band is everything."""
        return 0.0 if self.variation == 0 else float("inf")

    @property
    def variation(self) -> float:
        """Total variation: 1 for each end inside [0, 1]."""
        return float((self.low > 0) + (self.high < 1))

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        x = np.asarray(v, dtype=float)
        return ((x >= 1.0 - self.high) & (x <= 1.0 - self.low)).astype(float)

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v)``."""
        return np.clip(np.asarray(v, dtype=float) - (1.0 - self.high), 0.0, self.area)

    def _pieces(self) -> list[tuple[float, float]]:
        ends = sorted({0.0, 1.0 - self.high, 1.0 - self.low, 1.0})
        return list(pairwise(ends))

    def sandwich(self, width: float = 0.02) -> Sandwich:
        """Return two weights without jumps, one below the band and one above it.

        Each end of the band inside (0, 1) becomes a ramp. The area of ``below`` is at most that of
        the band, and the area of ``above`` at least (Maurer & Pontil 2020, remark 2
        to Theorem 2).

        Parameters
        ----------
        width : float, default 0.02
            Width of the ramps; where there is less room, they are narrower.
        """
        width = check_number(width, "width", at_least=0.0)
        if width == 0:
            refuse_option(width, "width", "a number above 0: a weight without jumps needs ramps")
        sides = (self.low > 0) + (self.high < 1)
        inner = min(width, self.area / sides) if sides else width
        return Sandwich(self._ramped(inner, inside=True), self._ramped(width, inside=False))

    def _ramped(self, width: float, *, inside: bool) -> PiecewiseLinear:
        knots: list[tuple[float, float]] = []
        if self.low > 0:
            foot = self.low if inside else max(self.low - width, 0.0)
            top = self.low + width if inside else self.low
            knots += [(foot, 0.0 if foot > 0 else 1 - (top - foot) / width), (top, 1.0)]
        else:
            knots.append((0.0, 1.0))
        if self.high < 1:
            top = self.high - width if inside else self.high
            foot = self.high if inside else min(self.high + width, 1.0)
            knots += [(top, 1.0), (foot, 0.0 if foot < 1 else 1 - (foot - top) / width)]
        else:
            knots.append((1.0, 1.0))
        fpr, values = zip(*knots, strict=True)
        return PiecewiseLinear(np.maximum.accumulate(fpr), values)

    @property
    def title(self) -> str:
        """What the area is called."""
        return f"partial AUC (FPR {self.low:g}–{self.high:g})"
