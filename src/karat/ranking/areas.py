"""Areas under the ROC curve from placements: as seen, at their worst inside bands, and by row.

`area`, `strict_area` and `enclosure` are areas of the rows seen, under the rules of ties; `curve`
and `box_area` draw the curve and measure inside a box. A `Band` limits a distribution function
where a share of the rows is at or below a score; the area grows with F₀ and falls with F₁, so the
worst cases inside two bands are areas again (`area_and_limits`, `limits_in_bands`,
`curves_in_bands`). `influence` says what each row adds to an area, and
`row_influence` what it would add under either label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat.ranking.bands import Band
from karat.ranking.placements import Placements, place_counts
from karat.ranking.weights import FprBand, TwoWayBand, Weight
from karat.statistics import JointRocCounts, RocCounts

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


# --- The ROC curve as straight lines between corners: as seen, inside bands, and inside a box.


def curve(placed: Placements, at: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the interpolated ROC curve, from (0, 0) to (1, 1).

    ``at`` names some of the positives, in ascending order, whose corners are enough.
    """
    left, right = (side if at is None else side[at] for side in (placed.left, placed.right))
    # Tied positives make one straight line together.
    new = np.concatenate([[True], (np.diff(left) > 0) | (np.diff(right) > 0)])
    left, right = left[new], right[new]
    first = np.maximum(_before(placed.left, left), _before(placed.right, right))
    last = np.minimum(_through(placed.left, left), _through(placed.right, right))
    missed = _missed(placed, np.column_stack([first, last]).ravel())
    high, low = placed.share_at(right), placed.share_at(left)
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


def band_inside(fpr: FloatArray, tpr: FloatArray, box: TwoWayBand) -> FprBand | None:
    """Return the false-positive rates at which the curve is inside a box; None if it never is.

    Where the curve enters the box its height above the floor is 0, and above the ceiling that
    height does not change: to first order the error of the two-way area is that of the partial
    area between these two rates.
    """
    low = max(_first_rate(fpr, tpr, box.tpr.low), box.fpr.low)
    high = min(_first_rate(fpr, tpr, box.tpr.high), box.fpr.high)
    return FprBand(low, high) if low < high else None


def _first_rate(fpr: FloatArray, tpr: FloatArray, height: float) -> float:
    """Return the false-positive rate at which the curve reaches a height."""
    at = int(np.searchsorted(tpr, height))
    if at == 0 or tpr[at] == tpr[at - 1]:
        return float(fpr[at])
    part = (height - tpr[at - 1]) / (tpr[at] - tpr[at - 1])
    return float(fpr[at - 1] + part * (fpr[at] - fpr[at - 1]))


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


