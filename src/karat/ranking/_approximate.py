"""Approximate limits of areas: of one, by a beta law; of a difference; and by resampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat._validate import refuse_option
from karat.limits.resampling import bootstrap_draws
from karat.ranking.areas import (
    AreaLimits,
    RowInfluence,
    all_of_the_curve,
    band_inside,
    curve,
    influence,
    value_of,
)
from karat.ranking.placements import Placements
from karat.ranking.weights import TwoWayBand, Weight

# --- Limits of the difference between two areas on the same rows.
#
# What a row adds to the area of one model less what it adds to that of the other has a mean and a
# variance, from which DeLong's limits come. These are far too narrow where the models differ on few
# rows, so each class gets three quarters of a row that was not seen: it moves the difference as far
# as a row of the other class would under this label, or nearly as far as the farthest row seen. The
# degrees of freedom come from the fourth moments, and Hall's transformation takes out the skewness.
# The limits are likely, not guaranteed: rows are independent, and simulations on random laws, not a
# theorem, say that they hold (least coverage .91 of 192 settings, where DeLong's had .43).

_UNSEEN = 0.75  # rows of each class that were not seen
_FARTHEST = 0.7  # of the farthest row seen: how far an unseen row moves the difference at least
_LEAST_FREEDOM, _MOST_FREEDOM = 3.0, 1e6
_FLAT = 0.2  # of the squared variance of a class: no fourth moment is taken as less
_SKEWNESS, _FEW = 0.7, 10.0  # part of the skewness that is taken out; rows below which it is shrunk


class PairedLimits(NamedTuple):
    """Limits of a difference, and the p-value of none."""

    lower: float
    upper: float
    p_value: float


class _Side(NamedTuple):
    """What the rows of one class add to the law of a difference."""

    size: float  # rows that count, Kish's number where weights are importances
    squares: float
    cubes: float
    fourths: float
    unseen: float  # square of what an unseen row adds


def paired_limits(
    positive: BoolArray,
    first: RowInfluence,
    second: RowInfluence,
    mass: FloatArray | None,
    *,
    kish: bool,
    sup: float,
    delta: float,
) -> PairedLimits:
    """Return limits of the first area less the second, each side wrong with half of ``delta``.

    ``mass`` are weights of rows, importances with ``kish`` and numbers of rows without; ``sup`` is
    the greatest weight of a false-positive rate.
    """
    from scipy.special import stdtr, stdtrit

    value = first.value - second.value
    sizes = _size(mass, positive, kish=kish), _size(mass, ~positive, kish=kish)
    if min(sizes) < 2:  # one row shows no variance
        return PairedLimits(-math.inf, math.inf, 1.0)
    one, zero = first.one - second.one, first.zero - second.zero
    counts = first.one_counts | second.one_counts, first.zero_counts | second.zero_counts
    sides = (
        _side(one, positive, counts[0], mass, sizes[0], sup / sizes[1], kish=kish),
        _side(zero, ~positive, counts[1], mass, sizes[1], sup / sizes[0], kish=kish),
    )
    variance = sum(side.squares + _UNSEEN * side.unseen for side in sides)
    error, skewness = math.sqrt(variance), _skewness(sides, variance)
    freedom = _freedom(sides, variance)
    t = -float(stdtrit(freedom, delta / 2))
    seen = _transformed(value / error, skewness)
    return PairedLimits(
        value - error * _back(t, skewness),
        value - error * _back(-t, skewness),
        float(2 * stdtr(freedom, -abs(seen))),
    )


def _size(mass: FloatArray | None, own: BoolArray, *, kish: bool) -> float:
    if mass is None:
        return float(np.count_nonzero(own))
    here = mass[own]
    total = float(here.sum())
    return total**2 / float(here @ here) if kish else total


def _side(
    effect: FloatArray,
    own: BoolArray,
    counts: BoolArray,
    mass: FloatArray | None,
    size: float,
    least: float,
    *,
    kish: bool,
) -> _Side:
    """Return the moments of one class; ``least`` is the least move of an unseen row."""
    here, others = effect[own], effect[~own & counts]
    rows = others_rows = None
    if mass is not None:
        rows, others_rows = mass[own], mass[~own & counts]
    here = here - (mean := float(np.average(here, weights=rows)))
    farthest = float(np.abs(here).max())
    mislabelled = 0.0
    if len(others):
        mislabelled = float(np.average((others - mean) ** 2, weights=others_rows))
    unseen = max(mislabelled, (_FARTHEST * farthest) ** 2, least**2)
    scale = math.sqrt(size / (size - 1.0 + _UNSEEN))
    if rows is None:
        part, times = scale / size, None
    elif kish:
        here, part, times = here * rows, scale / float(rows.sum()), None
    else:
        part, times = scale / size, rows
    squared = here * here

    def total(values: FloatArray) -> float:
        return float(values.sum() if times is None else values @ times)

    return _Side(
        size,
        total(squared) * part**2,
        total(squared * here) * part**3,
        total(squared * squared) * part**4,
        unseen * (scale / size) ** 2,
    )


def _freedom(sides: tuple[_Side, _Side], variance: float) -> float:
    """Return the degrees of freedom: twice the squared variance by the variance of the variance."""
    spread = flat = 0.0
    for side in sides:
        whole = side.squares + _UNSEEN * side.unseen
        spread += side.fourths + _UNSEEN * side.unseen**2 - whole**2 / (side.size + _UNSEEN)
        flat += _FLAT * whole**2 / side.size
    freedom = 2.0 * variance**2 / max(spread, flat)
    return min(max(freedom, _LEAST_FREEDOM), _MOST_FREEDOM)


def _skewness(sides: tuple[_Side, _Side], variance: float) -> float:
    """Return the skewness of a difference, less of it where a class has few rows."""
    cubes = sum(side.size**2 / (side.size**2 + _FEW**2) * side.cubes for side in sides)
    return float(_SKEWNESS * cubes / variance**1.5)


def _transformed(z: float, skewness: float) -> float:
    """Return Hall's transformation of a standardised difference, whose law is less skewed."""
    return z + skewness * z**2 / 3 + skewness**2 * z**3 / 27 + skewness / 6


