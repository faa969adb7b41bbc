"""Bounds of metrics of two classes: closed forms, and a search over thresholds."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from karat._sentences import Argument, Remedy
from karat._typing import BoolArray, FloatArray, IntArray
from karat.bounds._problem import Bound, BoundPair, Limit, Problem
from karat.bounds.inputs import Inputs, features
from karat.exceptions import UndefinedHereError, UndefinedMetricWarning
from karat.metrics.base import Metric

# --- A binary metric at every threshold of a score, in one pass over the thresholds.
#
# From the highest threshold to the lowest each item enters the counts once. Given the share of
# predicted positives the metric is a function of TP, so what is kept of each threshold are TP's two
# bounds and the moments that their errors need.

_FOLDS = 2  # the other fold is then the other row of an array, which keeps the pass fast
_STRENGTH = 30.0  # items that the regression's guess of q̂ is worth beside a pattern's own counts
_BLOCK = 1_000_000  # cells of (threshold, fold, pattern) that are worked on at a time
_THRESHOLD_GRID = 9  # values of TP at which the metric is tried; most metrics are monotone in TP


class _Margins(NamedTuple):
    """P(Y=1), P(Ŷ=1) at each threshold, and whether P(Y=1) is an estimate."""

    truth: float
    predicted: FloatArray
    estimated: bool


def threshold_bounds(
    metric: Metric,
    inputs: Inputs,
    score: FloatArray,
    cuts: FloatArray,
    *,
    method: str,
    limit: Limit,
    prior: FloatArray | None,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray]]:
    """Return the two bounds at every threshold, and their limits."""
    folds = 1 if method == "plugin" else _FOLDS
    fold = rng.permutation(np.arange(inputs.n) % folds)
    below = np.searchsorted(np.sort(score), cuts, side="left")
    mean = float(inputs.votes.counts @ inputs.p[:, 1] / inputs.n)
    truth = mean if prior is None else float(prior[1])
    margins = _Margins(truth, 1.0 - below / inputs.n, prior is None)
    sums = _sweep(inputs, score, cuts, fold, folds)
    quantile = limit.quantile(inputs.n)
    (lower, lower_limit), (upper, upper_limit) = (
        _bound(metric, side, margins, sums, inputs.n, quantile) for side in (-1, 1)
    )
    return lower, np.fmax(upper, lower), (lower_limit, np.fmax(upper_limit, upper))


class _Sums(NamedTuple):
    """At each threshold: means of TP's two bounds, and the moments that their errors need."""

    low: FloatArray
    high: FloatArray
    low_moments: FloatArray
    high_moments: FloatArray


