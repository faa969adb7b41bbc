"""How much better one classifier can and must be than another, with no labels."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import check_rng
from karat.bounds._binary import BASE, BOTH, SHOWN, TRUTH, check_defined, slope_at
from karat.bounds._build import Predictions, build_problem, read_predictions
from karat.bounds._deferred_check import DeferredCheck
from karat.bounds._inputs import read_gold, read_inputs
from karat.bounds._options import check_limit, check_method, check_metric, check_prior, check_slack
from karat.bounds._problem import End, Ends, Limit, Problem
from karat.bounds._sample import Sample
from karat.bounds._solve import metric_range, solve
from karat.bounds._truth import truth_of
from karat.bounds.result import DifferenceBounds
from karat.exceptions import DataError, UndefinedMetricWarning
from karat.metrics import LinearMetric, Metric
from karat.statistics import Patterns

__all__ = ["difference_bounds"]


def difference_bounds(
    y_pred_a: Column,
    y_pred_b: Column,
    weak_labels: Frame | Patterns,
    label_model: Any,
    *,
    metric: str | Metric,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "normal",
    classes: Column | None = None,
    pos_label: Any = None,
    class_prior: Column | None = None,
    clusters: Column | None = None,
    sample_weight: Column | None = None,
    robustness: float = 0.0,
    y_true: Column | None = None,
    null: str = "not asked",
    rng: int | np.random.Generator | None = None,
) -> DifferenceBounds:
    """Bound metric(a) − metric(b) from the same items; where both agree, they cancel.

    Sharp for metrics that are linear given the margins (linear ones for any number of classes;
    precision, recall, F, balanced accuracy and MCC for two); for others the difference of the
    separate bounds, marked as not sharp.

    Parameters
    ----------
    y_pred_a, y_pred_b : column (n,)
        Predicted labels of the two classifiers.
    weak_labels, label_model, metric, method, confidence, limit, classes, pos_label, class_prior
        As in `performance_bounds`.
    clusters, sample_weight, robustness, y_true, null, rng
        As in `performance_bounds`.

    Returns
    -------
    DifferenceBounds

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2000)
    >>> votes = np.where(rng.random((2000, 9)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> a, b = (np.where(rng.random(2000) < right, truth, 1 - truth) for right in (0.95, 0.6))
    >>> d = difference_bounds(a, b, votes, DawidSkene(rng=0).fit(votes), metric="accuracy", rng=0)
    >>> bool(d.lower_limit > 0)
    True
    """
    chosen = check_metric(metric)
    inputs = read_inputs(
        {"y_pred_a": y_pred_a, "y_pred_b": y_pred_b}, weak_labels, label_model, classes=classes,
        pos_label=pos_label, sample_weight=sample_weight, clusters=clusters, null=null,
    )  # fmt: skip
    k = len(inputs.classes)
    both = [
        read_predictions(y_pred_a, inputs, "y_pred_a"),
        read_predictions(y_pred_b, inputs, "y_pred_b"),
    ]
    if any(one.codes is None for one in both):
        raise DataError(
            "difference_bounds compares predicted labels; pass labels, not probabilities"
        )
    rule = check_limit(
        limit, confidence, weighted=not (inputs.weight is None and inputs.cluster is None)
    )
    way, slack = check_method(method), check_slack(robustness)
    prior = check_prior(class_prior, inputs)
    gold = read_gold(y_true, inputs.classes, inputs.n)
    a, b = (np.asarray(one.codes) for one in both)
    pair = build_problem(
        inputs, Predictions(a * k + b), n_outcomes=k * k, method=way, rng=check_rng(rng),
        slack=slack, prior=prior,
    )  # fmt: skip
    ends = _ends(pair, chosen.for_classes(k), rule, k)
    truths = [truth_of(chosen, inputs, one, gold) for one in both]
    low, high = metric_range(chosen.for_classes(k))
    lower, upper, lower_limit, upper_limit = np.clip(
        [ends.lower.value, ends.upper.value, ends.lower.limit, ends.upper.limit],
        low - high, high - low,
    )  # fmt: skip
    return DifferenceBounds(
        metric=chosen,
        lower=float(lower),
        upper=float(max(upper, lower)),
        lower_limit=float(min(lower_limit, lower)),
        upper_limit=float(max(upper_limit, upper, lower)),
        method=way,
        n=inputs.n,
        confidence=rule.confidence,
        agree=float(np.average(a == b, weights=inputs.weight)),
        sharp=ends.sharp,
        truth=None if None in truths else float(truths[0] - truths[1]),  # type: ignore[operator]
        deferred_check=DeferredCheck.of(inputs, label_model, prior, gold),
    )


def _ends(pair: Problem, metric: Metric, limit: Limit, k: int) -> Ends:
    if isinstance(metric, LinearMetric):
        gain = metric.weights[:, :, None] - metric.weights[:, None, :]
        return _linear_ends(pair, gain.reshape(k, k * k), limit)
    alone = [_alone(pair, k, which) for which in (0, 1)]
    if k == 2 and limit.kind == "normal" and pair.slack == 0:
        lines = [_line(one, metric) for one in alone]
        if all(line is not None for line in lines):
            return _margin_linear_ends(pair, alone, metric, limit)
    if limit.kind == "bernstein":  # two limits share the error
        limit = Limit(limit.kind, (1 + limit.confidence) / 2)
    first, second = (solve(one, metric, limit) for one in alone)
    return Ends(
        End(first.lower.value - second.upper.value, first.lower.limit - second.upper.limit),
        End(first.upper.value - second.lower.value, first.upper.limit - second.lower.limit),
        sharp=False,
    )


def _linear_ends(pair: Problem, gain: FloatArray, limit: Limit) -> Ends:
    span = 2.0 * float(np.ptp(gain))
    ends = []
    for side in (-1, 1):
        values = pair.values(gain, side)
        mean = pair.sample.mean(values)
        ends.append(End(mean, mean + side * limit.reach(pair.sample, values, span)))
    return Ends(ends[0], ends[1])


def _alone(pair: Problem, k: int, which: int) -> Problem:
    """Return the problem of one of the two classifiers."""

    def fold(a: FloatArray) -> FloatArray:
        return np.asarray(a.reshape(*a.shape[:-1], k, k).sum(axis=-1 if which == 0 else -2))

    rows = pair.sample.rows
    if rows is not None:
        codes = rows.predicted // k if which == 0 else rows.predicted % k
        rows = replace(rows, predicted=codes)
    sample = Sample(fold(pair.sample.counts), fold(pair.sample.squares), rows)
    return Problem(sample, pair.p, fold(pair.q), pair.slack, pair.prior)


def _line(problem: Problem, metric: Metric) -> float | None:
    """Return the slope of the metric in TP, if it is a straight line given the margins."""
    share, called = float(problem.truth[1]), float(problem.predicted[1])
    check_defined(metric, share, called)
    ends = max(0.0, share + called - 1), min(share, called)
    tps = np.linspace(*ends, 5)[:, None, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = np.asarray(
            metric(np.maximum(BASE + share * TRUTH + called * SHOWN + tps * BOTH, 0.0))
        )
    steps = np.diff(values)
    if np.ptp(steps) > 1e-9 or ends[1] <= ends[0]:
        return None
    return float(steps.sum() / (ends[1] - ends[0]))


def _margin_linear_ends(pair: Problem, alone: list[Problem], metric: Metric, limit: Limit) -> Ends:
    """Both metrics are lines in their TP, so the difference is a linear gain of (Y, a, b)."""
    slopes = [float(_line(one, metric) or 0.0) for one in alone]
    gain = np.zeros((2, 4))
    gain[1] = [slopes[0] * a - slopes[1] * b for a in (0, 1) for b in (0, 1)]
    ends = []
    for side in (-1, 1):
        values = pair.values(gain, side)
        total, influence = 0.0, values.copy()
        for which, (one, sign) in enumerate(zip(alone, (1, -1), strict=True)):
            shown = np.array([[0, 0, 1, 1], [0, 1, 0, 1]][which], dtype=float)
            # TP at the optimum is the value's slope in the gain of a true positive.
            more = gain + 1e-6 * np.stack([np.zeros(4), shown])
            tp = pair.sample.mean(pair.values(more, side) - values) / 1e-6
            share, called = float(one.truth[1]), float(one.predicted[1])
            tp = float(np.clip(tp, max(0.0, share + called - 1), min(share, called)))
            table = np.maximum(BASE + share * TRUTH + called * SHOWN + tp * BOTH, 0.0)
            slope = slope_at(metric, table)
            parts = [float(np.sum(slope * part)) for part in (TRUTH, SHOWN)]
            total += sign * (float(metric(table)) - slopes[which] * tp)
            influence += sign * (parts[0] * one.truth_values()[..., 1] + parts[1] * shown)
        mean = total + pair.sample.mean(values)
        reach = limit.normal(pair.sample, influence)
        ends.append(End(mean, mean + side * reach))
    return Ends(ends[0], ends[1])
