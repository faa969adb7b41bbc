"""Areas under the ROC curve and their limits, from placements."""

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.ranking._bands import Band
from karat.ranking._placements import Placements
from karat.ranking._two_way_band import TwoWayBand
from karat.ranking._weight import Weight

__all__ = [
    "area",
    "area_and_limits",
    "band_limits",
    "box_area",
    "curve",
    "curves_in_bands",
    "enclosure",
    "limits_in_bands",
    "strict_area",
]

_BLOCK = 1 << 15  # positives at a time: what stays in the cache of a processor


def area(placed: Placements, weight: Weight) -> float:
    """Return ``Ã_W = ∫ K̄(F₀(x−), F₀(x)) dF₁(x)``, the area under the interpolated curve."""
    return _means(placed, weight, [(0.0, 0.0, 1.0)])[0]


def band_limits(placed: Placements, weight: Weight, e0: float, e1: float) -> tuple[float, float]:
    """Return the least and the greatest area while F₀ and F₁ stay within e0 and e1.

    The area grows with F₀ and falls with F₁, so each limit is the area of one corner: the lower
    takes e0 from every placement and leaves the top e1 of the positives out.
    """
    return area_and_limits(placed, weight, e0, e1)[1:]


def area_and_limits(
    placed: Placements, weight: Weight, e0: float, e1: float
) -> tuple[float, float, float]:
    """Return the area and its limits in one pass over the positives."""
    e0, e1 = min(e0, 1.0), min(e1, 1.0)
    corners = [(0.0, 0.0, 1.0), (-e0, 0.0, 1.0 - e1), (e0, e1, 1.0)]
    value, lower, upper = _means(placed, weight, corners)
    return value, lower, upper + e1 * weight.area


def limits_in_bands(
    placed: Placements, weight: Weight, zero: Band, one: Band
) -> tuple[float, float]:
    """Return the least and the greatest area while F₀ and F₁ stay inside bands of any shape."""
    lower = upper = 0.0
    for start in range(0, len(placed), _BLOCK):
        where = slice(start, min(start + _BLOCK, len(placed)))
        below, upto, share = placed.below(where), placed.upto(where), placed.cumulative_mass(where)
        least = weight.mean_cumulative(zero.low(below), zero.low(upto))
        most = weight.mean_cumulative(zero.high(below), zero.high(upto))
        lower += float(least @ np.diff(one.high(share)))
        upper += float(most @ np.diff(one.low(share)))
    above = 1.0 - float(one.low(np.array(1.0)))  # positives that may be above all that were seen
    return lower, upper + above * weight.area