def _back(x: float, skewness: float) -> float:
    """Return the standardised difference of which `_transformed` is ``x``."""
    if abs(skewness) < 1e-6:
        return x - skewness * (x * x / 3 + 1 / 6)
    return 3 / skewness * (float(np.cbrt(1 + skewness * (x - skewness / 6))) - 1)


# --- Resampling within each class, on placements: nothing is sorted again.

# Up to so many cells counts are resampled exactly; above, neighbours are joined into half as many.
MOST_CELLS = 2048


def resampled(
    placed: Placements,
    statistic: Callable[[Placements], float],
    n_resamples: int,
    rng: np.random.Generator,
    *,
    atoms: bool = False,
    most: int = MOST_CELLS,
) -> FloatArray:
    """Return a statistic of samples that are drawn anew from positives and from negatives.

    Only the number of negatives between neighbouring positives matters, so each sample draws
    counts of these cells, not rows. With ``atoms`` a cell holds tied negatives only, for a
    statistic that depends on the negatives between two positives.

    Above ``most`` cells, neighbouring ones are joined, and the rows of a joined cell are resampled
    as if they were level. What their order adds to the statistic is taken as it was seen: samples
    differ in it by a share of ``1/most`` of what they differ in by at all.
    """
    one = placed.grouped()
    ends = [one.left, one.right]
    if atoms:
        new = [True] * (one.n_steps - 1) if one.negative is None else np.diff(one.negative) > 0
        ends.append(np.flatnonzero(new) + 1)
    edges = np.unique(np.concatenate([[0], *ends, [one.n_steps]]))
    shift = 0.0
    if len(edges) - 1 > most or len(one) > most:
        joined = _joined(one, edges, most // 2)
        shift = statistic(one) - statistic(joined)
        one, edges = joined, np.arange(joined.n_steps + 1)
    left, right = np.searchsorted(edges, one.left), np.searchsorted(edges, one.right)
    size = np.diff(one.share_at(edges))
    mass = np.asarray(one.mass)
    n1, n0 = (max(1, round(n)) for n in (one.n_positive, one.n_negative))

    def of_counts(negatives: FloatArray, positives: FloatArray) -> float:
        share = np.concatenate([[0.0], np.cumsum(negatives)])
        kept = positives > 0
        return statistic(
            replace(
                one,
                left=left[kept],
                right=right[kept],
                mass=positives[kept] / n1,
                share=share / n0,
                n_steps=len(size),
                negative=None,
            )
        )

    return shift + bootstrap_draws(
        of_counts,
        [size, mass],
        [n0, n1],
        multipliers="multinomial",
        n_resamples=n_resamples,
        rng=rng,
    )


def _joined(one: Placements, edges: IntArray, most: int) -> Placements:
    """Return placements whose negatives stand in ``most`` cells at the most, level inside each.

    Half of the cells hold even shares of the negatives, the others even shares of the positives, so
    that neither class has a large part of its rows in one cell; a quarter of the first kind halve
    their way to either end, where rates are small.
    """
    share = one.share_at(edges)
    mass = np.cumsum(np.concatenate([[0.0], np.asarray(one.mass)]))
    small = np.geomspace(1.0 / max(one.n_negative, 2.0), 0.5, most // 8)
    rates = np.concatenate([np.linspace(0, 1, most // 4), small, 1.0 - small])
    by_negatives = np.searchsorted(share, rates)
    spots = np.searchsorted(mass, np.linspace(0, 1, most // 2)).clip(0, len(one) - 1)
    by_positives = np.searchsorted(edges, one.right[spots])
    kept = np.unique(np.concatenate([[0, len(edges) - 1], by_negatives, by_positives]))
    cuts = edges[kept.clip(0, len(edges) - 1)]
    # A positive belongs to the cell that its place ends in; one below all negatives to the first.
    cell = np.searchsorted(cuts, np.maximum(one.right, 1), side="left") - 1
    here, where = np.unique(cell, return_inverse=True)
    weight = np.bincount(where, np.asarray(one.mass, dtype=float)).astype(float)
    return replace(
        one,
        left=here,
        right=here + 1,
        mass=weight,
        share=one.share_at(cuts),
        n_steps=len(cuts) - 1,
        negative=None,
    )


# --- Approximate limits of an area: a beta law whose spread knows of rows that were not seen.
#
# DeLong's variance is 0 where the classes are separated, and too small wherever a few rows that
# were not seen would change the area much; the number of rows does not help. For the AUC the rarer
# class gets one more row, half of it below and half of it above all rows of the other class. For
# other weights either class gets half a row, half of that at either end of what a row can add, with
# degrees of freedom from the fourth moments. The limits are quantiles of the beta law with the mean
# and the variance that result. They are approximate: simulations, not a theorem, say that they
# hold.

_UNSEEN_ROWS = 0.5  # rows of either class that were not seen, for weights other than 1
_END = 1e-4  # the mean of a beta law is at least so far from 0 and 1


_BetaSide = tuple[FloatArray, FloatArray | None, float]  # influence, shares, number of rows


class _Law(NamedTuple):
    """The mean and the variance of an area over its greatest value."""

    mean: float
    variance: float


def smoothed_limits(
    placed: Placements, weight: Weight | TwoWayBand, delta: float, ties: str
) -> AreaLimits:
    """Return the limits; the upper one is the greatest area where that was seen, the lower one 0.

    One row of a class shows no variance: the limits of other areas than the AUC are then all that
    an area can be.
    """
    from scipy.special import betaincinv

    if ties == "strict" and not all_of_the_curve(weight):
        refuse_option(
            "smoothed",
            "limits",
            f"'dkw' for {weight.title} with ties='strict', or ties='interpolate'",
        )
    value, most = value_of(placed, weight, ties), weight.area
    if ties == "strict":  # ties earn nothing, so a positive's placement ends at F₀(x−)
        placed = replace(placed, right=placed.left)
    if all_of_the_curve(weight):
        ones, zeros = influence(placed, weight)  # type: ignore[arg-type]
        law = _with_one_more_row(placed, ones, zeros)
    elif min(placed.n_positive, placed.n_negative) < 2:
        return AreaLimits(0.0, most, value=value)
    else:
        ones, zeros, least = _influence(placed, weight, value)
        ends = (least / most, 1.0), (0.0, float(zeros[0]) / most)
        law = _with_half_a_row_of_either(
            _sides(placed, ones / most, zeros / most), ends, value / most, delta
        )
    rows = law.mean * (1 - law.mean) / law.variance - 1
    shapes = rows * law.mean, rows * (1 - law.mean)
    lower, upper = (most * float(betaincinv(*shapes, q)) for q in (delta / 2, 1 - delta / 2))
    # Whether all positives stand above the negatives is read off their places: sums are rounded.
    return AreaLimits(
        0.0 if ones.max() <= 0 else min(lower, value),
        most if ones.min() >= most else max(upper, value),
        most * math.sqrt(law.variance),
        value=value,
    )


def _influence(
    placed: Placements, weight: Weight | TwoWayBand, value: float
) -> tuple[FloatArray, FloatArray, float]:
    """Return what each positive and each step of negatives adds, and the least of a positive.

    In a box it is what they add to the band in which the curve is inside: outside it no row moves
    the area. A positive below all negatives lowers the curve wherever it is above the floor. A
    negative above all positives moves it to the side and takes its rise across the box, so that
    rise is what a negative below all positives adds.
    """
    if isinstance(weight, Weight):
        return *influence(placed, weight), 0.0
    fpr, tpr = curve(placed)
    start, end, floor = weight.fpr.low, weight.fpr.high, weight.tpr.low
    heights = np.array([np.interp(start, fpr, tpr) if start > 0 else 0.0, np.interp(end, fpr, tpr)])
    rise = np.diff(heights.clip(floor, weight.tpr.high))[0]
    above = max(end - max(float(np.interp(floor, tpr, fpr)), start), 0.0)
    band = band_inside(fpr, tpr, weight)
    if band is None:
        ones, zeros = np.full(len(placed), value), np.full(placed.n_steps, rise)
    else:
        ones, zeros = influence(placed, band)
        ones, zeros = ones + (value - _mean(ones, placed.mass)), zeros + (rise - zeros[0])
    return ones, zeros, -floor * above


def _with_one_more_row(placed: Placements, ones: FloatArray, zeros: FloatArray) -> _Law:
    """Return the law of the AUC with one more row of the rarer class."""
    (rare, rare_share, n), (common, common_share, n_common) = sorted(
        _sides(placed, ones, zeros), key=lambda side: side[2]
    )
    size = n + 1.0
    mean = (n * _mean(rare, rare_share) + 0.5) / size
    square = (n * _mean(rare**2, rare_share) + 0.5) / size
    spread = _mean((common - _mean(common, common_share)) ** 2, common_share)
    return _Law(mean, (square - mean**2) / (size + 1.0) + spread / max(n_common - 1.0, 1.0))


def _with_half_a_row_of_either(
    sides: Sequence[_BetaSide], ends: Sequence[tuple[float, float]], value: float, delta: float
) -> _Law:
    """Return the law of an area between 0 and 1, its variance widened by Student's t.

    ``ends`` are the least and the most that a row of either class adds.
    """
    from scipy.special import ndtri, stdtrit

    mean, variance, spread, flat = value, 0.0, 0.0, 0.0
    for (values, shares, n), (low, high) in zip(sides, ends, strict=True):
        centre = _mean(values, shares)
        squared = (values - centre) ** 2
        scale = n / (n - 1.0 + _UNSEEN_ROWS)
        seen = scale * _mean(squared, shares) / n
        unseen = scale * ((low - centre) ** 2 + (high - centre) ** 2) / 2 / n**2
        mean += _UNSEEN_ROWS * ((low + high) / 2 - centre) / (n + _UNSEEN_ROWS)
        variance += seen + _UNSEEN_ROWS * unseen
        spread += scale**2 * _mean(squared**2, shares) / n**3 - seen**2 / n
        flat += _FLAT * seen**2 / n
    freedom = 2.0 * variance**2 / max(spread, flat, 1e-300)
    freedom = min(max(freedom, _LEAST_FREEDOM), _MOST_FREEDOM)
    widened = float(stdtrit(freedom, delta / 2) / ndtri(delta / 2)) ** 2
    mean = min(max(mean, _END), 1.0 - _END)
    return _Law(mean, min(variance * widened, mean * (1 - mean) / 2))


def _sides(placed: Placements, ones: FloatArray, zeros: FloatArray) -> tuple[_BetaSide, _BetaSide]:
    """Return the influence, the shares and the number of rows of either class."""
    share = None if placed.share is None else np.diff(placed.share)
    return (ones, placed.mass, placed.n_positive), (zeros, share, placed.n_negative)


def _mean(values: FloatArray, shares: FloatArray | None) -> float:
    return float(np.average(values, weights=shares))
