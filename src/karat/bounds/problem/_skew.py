"""One-sided limits for skewed values: a Bayesian bootstrap with half a pseudo-item."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.bounds.problem._sample import Sample

__all__ = ["skew_limit"]

_DRAWS = 1500
_FEWEST_DRAWS = 200
_MOST = 30_000_000  # random weights of one limit; very many clusters get fewer draws
_BLOCK = 2_000_000  # of them at a time
# Values closer than this part of a column's deviation are drawn as one, at their mean: what that
# takes from the variance is 1/12 of its square, far less than what the draws miss by.
_NEAR = 1 / 20
_LITTLE = 1e-4  # weight of one item more, by which it is seen how far it moves a statistic
_ROUNDING = 1e-12  # of the largest value of a column
_LEAST = 1e-150  # whose square is not 0
_PSEUDO = 0.5  # items that the worst one counts for


class _Units(NamedTuple):
    """What is drawn anew: sums of the columns (u, c), and the law of each weight."""

    sums: FloatArray
    shape: FloatArray
    scale: FloatArray
    total: FloatArray
    typical: float  # weight of one item, or one cluster


def skew_limit(
    sample: Sample,
    columns: Sequence[FloatArray],
    statistic: Callable[[FloatArray], FloatArray],
    worst: Sequence[Sequence[float]],
    *,
    side: int,
    confidence: float,
) -> float:
    """Return the upper (1) or lower (−1) limit of a statistic of the means of some columns.

    Every item gets a gamma variable of shape 1 as weight, every cell of nearly equal items one
    whose shape is their number, every cluster one for all its items (Rubin 1981). Half an item of
    the ``worst`` kind, which may not have been seen yet, gets one of shape ½. The limit is the
    quantile of the statistic; of several worst items the one that moves it furthest counts.
    ``statistic`` takes means (draws, c); where it is not finite the limit is infinite.

    The seed is fixed, so that two limits of one sample differ by what they are of.
    """
    units = _units(sample, columns, statistic)
    rng = np.random.default_rng(0)
    draws = int(np.clip(_MOST // len(units.shape), _FEWEST_DRAWS, _DRAWS))
    sums = np.empty((draws, len(columns)))
    total = np.empty(draws)
    step = max(1, _BLOCK // len(units.shape))
    for first in range(0, draws, step):
        size = min(step, draws - first)
        weight = rng.standard_gamma(units.shape, (size, len(units.shape))) * units.scale
        sums[first : first + size] = weight @ units.sums
        total[first : first + size] = weight @ units.total
    extra = rng.standard_gamma(_PSEUDO, draws) * units.typical
    level = confidence if side > 0 else 1 - confidence
    ends = []
    for item in worst:
        means = (sums + extra[:, None] * np.asarray(item)) / (total + extra)[:, None]
        values = np.asarray(statistic(means))
        values = np.where(np.isfinite(values), values, side * np.inf)
        ends.append(float(np.quantile(values, level, method="higher" if side > 0 else "lower")))
    return max(ends) if side > 0 else min(ends)


def _units(
    sample: Sample,
    columns: Sequence[FloatArray],
    statistic: Callable[[FloatArray], FloatArray],
) -> _Units:
    """Return clusters where there are some, otherwise cells of nearly equal values."""
    if sample.rows is not None:
        r = sample.rows
        at = [np.broadcast_to(c, sample.counts.shape)[r.folds, r.ids, r.predicted] for c in columns]
        n = int(r.cluster.max()) + 1
        total = np.bincount(r.cluster, r.weight, n).astype(np.float64)
        sums = np.stack([np.bincount(r.cluster, r.weight * v, n) for v in at], axis=1).astype(float)
        ones = np.ones(n)
        return _Units(sums, ones, ones, total, float(total.mean()))
    seen = sample.counts > 0
    counts, squares = sample.counts[seen], sample.squares[seen]
    values = np.stack([np.broadcast_to(c, sample.counts.shape)[seen] for c in columns], axis=1)
    share = counts / counts.sum()
    # Values that are close in each column may still be far apart in what a ratio is made of.
    moved = _moved(values, share, statistic)[:, None] if len(columns) > 1 else values[:, :0]
    cell = _nearly_equal(np.hstack([values, moved]), share)
    mass = np.bincount(cell, counts).astype(np.float64)
    square = np.bincount(cell, squares).astype(np.float64)
    means = np.stack([np.bincount(cell, counts * v) for v in values.T], axis=1) / mass[:, None]
    # Weights that differ: a gamma variable with the mean Σw and the variance Σw² of the cell.
    scale = square / mass
    shape = mass / scale
    typical = float(square.sum() / mass.sum())
    return _Units(means, shape, scale, np.ones(len(mass)), typical)


def _moved(
    values: FloatArray, share: FloatArray, statistic: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return how far a little more of each row (n, c) moves the statistic of the means."""
    mean = share @ values
    moved = np.asarray(statistic(mean + _LITTLE * (values - mean))) / _LITTLE
    return np.where(np.isfinite(moved), moved, 0.0)


def _nearly_equal(values: FloatArray, share: FloatArray) -> IntArray:
    """Return a code for each row (n, c), the same for rows that differ by little in each column."""
    codes = np.zeros(len(values), dtype=np.int64)
    for column in values.T:
        centred = column - share @ column
        step = _NEAR * math.sqrt(share @ centred**2)
        # Deviations that are rounding alone make no steps.
        least = _ROUNDING * float(np.abs(column).max(initial=0.0))
        steps = np.rint(centred / max(step, least, _LEAST)).astype(np.int64)
        steps -= steps.min(initial=0)
        # Coded anew after each column, so that the codes stay below the number of rows.
        _, codes = np.unique(codes * (steps.max(initial=0) + 1) + steps, return_inverse=True)
        codes = codes.reshape(-1)
    return np.asarray(codes)