def _sweep(
    inputs: Inputs, score: FloatArray, cuts: FloatArray, fold: IntArray, folds: int
) -> _Sums:
    """Count positives by (fold, pattern) at every threshold and bound TP."""
    patterns, n = len(inputs.p), inputs.n
    cell = fold * patterns + inputs.votes.ids
    seen = np.bincount(cell, minlength=folds * patterns).reshape(folds, patterns).astype(float)
    level = np.searchsorted(cuts, score, side="right")  # positive at thresholds 0 .. level - 1
    guess = _guess(inputs, score, cuts, fold, folds) if folds > 1 else None
    p = np.tile(inputs.p[:, 1], folds)
    columns = _columns(seen.ravel(), p)
    order = np.argsort(-level, kind="stable")
    starts = np.searchsorted(-level[order], -np.arange(len(cuts), 0, -1), side="right")
    block = max(1, _BLOCK // (folds * patterns))
    positives = np.zeros(folds * patterns)
    done = 0
    out: list[FloatArray] = []
    for first in range(0, len(cuts), block):
        tops = range(first, min(first + block, len(cuts)))  # thresholds from the highest down
        table = np.empty((len(tops), folds * patterns))
        for row, top in enumerate(tops):
            fresh = cell[order[done : starts[top]]]
            positives += np.bincount(fresh, minlength=len(positives))
            done = starts[top]
            table[row] = positives
        at = len(cuts) - 1 - np.array(tops)
        expected = _expected(table, seen, folds, None if guess is None else guess(at))
        out.append(_bounded(table, *expected, p, columns, n))
    sums = np.concatenate(out, axis=1)[:, ::-1]  # back to ascending thresholds
    return _Sums(sums[0], sums[1], sums[2:7], sums[7:12])


def _expected(
    positives: FloatArray, seen: FloatArray, folds: int, guess: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return q̂ as a fraction: the other folds' positives and items, with the regression's guess."""
    if guess is None:
        return positives, np.maximum(seen.ravel(), 1.0)
    # With two folds, the other fold is the other row.
    guess *= _STRENGTH
    guess += positives.reshape(len(positives), folds, -1)[:, ::-1]
    return guess.reshape(positives.shape), seen[::-1].ravel() + _STRENGTH


def _guess(inputs: Inputs, score: FloatArray, cuts: FloatArray, fold: IntArray, folds: int) -> Any:
    """Regress normal ranks of the scores on the votes; return P(score ≥ cut | z) by index."""
    from scipy.special import ndtri

    n = len(score)
    ranked = np.empty(n)
    ranked[np.argsort(score, kind="stable")] = ndtri((np.arange(n) + 0.5) / n)
    x = features(inputs.votes.patterns, inputs.p, 2)
    means, spreads = [], []
    for f in range(folds):
        keep = fold != f
        ids = inputs.votes.ids[keep]
        weight = np.bincount(ids, minlength=len(x))
        sums = np.bincount(ids, weights=ranked[keep], minlength=len(x))
        gram = x.T @ (weight[:, None] * x) + np.eye(x.shape[1])
        mean = x @ np.linalg.solve(gram, x.T @ sums)
        means.append(mean)
        spreads.append(np.sqrt(np.mean((ranked[keep] - mean[ids]) ** 2)) + 1e-9)
    below = np.searchsorted(np.sort(score), cuts, side="left") / n
    cut_ranks = ndtri(np.clip(below, 0.5 / n, 1 - 0.5 / n))
    mean = np.array(means, dtype=np.float32)
    spread = np.array(spreads, dtype=np.float32)[:, None]
    cut_ranks = cut_ranks.astype(np.float32)

    def at(index: IntArray) -> FloatArray:
        # The logistic curve is within .01 of the normal one and much cheaper; any guess will do.
        z = (cut_ranks[index][:, None, None] - mean) * (1.702 / spread)
        np.exp(np.minimum(z, 80.0, out=z), out=z)
        z += 1.0
        return np.asarray(np.reciprocal(z, out=z))

    return at


class _Columns(NamedTuple):
    """For each cell: what it adds to the mean and the moments, alone and per predicted positive."""

    low: FloatArray
    low_positive: FloatArray
    high: FloatArray
    high_positive: FloatArray
    fixed: FloatArray


def _columns(seen: FloatArray, p: FloatArray) -> _Columns:
    """Return the columns of mean, E[t²], E[t·h] and E[t·p] for either bound of TP.

    An item's TP value is t(z, h), h being 1 if it is predicted positive: h + p − 1 or 0 for the
    lower bound, h or p for the upper. Sums of such products are linear in which of the two is used.
    """
    one, none, miss = np.ones_like(p), np.zeros_like(p), p - 1.0
    return _Columns(
        low=np.stack([seen * miss, seen * miss**2, none, seen * p * miss], axis=1),
        low_positive=np.stack([one, 2 * p - 1, p, p], axis=1),
        high=np.stack([-seen * p, -seen * p**2, none, -seen * p**2], axis=1),
        high_positive=np.stack([one, one, 1 - p, p], axis=1),
        fixed=np.array([seen @ p, seen @ p**2, 0.0, seen @ p**2]),
    )


def _bounded(
    positives: FloatArray,
    top: FloatArray,
    bottom: FloatArray,
    p: FloatArray,
    columns: _Columns,
    n: int,
) -> FloatArray:
    """Return, for each threshold, TP's bounds and five moments for the error of each.

    Which value an item has is what q̂ = top/bottom makes better. The moments are E[t²], E[t·h],
    E[t·p], E[h·p] and E[p²].
    """
    low = (top > (1.0 - p) * bottom).astype(np.float64)  # q̂ + p > 1
    high = (top < p * bottom).astype(np.float64)  # q̂ < p
    lows, highs = low @ columns.low, high @ columns.high + columns.fixed
    low *= positives
    high *= positives
    lows += low @ columns.low_positive
    highs += high @ columns.high_positive
    both = positives @ p
    highs[:, 2] += both
    shared = [both, np.full(len(positives), columns.fixed[1])]
    rows = [lows[:, 0], highs[:, 0], *lows[:, 1:].T, *shared, *highs[:, 1:].T, *shared]
    return np.stack(rows) / n


def _bound(
    metric: Metric, side: int, margins: _Margins, sums: _Sums, n: int, quantile: float
) -> tuple[FloatArray, FloatArray]:
    """Return the upper (1) or lower (−1) bound and its limit, at every threshold."""
    truth, predicted, estimated = margins
    least, most = np.maximum(0.0, truth + predicted - 1.0), np.minimum(truth, predicted)
    low = np.clip(sums.low, least, most)
    high = np.clip(sums.high, low, most)
    mixes = np.linspace(0.0, 1.0, _THRESHOLD_GRID)
    tps = low + mixes[:, None] * (high - low)
    tables = confusion_at(truth, predicted, tps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = np.asarray(metric(tables.reshape(-1, 2, 2))).reshape(tps.shape)
    best = np.argmax(side * values, axis=0)
    columns = np.arange(len(predicted))
    value = np.where(_defined(metric, truth, predicted), values[best, columns], np.nan)
    slopes = slope_at(metric, tables[best, columns])
    by_truth, by_predicted, by_tp = (
        np.sum(slopes * part, axis=(1, 2)) for part in (TRUTH, PREDICTED, TRUE_POSITIVE)
    )
    by_truth = by_truth if estimated else np.zeros_like(by_truth)  # a given P(Y) has no error
    mix = mixes[best]
    tp_mean = (1 - mix) * sums.low + mix * sums.high
    moments = (1 - mix) * sums.low_moments + mix * sums.high_moments
    square = (
        by_tp**2 * moments[0]
        + by_predicted**2 * predicted
        + by_truth**2 * moments[4]
        + 2
        * (
            by_tp * by_predicted * moments[1]
            + by_tp * by_truth * moments[2]
            + by_predicted * by_truth * moments[3]
        )
    )
    mean = by_tp * tp_mean + by_predicted * predicted + by_truth * truth
    distance = quantile * np.sqrt(np.maximum(square - mean**2, 0.0) / max(n - 1, 1))
    bottom, top = metric.value_range
    return np.clip(value, bottom, top), np.clip(value + side * distance, bottom, top)


def _defined(metric: Metric, truth: float, predicted: FloatArray) -> BoolArray:
    """Return where the metric is defined; it can be undefined only where P(Ŷ=1) is 0 or 1."""
    defined = np.ones(len(predicted), dtype=bool)
    for at in np.flatnonzero((predicted <= 0) | (predicted >= 1)):
        try:
            check_defined(metric, truth, float(predicted[at]))
        except UndefinedHereError:
            defined[at] = False
    return defined


# --- Two classes, any metric: given the margins, the confusion is a function of TP alone.

_GRID = 65  # values of TP at which the metric is evaluated before the search is refined
ROUNDING = 1e-12  # a probability below this is a rounding error of 0
_TP = np.array([[0.0, 0.0], [0.0, 1.0]])
# The confusion [[TN, FP], [FN, TP]] is base + P(Y=1)·truth + P(Ŷ=1)·predicted + TP·true_positive.
BASE = np.array([[1.0, 0.0], [0.0, 0.0]])
TRUTH = np.array([[-1.0, 0.0], [1.0, 0.0]])
PREDICTED = np.array([[-1.0, 1.0], [0.0, 0.0]])
TRUE_POSITIVE = np.array([[1.0, -1.0], [-1.0, 1.0]])


class BinaryBound(NamedTuple):
    """One bound, and of each (fold, pattern, prediction) its influence and its TP."""

    value: float
    influence: FloatArray
    tp: FloatArray  # the value of TP of each


def binary_bounds(problem: Problem, metric: Metric, limit: Limit) -> BoundPair:
    """Bound any metric of two classes; the limit is by the delta method, or drawn anew."""
    pair = []
    for side in (-1, 1):
        found = binary_bound(problem, metric, side)
        if limit.kind == "skew":
            end = _skew_limit(problem, metric, limit, found.tp, side)
            distance = max(side * (end - found.value), 0.0) if limit.confidence > 0.5 else 0.0
        else:
            distance = limit.normal_distance(problem.sample, found.influence)
        pair.append(Bound(found.value, found.value + side * distance))
    return BoundPair(pair[0], pair[1])


def _skew_limit(problem: Problem, metric: Metric, limit: Limit, tp: FloatArray, side: int) -> float:
    """Return the limit of the metric of means of TP, truth and prediction.

    The worst item for a lower limit is a false negative or a false positive, for an upper one a
    true positive or a true negative. A given P(Y) has no error.
    """
    if problem.slack > 0:
        problem = _worst_margin(problem, side)
    given = problem.prior is not None
    fixed = 0.0 if problem.prior is None else float(problem.prior[1])
    columns = [tp, problem.truth_values()[..., 1], np.array([0.0, 1.0])]
    items = [(0, 1, 0), (0, 0, 1)] if side < 0 else [(1, 1, 1), (0, 0, 0)]
    worst = [(t, fixed if given else y, h) for t, y, h in items]

    def statistic(means: FloatArray) -> FloatArray:
        truth, called = means[:, 1], means[:, 2]
        low, high = np.maximum(0.0, truth + called - 1.0), np.minimum(truth, called)
        tables = confusion_at(truth, called, np.clip(means[:, 0], low, high))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return np.asarray(metric(tables))

    return limit.skew(problem.sample, columns, statistic, worst, side)


def binary_bound(problem: Problem, metric: Metric, side: int) -> BinaryBound:
    """Return the upper (1) or lower (−1) bound: the best value over every attainable TP."""
    if problem.slack > 0:
        problem = _worst_margin(problem, side)
    low_values, high_values = problem.values(_TP, -1), problem.values(_TP, 1)
    truth, predicted = float(problem.truth[1]), float(problem.predicted[1])
    check_defined(metric, truth, predicted)
    # Estimates of TP may leave the range that the margins allow; the metric is not defined there.
    least, most = max(0.0, truth + predicted - 1.0), min(truth, predicted)
    low = float(np.clip(problem.sample.mean(low_values), least, most))
    high = float(np.clip(problem.sample.mean(high_values), low, most))

    def value(tps: FloatArray) -> FloatArray:
        return side * np.asarray(metric(confusion_at(truth, predicted, tps)))

    tp = _best(value, low, high)
    mix = (tp - low) / (high - low) if high > low else 0.0
    own_tp = (1 - mix) * low_values + mix * high_values
    table = confusion_at(truth, predicted, np.array(tp))
    slope = slope_at(metric, table)
    parts = [float(np.sum(slope * part)) for part in (TRUTH, PREDICTED, TRUE_POSITIVE)]
    own_truth = problem.truth_values()[..., 1]
    own_predicted = np.array([0.0, 1.0])
    influence = parts[0] * own_truth + parts[1] * own_predicted + parts[2] * own_tp
    return BinaryBound(float(metric(table)), influence, own_tp)


def confusion_at(
    truth: FloatArray | float, predicted: FloatArray | float, tp: FloatArray | float
) -> FloatArray:
    """Return the confusions (…, 2, 2) with these margins and each TP (…).

    Rounding errors below 0 are cut off, because metrics take roots and ratios of the entries.
    """
    of_truth, of_predicted, of_tp = (np.asarray(a)[..., None, None] for a in (truth, predicted, tp))
    table = BASE + of_truth * TRUTH + of_predicted * PREDICTED + of_tp * TRUE_POSITIVE
    return np.asarray(np.maximum(table, 0.0))


def slope_at(metric: Metric, confusion: FloatArray) -> FloatArray:
    """Return the gradients; a metric may have none on the boundary, so a little inside of it."""
    return metric.gradient((1 - 1e-9) * confusion + 1e-9 / 4)


def _best(value: Callable[[FloatArray], FloatArray], low: float, high: float) -> float:
    """Return the maximiser of a function on [low, high]: a grid, then a search between points."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(low, high, _GRID)
    values = value(grid)
    at = int(np.argmax(values))
    if at in (0, _GRID - 1) or high <= low:
        return float(grid[at])
    close = minimize_scalar(
        lambda t: -float(value(np.array([t]))[0]),
        bounds=(grid[at - 1], grid[at + 1]),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return float(close.x) if -close.fun >= values[at] else float(grid[at])


def _worst_margin(problem: Problem, side: int) -> Problem:
    """Move the label model by the slack toward the predictions (1) or away from them (−1)."""
    pooled = (problem.sample.counts.sum(axis=(0, 2))[None, :, None] * problem.q).sum(axis=0)
    total = np.maximum(pooled.sum(axis=1), 1e-300)  # empty patterns have weight 0 anyway
    q = pooled[:, 1] / total
    p = problem.p[:, 1]
    aim = np.clip(q if side > 0 else 1 - q, p - problem.slack, p + problem.slack).clip(0, 1)
    return Problem(problem.sample, np.stack([1 - aim, aim], axis=1), problem.q, 0.0, problem.prior)


def check_defined(metric: Metric, truth: float, predicted: float) -> None:
    """Refuse a metric that is undefined if P(Y=1) is ``truth`` and P(Ŷ=1) is ``predicted``."""
    truth, predicted = (0.0 if v < ROUNDING else min(v, 1.0) for v in (truth, predicted))
    table = BASE + truth * TRUTH + predicted * PREDICTED + truth * predicted * TRUE_POSITIVE
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndefinedMetricWarning)
        try:
            metric(np.maximum(table, 0.0))
        except UndefinedMetricWarning:
            raise UndefinedHereError(
                f"{metric.title} is undefined here: the positive class is predicted for "
                f"{100 * predicted:.3g} % and expected for {100 * truth:.3g} % of the items",
                Remedy("Choose another metric, threshold or ", Argument("pos_label"), after=". "),
            ) from None
