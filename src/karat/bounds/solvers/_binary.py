"""Two classes, any metric: given the margins, the confusion is a function of TP alone."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.bounds.problem import Bound, BoundPair, Limit, Problem
from karat.exceptions import UndefinedHereError, UndefinedMetricWarning
from karat.metrics import Metric

__all__ = [
    "BASE",
    "PREDICTED",
    "ROUNDING",
    "TRUE_POSITIVE",
    "TRUTH",
    "BinaryBound",
    "binary_bound",
    "binary_bounds",
    "check_defined",
    "confusion_at",
    "slope_at",
]

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
                f"{100 * predicted:.3g} % and expected for {100 * truth:.3g} % of the items. "
                "Choose another metric, threshold or pos_label"
            ) from None