def curves_in_bands(
    fpr: FloatArray, tpr: FloatArray, zero: Band, one: Band
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return the corners of the lowest and of the highest curve inside the bands."""
    lowest = 1.0 - zero.low(1.0 - fpr), 1.0 - one.high(1.0 - tpr)
    highest = 1.0 - zero.high(1.0 - fpr), 1.0 - one.low(1.0 - tpr)
    return (
        (np.concatenate([[0.0], lowest[0]]), np.concatenate([lowest[1][:1], lowest[1]])),
        (
            np.concatenate([highest[0], highest[0][-1:], [1.0]]),
            np.concatenate([highest[1], [1.0, 1.0]]),
        ),
    )


# --- The error of a difference of two areas, from counts of each score and of both in cells.


class _Side(NamedTuple):
    """One score within one class: cell means by cell, and the sum of squares within cells."""

    total: float  # Σ ψ², ψ with mean 0
    means: FloatArray
    within: float


def paired_errors(
    first: RocCounts, second: RocCounts, joint: JointRocCounts, weight: Weight
) -> tuple[float, float]:
    """Return the least and the greatest standard error of the difference that the counts allow.

    With the influence ψ of each row on either area, the variance needs Σ ψₐψ_b. Write ψ = m + d, m
    its mean in the cell. Σ mₐm_b is known from the joint counts, and the Cauchy–Schwarz inequality
    limits the rest: d of one score is orthogonal to all functions of its own cells, so it meets
    only what these leave of the other's m.
    """
    edges = joint.first_edges, joint.second_edges
    sides = [_sides(score, at, weight) for score, at in zip((first, second), edges, strict=True)]
    low = high = 0.0
    for c in (0, 1):
        a, b, counts = sides[0][c], sides[1][c], joint.counts[c].astype(np.float64)
        n = counts.sum()
        if n <= 1:
            return math.inf, math.inf
        cross = float(a.means @ counts @ b.means)
        slack = (
            math.sqrt(a.within * _left(counts, b.means))
            + math.sqrt(b.within * _left(counts.T, a.means))
            + math.sqrt(a.within * b.within)
        )
        known = a.total + b.total - 2 * cross
        low += max(known - 2 * slack, 0.0) / (n * (n - 1))
        high += max(known + 2 * slack, 0.0) / (n * (n - 1))
    return math.sqrt(low), math.sqrt(high)


def _left(counts: FloatArray, means: FloatArray) -> float:
    """Return Σ of squares of the column means that the rows' own means of them do not explain."""
    rows = counts.sum(axis=1)
    own = counts @ means / np.maximum(rows, 1.0)
    return max(float(counts.sum(axis=0) @ means**2 - rows @ own**2), 0.0)


def _sides(score: RocCounts, edges: AnyArray, weight: Weight) -> list[_Side]:
    """Return the influence of negatives and positives, by cells of the score."""
    ones, zeros = (np.asarray(c, dtype=np.float64) for c in (score.positives, score.negatives))
    of_ones, of_zeros = influence(place_counts(ones, zeros), weight)
    spread = np.zeros(len(ones))
    spread[ones > 0] = of_ones
    cell = np.searchsorted(edges, score.scores, side="right")
    found = []
    for counts, values in ((zeros, of_zeros), (ones, spread)):
        psi = values - counts @ values / counts.sum()
        size = np.bincount(cell, counts, len(edges) + 1)
        sums = np.bincount(cell, counts * psi, len(edges) + 1)
        means = sums / np.maximum(size, 1.0)
        total = float(counts @ psi**2)
        found.append(_Side(total, means, max(total - float(size @ means**2), 0.0)))
    return found


# --- What each row adds to an area: the influence function behind DeLong's variance.

_CHUNK = 1 << 18  # positives at a time, so that what is in between stays small


def influence(placed: Placements, weight: Weight) -> tuple[FloatArray, FloatArray]:
    """Return the influence of each positive and of each step of negatives, up to a constant.

    A positive counts with its placement value ``K̄(F₀(x−), F₀(x))``. A negative y moves the
    placement of every positive above it (both ends) and tied with it (the upper end), so it counts
    with ``E[∂ₐK̄·1{y < X} + ∂_bK̄·1{y ≤ X}]``; for ``W ≡ 1`` these are DeLong's components.
    """
    values, moved = np.empty(len(placed)), np.zeros(placed.n_steps + 1)
    for first in range(0, len(placed), _CHUNK):
        some = slice(first, min(first + _CHUNK, len(placed)))
        a, b = placed.below(some), placed.upto(some)
        values[some] = value = weight.mean_cumulative(a, b)
        low, high = _slopes(weight, a, b, value)
        mass = 1.0 / len(placed) if placed.mass is None else placed.mass[some]
        for steps, by in ((placed.left[some], low), (placed.right[some], high)):
            least = int(steps.min())  # positives ascend, so a chunk moves a stretch of steps
            part = np.bincount(steps - least, by * mass)
            moved[least : least + len(part)] += part
    total = moved.sum()
    np.cumsum(moved, out=moved)
    np.subtract(total, moved, out=moved)
    return values, moved[:-1]


def _slopes(
    weight: Weight, a: FloatArray, b: FloatArray, value: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return ``∂ₐK̄`` and ``∂_bK̄``, of which either is ``W/2`` where a = b."""
    high = weight.density(b) / 2
    low = high.copy()
    width = b - a
    tied = width > 0
    width, inner = width[tied], value[tied]
    low[tied] = (inner - weight.cumulative(a[tied])) / width
    high[tied] = (weight.cumulative(b[tied]) - inner) / width
    return low, high


class RowInfluence(NamedTuple):
    """What each row adds to an area, up to a constant, as a positive and as a negative.

    Attributes
    ----------
    value : float
        The area.
    one, zero : array (n,)
        The influence of each row if it were a positive, and if it were a negative.
    one_counts, zero_counts : array (n,)
        Whether it adds anything there: a positive below all false-positive rates that have a
        weight does not, nor does such a negative.
    """

    value: float
    one: FloatArray
    zero: FloatArray
    one_counts: BoolArray
    zero_counts: BoolArray


def row_influence(
    positive: BoolArray, score: FloatArray, mass: FloatArray | None, weight: Weight
) -> RowInfluence:
    """Return the influence of every row under either label; ``mass`` are the weights of rows.

    It is that of `influence` where the label is the row's own. Two sorted searches for every row:
    the time is that of sorting.
    """
    order = np.argsort(score)
    s, own = score[order], positive[order]
    share = np.ones(len(s)) if mass is None else mass[order]
    upto = np.concatenate([[0.0], np.cumsum(share[~own])])
    upto /= upto[-1]
    below, through = (np.searchsorted(s[~own], s, side=side) for side in ("left", "right"))
    a, b = upto[below], upto[through]
    one = np.asarray(weight.mean_cumulative(a, b), dtype=float)
    part = share[own] / share[own].sum()
    low, high = (
        np.concatenate([np.cumsum((slope * part)[::-1])[::-1], [0.0]])
        for slope in _slopes(weight, a[own], b[own], one[own])
    )
    before, after = (np.searchsorted(s[own], s, side=side) for side in ("left", "right"))
    zero = low[after] + high[before]
    back = np.empty(len(s), dtype=np.intp)
    back[order] = np.arange(len(s))
    return RowInfluence(
        float(part @ one[own]),
        one[back],
        zero[back],
        one[back] > 0.0,
        zero[back] < low[0] + high[0],
    )


def variance(placed: Placements, weight: Weight) -> float:
    """Return the variance of an area: that of the positives' influence, and of the negatives'."""
    ones, zeros = influence(placed, weight)
    share = None if placed.share is None else np.diff(placed.share)
    total = 0.0
    for values, shares, n in (
        (ones, placed.mass, placed.n_positive),
        (zeros, share, placed.n_negative),
    ):
        centred = values - np.average(values, weights=shares)
        total += float(np.average(centred**2, weights=shares)) / (n - 1) if n > 1 else np.inf
    return total


# --- The value of an area under a rule of ties, and the form of its limits.


@dataclass(frozen=True, slots=True)
class AreaLimits:
    """Limits of an area; ``note`` says what to do where they are too wide to be of use."""

    lower: float
    upper: float
    standard_error: float | None = None
    note: str = ""
    value: float | None = None  # of the area, where it comes with the limits


def value_of(placed: Placements, weight: Weight | TwoWayBand, ties: str) -> float:
    """Return the area by a rule of ties."""
    if isinstance(weight, TwoWayBand):
        return box_area(*curve(placed), weight)
    return strict_area(placed, weight) if ties == "strict" else area(placed, weight)


def all_of_the_curve(weight: object) -> bool:
    """Return whether a weight is 1 at all rates, so that its area is the AUC."""
    return isinstance(weight, Weight) and weight.area == weight.sup == 1.0 and not weight.variation
