"""Areas of the rows seen, and the least and the greatest inside bands, summed over positives."""

from collections.abc import Iterator

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.ranking.areas._bands import Band
from karat.ranking.placements import Placements
from karat.ranking.weights import Weight

__all__ = [
    "area",
    "area_and_limits",
    "band_limits",
    "enclosure",
    "limits_in_bands",
    "strict_area",
]

# Every area is summed over blocks of so many positives, whose temporaries stay in the processor's
# cache.
_BLOCK = 1 << 15


def area(placed: Placements, weight: Weight, *, block: int = _BLOCK) -> float:
    """Return ``Ã_W = ∫ K̄(F₀(x−), F₀(x)) dF₁(x)``, the area under the interpolated curve."""
    return _means(placed, weight, [(0.0, 0.0, 1.0)], block)[0]


def band_limits(placed: Placements, weight: Weight, e0: float, e1: float) -> tuple[float, float]:
    """Return the least and the greatest area while F₀ and F₁ stay within e0 and e1.

    The area grows with F₀ and falls with F₁, so each limit is the area of one corner: the lower
    takes e0 from every placement and leaves the top e1 of the positives out.
    """
    return area_and_limits(placed, weight, e0, e1)[1:]


def area_and_limits(
    placed: Placements, weight: Weight, e0: float, e1: float, *, block: int = _BLOCK
) -> tuple[float, float, float]:
    """Return the area and its limits in one pass over the positives."""
    e0, e1 = min(e0, 1.0), min(e1, 1.0)
    corners = [(0.0, 0.0, 1.0), (-e0, 0.0, 1.0 - e1), (e0, e1, 1.0)]
    value, lower, upper = _means(placed, weight, corners, block)
    return value, lower, upper + e1 * weight.area


def limits_in_bands(
    placed: Placements, weight: Weight, zero: Band, one: Band, *, block: int = _BLOCK
) -> tuple[float, float]:
    """Return the least and the greatest area while F₀ and F₁ stay inside bands of any shape."""
    lower = upper = 0.0
    for where in _blocks(placed, block):
        below, upto, share = placed.below(where), placed.upto(where), placed.cumulative_mass(where)
        least = weight.mean_cumulative(zero.low(below), zero.low(upto))
        most = weight.mean_cumulative(zero.high(below), zero.high(upto))
        lower += float(least @ np.diff(one.high(share)))
        upper += float(most @ np.diff(one.low(share)))
    above = 1.0 - float(one.low(np.array(1.0)))  # positives that may be above all that were seen
    return lower, upper + above * weight.area


def _blocks(placed: Placements, block: int) -> Iterator[slice]:
    for start in range(0, len(placed), block):
        yield slice(start, min(start + block, len(placed)))


def _means(
    placed: Placements, weight: Weight, corners: list[tuple[float, float, float]], block: int
) -> list[float]:
    """Return ``∫ K̄`` for each corner (shift of F₀, low, high).

    The integral is over the positives between the quantiles ``low`` and ``high``.
    """
    totals = [0.0] * len(corners)
    has_ties = not np.array_equal(placed.left, placed.right)
    for where in _blocks(placed, block):
        upto = placed.upto(where)
        tied = placed.right[where] > placed.left[where] if has_ties else None
        for i, (shift, low, high) in enumerate(corners):
            if tied is None or not tied.any():
                value = weight.cumulative(_shifted(upto, shift))
            else:
                below = _shifted(placed.below(where), shift)
                value = _averaged(weight, below, _shifted(upto, shift), tied)
            totals[i] += _weighed(placed, where, value, low, high)
    return totals


def _shifted(rate: FloatArray, shift: float) -> FloatArray:
    """Return rates moved up or down, not beyond 0 and 1."""
    if not shift:
        return rate
    moved = rate + shift
    return np.minimum(moved, 1.0, out=moved) if shift > 0 else np.maximum(moved, 0.0, out=moved)


def _averaged(weight: Weight, below: FloatArray, upto: FloatArray, tied: BoolArray) -> FloatArray:
    """Return K̄, which is K for positives that tie with no negative."""
    if tied.all():
        return weight.mean_cumulative(below, upto)
    value = np.array(weight.cumulative(upto))
    value[tied] = weight.mean_cumulative(below[tied], upto[tied])
    return value


def _weighed(placed: Placements, where: slice, value: FloatArray, low: float, high: float) -> float:
    """Return the sum of a block's values, each times its mass between two quantiles."""
    n = len(placed)
    if placed.mass is None and where.start >= low * n and where.stop <= high * n:
        return float(value.sum()) / n
    if placed.mass is not None and low <= 0 and high >= 1:
        return float(value @ placed.mass[where])
    return float(value @ np.diff(np.clip(placed.cumulative_mass(where), low, high)))


def enclosure(placed: Placements, weight: Weight, *, block: int = _BLOCK) -> tuple[float, float]:
    """Return the least and the greatest area of any order within the groups of tied scores."""
    low = high = 0.0
    for where in _blocks(placed, block):
        share = np.diff(placed.cumulative_mass(where))
        low += float(weight.cumulative(placed.below(where)) @ share)
        high += float(weight.cumulative(placed.upto(where)) @ share)
    return low, high


def strict_area(placed: Placements, weight: Weight, *, block: int = _BLOCK) -> float:
    """Return eq. 1 of Maurer & Pontil (2020).

    A tie between a positive and a negative earns nothing, and W is taken at the end of a group of
    tied negatives.
    """
    ends = placed.tie_ends()
    width = np.diff(placed.share) if placed.share is not None else 1.0 / placed.n_steps
    gained = np.concatenate([[0.0], np.cumsum(weight.density(ends) * width)])
    total = 0.0
    for where in _blocks(placed, block):
        total += float(gained[placed.left[where]] @ np.diff(placed.cumulative_mass(where)))
    return total
