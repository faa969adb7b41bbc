"""One bound to find, and what is found.

A `Problem` holds counts of (fold, pattern, prediction) in a `Sample`, P(Y | pattern) of the label
model, and P(prediction | pattern) as the other folds predict it. A `Limit` says how far from an
estimate its confidence limit lies. A `BoundPair` is the answer: the lower and the upper `Bound`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat.bounds.frechet import best_duals, dual_values
from karat.limits.means import (
    Moments,
    bernstein_reach,
    cluster_moments,
    cluster_number,
    effective_number,
    normal_quantile,
    student_quantile,
    weighted_moments,
)
from karat.limits.resampling import enough_draws


@dataclass(frozen=True, slots=True)
class Problem:
    """Counts by (fold, pattern, prediction), p = P(Y | z), and q̂ = P(Ŷ | z) from other folds.

    ``group`` is the group of each pattern where the metric compares groups; patterns of two groups
    are then two patterns, even if the votes are the same.
    """

    sample: Sample
    p: FloatArray
    q: FloatArray
    slack: float = 0.0
    prior: FloatArray | None = None
    group: IntArray | None = None

    def duals(self, gain: FloatArray) -> FloatArray:
        """Return the α that q̂ makes best for an upper bound of the gain."""
        return best_duals(gain, self.q, self.p, self.slack)

    def values(self, gain: FloatArray, side: int) -> FloatArray:
        """Return item values whose mean bounds ``E gain[Y, Ŷ]`` from above (1) or below (−1)."""
        alpha = self.duals(side * gain)
        return side * dual_values(side * gain, alpha, self.p, self.slack)

    @property
    def patterns(self) -> FloatArray:
        """Share of the items in each pattern."""
        return np.asarray(self.sample.counts.sum(axis=(0, 2)) / self.sample.total)

    @property
    def predicted(self) -> FloatArray:
        """``P(Ŷ=j)``."""
        return np.asarray(self.sample.counts.sum(axis=(0, 1)) / self.sample.total)

    @property
    def pooled(self) -> FloatArray:
        """``P(Ŷ | z)`` by pattern: the mean of q̂ over the folds."""
        return np.asarray(self.q.mean(axis=0))

    @property
    def truth(self) -> FloatArray:
        """``P(Y=i)``: given, or the mean of the label model."""
        return self.patterns @ self.p if self.prior is None else self.prior

    def truth_values(self) -> FloatArray:
        """Return each item's share in ``truth``: (1, pattern, 1, class), or constant if given."""
        own = self.p if self.prior is None else np.broadcast_to(self.prior, self.p.shape)
        return own[None, :, None, :]

    def one_vs_rest(self, k: int) -> Problem:
        """Return the binary problem of class k against the rest."""

        def halves(a: FloatArray) -> FloatArray:
            return np.stack([a.sum(axis=-1) - a[..., k], a[..., k]], axis=-1)

        rows = self.sample.rows
        own = None if rows is None else replace(rows, predicted=(rows.predicted == k).astype(int))
        sample = Sample(halves(self.sample.counts), halves(self.sample.squares), own)
        prior = None if self.prior is None else halves(self.prior)
        return Problem(sample, halves(self.p), halves(self.q), self.slack, prior)


def linear_bounds(problem: Problem, gain: FloatArray, limit: Limit) -> BoundPair:
    """Bound ``E gain[Y, Ŷ]``: a linear metric of any number of classes and predictions."""
    span = 2.0 * float(np.ptp(gain))  # item values lie within twice the range of the gain
    pair = []
    for side in (-1, 1):
        values = problem.values(gain, side)
        mean = problem.sample.mean(values)
        worst = float(gain.max() if side > 0 else gain.min())
        distance = limit.distance(problem.sample, values, span, side, worst)
        pair.append(Bound(mean, mean + side * distance))
    return BoundPair(pair[0], pair[1])


class Bound(NamedTuple):
    """One side of an interval: the estimated bound, and its confidence limit further out."""

    value: float
    limit: float


