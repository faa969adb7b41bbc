"""More than two classes: sharp where the metric is linear given the margins, outer elsewhere."""

import numpy as np

from karat._typing import FloatArray
from karat.bounds.problem import Bound, BoundPair, Limit, Problem
from karat.bounds.solvers._binary import ROUNDING, binary_bound, binary_bounds, check_defined
from karat.bounds.solvers._ratio import ratio_bounds
from karat.bounds.transport import best_matches
from karat.exceptions import MetricError
from karat.metrics import LinearFractionalMetric, Metric, PowerMeanMetric, recall
from karat.metrics.families import (
    MCC,
    BalancedAccuracy,
    GMean,
    Macro,
    power_mean,
    power_mean_slopes,
)

__all__ = ["linear_bounds", "multiclass_bounds"]


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


def multiclass_bounds(problem: Problem, metric: Metric, limit: Limit) -> BoundPair:
    """Bound the other metrics of more than two classes."""
    robust = problem.slack > 0
    if isinstance(metric, MCC) and not robust:
        return _mcc_bounds(problem, limit)
    if isinstance(metric, PowerMeanMetric) and metric.decreasing:
        return _negated(
            multiclass_bounds(problem, PowerMeanMetric(metric.weights, metric.power), limit)
        )
    means = isinstance(metric, BalancedAccuracy | PowerMeanMetric)
    if means and metric.form == "linear" and not robust:
        return _mean_recall_bounds(problem, metric, limit)
    if isinstance(metric, Macro | GMean | BalancedAccuracy | PowerMeanMetric):
        return _per_class_bounds(problem, metric, limit)
    if isinstance(metric, MCC):
        raise MetricError(
            "MCC of more than two classes cannot be bounded with robustness, which moves its "
            "margins; use accuracy, macro or micro of a binary metric, or balanced accuracy"
        )
    raise MetricError(
        f"{metric.title} cannot be bounded for {problem.p.shape[1]} classes; use a linear or "
        "linear-fractional metric, macro or micro of a binary one, balanced accuracy, G-mean, a "
        "power mean of recalls or MCC"
    )


def _negated(pair: BoundPair) -> BoundPair:
    """Return the bounds of minus the metric."""
    lower, upper = (Bound(-b.value, -b.limit) for b in (pair.upper, pair.lower))
    return pair._replace(lower=lower, upper=upper)


def _bound(problem: Problem, value: float, influence: FloatArray, side: int, limit: Limit) -> Bound:
    return Bound(value, value + side * limit.approximate(problem.sample, influence, side))


def _mcc_bounds(problem: Problem, limit: Limit) -> BoundPair:
    """MCC is linear in the accuracy once the margins t and p are fixed."""
    k = problem.p.shape[1]
    t, p = problem.truth, problem.predicted
    spread = (1 - p @ p) * (1 - t @ t)
    if spread <= ROUNDING:
        raise MetricError("MCC is undefined here: one class takes all predictions, or all truth")
    pair = []
    for side in (-1, 1):
        values = problem.values(np.eye(k), side)
        value = (problem.sample.mean(values) - t @ p) / np.sqrt(spread)
        by_t = -p / np.sqrt(spread) + value * t / (1 - t @ t)
        by_p = -t / np.sqrt(spread) + value * p / (1 - p @ p)
        influence = values / np.sqrt(spread) + problem.truth_values() @ by_t + by_p
        pair.append(_bound(problem, float(value), influence, side, limit))
    return BoundPair(pair[0], pair[1])


def _mean_recall_bounds(problem: Problem, metric: Metric, limit: Limit) -> BoundPair:
    """Balanced accuracy, or a weighted mean of recalls, is linear once the priors are fixed."""
    k = problem.p.shape[1]
    weights = metric.weights if isinstance(metric, PowerMeanMetric) else np.full(k, 1.0 / k)
    truth = np.where(weights > 0, problem.truth, 1.0)
    if truth.min() <= ROUNDING:
        raise MetricError(
            f"{metric.title} is undefined here: class {int(truth.argmin())} has prior 0"
        )
    gain = np.diag(weights / truth)
    pair = []
    for side in (-1, 1):
        values = problem.values(gain, side)
        right = _right_at_optimum(problem, gain, side)
        influence = values + problem.truth_values() @ (-right * weights / truth**2)
        pair.append(_bound(problem, problem.sample.mean(values), influence, side, limit))
    return BoundPair(pair[0], pair[1])


def _right_at_optimum(problem: Problem, gain: FloatArray, side: int) -> FloatArray:
    """Return P(Y=i, Ŷ=i) at the optimum, as if q̂ of the first fold were the truth."""
    return problem.patterns @ best_matches(side * gain, problem.q[0], problem.p)


def _per_class_bounds(
    problem: Problem, metric: Macro | GMean | BalancedAccuracy | PowerMeanMetric, limit: Limit
) -> BoundPair:
    """Bound each class against the rest and average the bounds.

    Conservative, so not sharp: the worst cases of all classes cannot occur together.
    """
    k = problem.p.shape[1]
    inner = metric.metric.for_classes(2) if isinstance(metric, Macro) else recall
    parts = [problem.one_vs_rest(c) for c in range(k)]
    for part in parts:
        check_defined(inner, float(part.truth[1]), float(part.predicted[1]))
    if problem.slack > 0:
        return _per_class_robust(parts, metric, inner, limit)
    pair = []
    for side in (-1, 1):
        per_class, influences = [], []
        for c, part in enumerate(parts):
            value, influence, _ = binary_bound(part, inner, side)
            per_class.append(value)
            # The binary influence of (not c, c) is that of each prediction that is not c, or c.
            influences.append(influence[..., [1 if j == c else 0 for j in range(k)]])
        total, slopes = _combined(np.array(per_class), metric)
        influence = np.tensordot(slopes, np.stack(influences), axes=1)
        pair.append(_bound(problem, total, influence, side, limit))
    return BoundPair(pair[0], pair[1], sharp=False)


def _combined(values: FloatArray, metric: Metric) -> tuple[float, FloatArray]:
    """Return the mean of the metric's kind, and its slope in each class.

    A class that is never found has no finite slope; its recall cannot fall any further.
    """
    k = len(values)
    if not isinstance(metric, GMean | PowerMeanMetric):
        return float(np.mean(values)), np.full(k, 1.0 / k)
    even, power = np.full(k, 1.0 / k), 0.0
    weights, rho = (even, power) if isinstance(metric, GMean) else (metric.weights, metric.power)
    found = np.maximum(values, 0.0)
    slopes = power_mean_slopes(found, weights, rho)
    return float(power_mean(found, weights, rho)), np.where(np.isfinite(slopes), slopes, 0.0)


def _per_class_robust(
    parts: list[Problem], metric: Metric, inner: Metric, limit: Limit
) -> BoundPair:
    """Bound each class with its own worst label model within the slack, and average the limits."""
    each = [
        ratio_bounds(part, inner, limit)
        if isinstance(inner, LinearFractionalMetric)
        else binary_bounds(part, inner, limit)
        for part in parts
    ]
    lows, highs = (np.array([getattr(e, end) for e in each]).T for end in ("lower", "upper"))
    low, high = (Bound(*(_combined(v, metric)[0] for v in part)) for part in (lows, highs))
    return BoundPair(low, high, sharp=False)
