"""Bounds at every threshold of a score, in one pass."""

import warnings
from typing import Any

import numpy as np

from karat._typing import BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import check_rng, check_same_length, check_scores
from karat.bounds._binary import BASE, BOTH, SHOWN, TRUTH, check_defined
from karat.bounds._deferred_check import DeferredCheck
from karat.bounds._inputs import read_gold, read_inputs
from karat.bounds._options import check_limit, check_method, check_metric, check_prior
from karat.bounds._solve import metric_range
from karat.bounds._sweep import FOLDS, Sums, sweep
from karat.bounds.collection_result import BoundsCurve
from karat.exceptions import (
    DataError,
    LabelError,
    UndefinedHereError,
    UndefinedMetricWarning,
)
from karat.metrics import Metric
from karat.statistics import Patterns, roc_counts

__all__ = ["bounds_curve"]


def bounds_curve(
    y_score: Column,
    weak_labels: Frame | Patterns,
    label_model: Any,
    *,
    metric: str | Metric,
    thresholds: Column | None = None,
    method: str = "crossfit",
    confidence: float = 0.95,
    classes: Column | None = None,
    pos_label: Any = None,
    class_prior: Column | None = None,
    y_true: Column | None = None,
    null: str = "not asked",
    rng: int | np.random.Generator | None = None,
) -> BoundsCurve:
    """Bound a binary metric at every threshold (seed 000, Figure 1).

    Parameters
    ----------
    y_score : column (n,)
        Scores; an item is predicted positive when its score is at least the threshold.
    weak_labels, label_model, metric, method, confidence, classes, pos_label, class_prior
        As in `performance_bounds`; there must be two classes.
    y_true, null, rng
        As in `performance_bounds`.
    thresholds : column (t,), optional
        By default the percentiles of the scores.

    Returns
    -------
    BoundsCurve

    Notes
    -----
    In a pass from the highest threshold to the lowest, each item enters the counts once. What the
    votes say of the prediction comes from one regression of the scores' normal ranks on the votes,
    read at every threshold, to which each pattern's own counts in the other folds are added.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2000)
    >>> votes = np.where(rng.random((2000, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> score = truth + rng.normal(size=2000)
    >>> curve = bounds_curve(score, votes, DawidSkene(rng=0).fit(votes), metric="f1", rng=0)
    >>> bool((curve.lower <= curve.upper).all())
    True
    """
    chosen = check_metric(metric)
    inputs = read_inputs(
        {}, weak_labels, label_model, classes=classes, pos_label=pos_label, null=null
    )
    if len(inputs.classes) != 2:
        raise LabelError(
            f"bounds_curve is for two classes and there are {len(inputs.classes)}; bound the "
            "predictions at one threshold with performance_bounds"
        )
    fixed = chosen.for_classes(2)
    score = check_scores(y_score)
    check_same_length(weak_labels=inputs.votes.ids, y_score=score)
    cuts = _cuts(score, thresholds)
    rule = check_limit("normal", confidence, weighted=False)
    way = check_method(method)
    prior = check_prior(class_prior, inputs)
    gold = read_gold(y_true, inputs.classes, inputs.n)
    folds = 1 if way == "plugin" else FOLDS
    fold = check_rng(rng).permutation(np.arange(inputs.n) % folds)
    called = np.searchsorted(np.sort(score), cuts, side="left")
    shown = 1.0 - called / inputs.n
    p = inputs.p[:, 1]
    share = float(inputs.votes.counts @ p / inputs.n) if prior is None else float(prior[1])
    sums = sweep(inputs, score, cuts, fold, folds)
    ends = [
        _end(fixed, side, share, shown, sums, inputs.n, rule.quantile(inputs.n), prior is None)
        for side in (-1, 1)
    ]
    return BoundsCurve(
        thresholds=cuts,
        lower=ends[0][0],
        upper=np.fmax(ends[1][0], ends[0][0]),
        lower_limit=ends[0][1],
        upper_limit=np.fmax(ends[1][1], ends[1][0]),
        metric=chosen,
        method=way,
        n=inputs.n,
        confidence=rule.confidence,
        truth=None if gold is None or not gold[1].all() else _truth(fixed, gold[0], score, cuts),
        deferred_check=DeferredCheck.of(inputs, label_model, prior, gold),
    )


def _cuts(score: FloatArray, thresholds: Column | None) -> FloatArray:
    if thresholds is None:
        return np.unique(np.quantile(score, np.linspace(0.01, 0.99, 99)))
    cuts = np.unique(check_scores(thresholds, "thresholds"))
    if not len(cuts):
        raise DataError("thresholds is empty; pass at least one")
    return cuts


def _end(
    metric: Metric,
    side: int,
    share: float,
    shown: FloatArray,
    sums: Sums,
    n: int,
    quantile: float,
    estimated: bool,
) -> tuple[FloatArray, FloatArray]:
    """Return the bound on one side and its limit, at every threshold."""
    least, most = np.maximum(0.0, share + shown - 1.0), np.minimum(share, shown)
    low = np.clip(sums.low, least, most)
    high = np.clip(sums.high, low, most)
    mixes = np.linspace(0.0, 1.0, 9)
    tps = low + mixes[:, None] * (high - low)
    fixed = BASE + share * TRUTH + shown[:, None, None] * SHOWN
    tables = np.maximum(fixed + tps[..., None, None] * BOTH, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        flat = tables.reshape(-1, 2, 2)
        values = np.asarray(metric(flat)).reshape(tps.shape)
    best = np.argmax(side * values, axis=0)
    columns = np.arange(len(shown))
    value = np.where(_defined(metric, share, shown), values[best, columns], np.nan)
    inside = (1 - 1e-9) * tables[best, columns] + 1e-9 / 4
    slopes = metric.gradient(inside)
    by_truth, by_shown, by_tp = (
        np.sum(slopes * part, axis=(1, 2)) for part in (TRUTH, SHOWN, BOTH)
    )
    by_truth = by_truth if estimated else np.zeros_like(by_truth)
    mix = mixes[best]
    tp_mean = (1 - mix) * sums.low + mix * sums.high
    moments = (1 - mix) * sums.low_moments + mix * sums.high_moments
    square = (
        by_tp**2 * moments[0] + by_shown**2 * shown + by_truth**2 * moments[4]
        + 2 * (by_tp * by_shown * moments[1] + by_tp * by_truth * moments[2]
               + by_shown * by_truth * moments[3])
    )  # fmt: skip
    mean = by_tp * tp_mean + by_shown * shown + by_truth * share
    reach = quantile * np.sqrt(np.maximum(square - mean**2, 0.0) / max(n - 1, 1))
    bottom, top = metric_range(metric)
    return np.clip(value, bottom, top), np.clip(value + side * reach, bottom, top)


def _defined(metric: Metric, share: float, shown: FloatArray) -> BoolArray:
    """Return where the metric has a value; only the ends of the range can leave it without."""
    defined = np.ones(len(shown), dtype=bool)
    for at in np.flatnonzero((shown <= 0) | (shown >= 1)):
        try:
            check_defined(metric, share, float(shown[at]))
        except UndefinedHereError:
            defined[at] = False
    return defined


def _truth(metric: Metric, y: IntArray, score: FloatArray, cuts: FloatArray) -> FloatArray:
    counts = roc_counts(y, score, classes=[0, 1])
    at = np.searchsorted(counts.scores, cuts, side="left")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return np.asarray(metric(counts.confusions()[at]))