class BoundPair(NamedTuple):
    """The two bounds of a metric; ``sharp`` if some law with the given margins attains them.

    ``iterations`` and ``gap`` certify an iterative solution: how many steps it took, and how far
    the value may be from the optimum.
    """

    lower: Bound
    upper: Bound
    sharp: bool = True
    iterations: int = 0
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class Limit:
    """Kind (``skew``, ``normal`` or ``bernstein``) and confidence of one-sided limits."""

    kind: str
    confidence: float

    def quantile(self, effective: float) -> float:
        """Student's quantile of the confidence; infinite where one item or cluster is all.

        A limit never lies inside the bounds: at a confidence of a half or less it is the bound.
        """
        return max(student_quantile(1.0 - self.confidence, effective - 1.0), 0.0)

    def normal_distance(self, sample: Sample, values: FloatArray) -> float:
        """Return the distance from the mean of ``values`` to its approximate limit."""
        quantile = self.quantile(sample.effective)
        return quantile * sample.moments(values).error if np.isfinite(quantile) else np.inf

    def approximate(
        self, sample: Sample, influence: FloatArray, side: int, worst: float | None = None
    ) -> float:
        """Return the distance from an estimate to its limit on one side, from its influence.

        ``worst`` is the influence of the worst item that could come; by default that of the worst
        prediction in a pattern that was seen.
        """
        if self.kind != "skew":
            return self.normal_distance(sample, influence)
        if self.confidence <= 0.5:
            return 0.0
        end = float(influence.max() if side > 0 else influence.min()) if worst is None else worst
        mean = sample.mean(influence)
        limit = self.skew(sample, [influence], lambda means: means[:, 0], [[end]], side)
        return max(side * (limit - mean), 0.0)

    def skew(
        self,
        sample: Sample,
        columns: Sequence[FloatArray],
        statistic: Callable[[FloatArray], FloatArray],
        worst: Sequence[Sequence[float]],
        side: int,
    ) -> float:
        """Return the limit of a statistic of means; infinite where one item or cluster is all."""
        if not np.isfinite(self.quantile(sample.effective)):
            return side * np.inf
        return skew_limit(sample, columns, statistic, worst, side=side, confidence=self.confidence)

    def distance(
        self, sample: Sample, values: FloatArray, span: float, side: int, worst: float
    ) -> float:
        """Return the distance from a mean to its limit on one side.

        ``span`` is the range of the values, and ``worst`` the value of the worst item.
        """
        if self.kind == "bernstein":
            return self._bernstein_distance(sample, values, span)
        return self.approximate(sample, values, side, worst)

    def _bernstein_distance(self, sample: Sample, values: FloatArray, span: float) -> float:
        """Empirical Bernstein limits, one per fold; the folds share the error probability.

        The values of a fold are a function of the other folds, so they are independent only given
        those: each fold needs a limit of its own.
        """
        delta = (1.0 - self.confidence) / len(sample.counts)
        total = 0.0
        for counts, value in zip(sample.counts, values, strict=True):
            n = float(counts.sum())
            if n < 2:
                return np.inf
            mean = np.sum(counts * value) / n
            variance = float(np.sum(counts * (value - mean) ** 2) / (n - 1))
            total += n * bernstein_reach(variance, n, span, delta)
        return total / sample.total


# --- One-sided limits for skewed values: a Bayesian bootstrap with half a pseudo-item.

_DRAWS = 1500
_FEWEST_DRAWS = 200
_MOST = 30_000_000  # random weights of one limit; very many clusters get fewer draws
_MOST_FOR_TAIL = 200_000_000  # where the confidence needs more than _DRAWS
_LEAST_TOLD = 2000  # draws that 95 % limits on both sides take
_SYMMETRIC = 1e-4  # skewness below which a gamma law is a normal one
_AT_A_TIME = 10  # numbers of each draw that are held
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
    draws, told = _number_of_draws(len(units.shape), 1 - confidence)
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
        if told:
            method: Literal["higher", "lower"] = "higher" if side > 0 else "lower"
            ends.append(float(np.quantile(values, level, method=method)))
        else:
            ends.append(side * _tail(side * values, confidence))
    return max(ends) if side > 0 else min(ends)