def curves_in_bands(
    fpr: FloatArray, tpr: FloatArray, zero: Band, one: Band
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return the corners of the lowest and of the highest curve inside the bands."""
    lowest = 1.0 - zero.low(1.0 - fpr), 1.0 - one.high(1.0 - tpr)
    highest = 1.0 - zero.high(1.0 - fpr), 1.0 - one.low(1.0 - tpr)
    return (
        (np.concatenate([[0.0], lowest[0]]), np.concatenate([lowest[1][:1], lowest[1]])),
        (np.concatenate([highest[0], highest[0][-1:], [1.0]]),
         np.concatenate([highest[1], [1.0, 1.0]])),
    )  # fmt: skip


def _means(
    placed: Placements, weight: Weight, corners: list[tuple[float, float, float]]
) -> list[float]:
    """Return ``∫ K̄`` over the positives between two quantiles, with F₀ shifted, for each corner."""
    totals = [0.0] * len(corners)
    level = not np.array_equal(placed.left, placed.right)
    for start in range(0, len(placed), _BLOCK):
        where = slice(start, min(start + _BLOCK, len(placed)))
        upto = placed.upto(where)
        tied = placed.right[where] > placed.left[where] if level else None
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
    """Return K̄, which is K where nothing is level."""
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


def enclosure(placed: Placements, weight: Weight) -> tuple[float, float]:
    """Return the least and the greatest area of any order within the groups of level scores."""
    low = high = 0.0
    for start in range(0, len(placed), _BLOCK):
        where = slice(start, start + _BLOCK)
        share = np.diff(placed.cumulative_mass(where))
        low += float(weight.cumulative(placed.below(where)) @ share)
        high += float(weight.cumulative(placed.upto(where)) @ share)
    return low, high


def strict_area(placed: Placements, weight: Weight) -> float:
    """Return eq. 1 of seed 003: ties earn nothing, and W is taken at the end of a tie group."""
    ends = placed.tie_ends()
    width = np.diff(placed.share) if placed.share is not None else 1.0 / placed.n_steps
    gained = np.concatenate([[0.0], np.cumsum(weight.density(ends) * width)])
    total = 0.0
    for start in range(0, len(placed), _BLOCK):
        where = slice(start, start + _BLOCK)
        total += float(gained[placed.left[where]] @ np.diff(placed.cumulative_mass(where)))
    return total


def curve(placed: Placements, at: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the interpolated ROC curve, from (0, 0) to (1, 1).

    ``at`` names some of the positives, in ascending order, whose corners are enough.
    """
    left, right = (side if at is None else side[at] for side in (placed.left, placed.right))
    # Positives that are level with one another make one straight line, all of them together.
    new = np.concatenate([[True], (np.diff(left) > 0) | (np.diff(right) > 0)])
    left, right = left[new], right[new]
    first = np.maximum(_before(placed.left, left), _before(placed.right, right))
    last = np.minimum(_through(placed.left, left), _through(placed.right, right))
    missed = _missed(placed, np.column_stack([first, last]).ravel())
    high, low = placed._share_at(right), placed._share_at(left)
    fpr = 1.0 - np.column_stack([low, high]).ravel()[::-1]
    tpr = 1.0 - missed[::-1]
    return np.concatenate([[0.0], fpr, [1.0]]), np.concatenate([[0.0], tpr, [1.0]])


def _missed(placed: Placements, at: IntArray) -> FloatArray:
    """Return the share of the positives before each place."""
    if placed.mass is None:
        return np.asarray(at / len(placed))
    return placed.cumulative_mass(slice(0, len(placed)))[at]


def _before(steps: IntArray, at: IntArray) -> IntArray:
    return np.searchsorted(steps, at, side="left")


def _through(steps: IntArray, at: IntArray) -> IntArray:
    return np.searchsorted(steps, at, side="right")


def box_area(fpr: FloatArray, tpr: FloatArray, box: TwoWayBand) -> float:
    """Return the area under a curve of straight lines inside a box."""
    low, high = box.fpr.low, box.fpr.high
    rise, run = np.diff(tpr), np.diff(fpr)
    slope = np.divide(rise, run, out=np.zeros_like(rise), where=run > 0)
    start, end = np.clip(fpr[:-1], low, high), np.clip(fpr[1:], low, high)
    first = tpr[:-1] + slope * (start - fpr[:-1])
    last = tpr[:-1] + slope * (end - fpr[:-1])
    return float(((end - start) * _mean_clipped(first, last, box.tpr.low, box.tpr.high)).sum())


def _mean_clipped(first: FloatArray, last: FloatArray, low: float, high: float) -> FloatArray:
    """Return the mean of ``clip(t, low, high) − low`` for t from first to last."""
    middle = np.clip((first + last) / 2, low, high) - low
    crosses = ((first < low) & (last > low)) | ((first < high) & (last > high))

    def total(t: FloatArray) -> FloatArray:
        inside = np.clip(t, low, high) - low
        return inside**2 / 2 + (high - low) * np.maximum(t - high, 0.0)

    first, last = first[crosses], last[crosses]
    middle[crosses] = (total(last) - total(first)) / (last - first)
    return middle
