"""A binary metric at every threshold of a score, in one pass over the thresholds.

From the highest threshold to the lowest each item enters the counts once. Given the share of
predicted positives the metric is a function of TP, so what is kept of each threshold are TP's two
bounds and the moments that their errors need.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.bounds.inputs import Inputs, features
from karat.bounds.problem import Limit
from karat.bounds.solvers._binary import (
    PREDICTED,
    TRUE_POSITIVE,
    TRUTH,
    check_defined,
    confusion_at,
    slope_at,
)
from karat.exceptions import UndefinedHereError, UndefinedMetricWarning
from karat.metrics import Metric
from karat.metrics.estimates import metric_range

__all__ = ["threshold_bounds"]

_FOLDS = 2  # the other fold is then the other row of an array, which keeps the pass fast
_STRENGTH = 30.0  # items that the regression's guess of q̂ is worth beside a pattern's own counts
_BLOCK = 1_000_000  # cells of (threshold, fold, pattern) that are worked on at a time
_GRID = 9  # values of TP at which the metric is tried; most metrics are monotone in TP


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
) -> dict[str, FloatArray]:
    """Return ``lower``, ``upper``, ``lower_limit`` and ``upper_limit`` at every threshold."""
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
    return {
        "lower": lower,
        "upper": np.fmax(upper, lower),
        "lower_limit": lower_limit,
        "upper_limit": np.fmax(upper_limit, upper),
    }


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
    mixes = np.linspace(0.0, 1.0, _GRID)
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
        by_tp**2 * moments[0] + by_predicted**2 * predicted + by_truth**2 * moments[4]
        + 2 * (by_tp * by_predicted * moments[1] + by_tp * by_truth * moments[2]
               + by_predicted * by_truth * moments[3])
    )  # fmt: skip
    mean = by_tp * tp_mean + by_predicted * predicted + by_truth * truth
    distance = quantile * np.sqrt(np.maximum(square - mean**2, 0.0) / max(n - 1, 1))
    bottom, top = metric_range(metric)
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