def _number_of_draws(units: int, delta: float) -> tuple[int, bool]:
    """Return how many draws are made, and whether they tell a quantile that cuts off ``delta``.

    Of so many units that the draws are too few for that, the law of a mean is close to normal.
    """
    needed = enough_draws(delta, least=_DRAWS, width=_AT_A_TIME, shared=2.0)
    most = _MOST if needed <= _LEAST_TOLD else _MOST_FOR_TAIL
    room = max(most // units, _FEWEST_DRAWS)
    return min(needed, room), needed <= room


def _tail(values: FloatArray, confidence: float) -> float:
    """Return the upper quantile of the gamma law with the mean, variance and skewness of draws."""
    from scipy.special import gammainccinv, gammaincinv

    if not np.isfinite(values).all():
        return np.inf
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    if spread == 0.0:
        return mean
    skewness = float(np.mean(((values - mean) / spread) ** 3))
    if abs(skewness) < _SYMMETRIC:
        return mean + spread * normal_quantile(1 - confidence)
    shape = 4 / skewness**2
    inverse = gammainccinv if skewness > 0 else gammaincinv
    far = (float(inverse(shape, 1 - confidence)) - shape) / math.sqrt(shape)
    return mean + spread * far * math.copysign(1.0, skewness)


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


# --- The items of a bound, split into folds and reduced to counts.


@dataclass(frozen=True, slots=True)
class Rows:
    """One entry per item; kept only where items of a cluster are dependent."""

    ids: IntArray
    predicted: IntArray
    folds: IntArray
    weight: FloatArray
    cluster: IntArray


@dataclass(frozen=True, slots=True)
class Sample:
    """Sums of the weights of (fold, pattern, prediction), and of their squares."""

    counts: FloatArray
    squares: FloatArray
    rows: Rows | None = None

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.counts.sum())

    @property
    def effective(self) -> float:
        """Kish's effective number of items, or of clusters where that is smaller."""
        kish = effective_number(self.total, float(self.squares.sum()))
        if self.rows is None:
            return kish
        return min(kish, cluster_number(self.rows.weight, self.rows.cluster))

    def mean(self, values: FloatArray) -> float:
        """Return the mean of item values given by (fold, pattern, prediction)."""
        return float(np.sum(self.counts * values) / self.total)

    def moments(self, values: FloatArray) -> Moments:
        """Return mean and standard error; by cluster where there are clusters."""
        if self.rows is None:
            return weighted_moments(values, self.counts, self.squares)
        r = self.rows
        return cluster_moments(values[r.folds, r.ids, r.predicted], r.weight, r.cluster)


def split_counts(counts: AnyArray, folds: int, rng: np.random.Generator) -> Sample:
    """Split counts of (pattern, prediction) at random into folds.

    Items of one cell are exchangeable, so a multinomial draw of the count is the same as drawing
    the fold of each item.
    """
    if folds == 1:
        weights = counts[None].astype(np.float64)
    else:
        drawn = rng.multinomial(counts.astype(np.int64), np.full(folds, 1.0 / folds))
        weights = np.moveaxis(drawn.astype(np.float64), -1, 0)
    return Sample(counts=weights, squares=weights)


def split_rows(
    ids: IntArray,
    predicted: IntArray,
    shape: tuple[int, int],
    weight: FloatArray | None,
    cluster: IntArray | None,
    folds: int,
    rng: np.random.Generator,
) -> Sample:
    """Split items, whole clusters together, and count them."""
    n = len(ids)
    units = np.arange(n) if cluster is None else cluster
    fold_of = rng.permutation(np.arange(int(units.max()) + 1) % folds)
    fold = fold_of[units]
    weight = np.ones(n) if weight is None else weight
    index = (fold * shape[0] + ids) * shape[1] + predicted
    cells = (folds, *shape)
    counts, squares = (
        np.bincount(index, weights=w, minlength=int(np.prod(cells))).reshape(cells).astype(float)
        for w in (weight, weight**2)
    )
    rows = None if cluster is None else Rows(ids, predicted, fold, weight, cluster)
    return Sample(counts=counts, squares=squares, rows=rows)
