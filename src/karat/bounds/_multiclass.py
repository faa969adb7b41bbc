"""More than two classes: sharp where the metric is linear given the margins, outer elsewhere."""

import numpy as np

from karat._typing import FloatArray
from karat.bounds._binary import NOTHING, binary_end, binary_ends, check_defined
from karat.bounds._problem import End, Ends, Limit, Problem
from karat.bounds._ratio import ratio_ends
from karat.exceptions import MetricError
from karat.metrics import LinearFractionalMetric, LinearMetric, Metric, recall
from karat.metrics.families import MCC, BalancedAccuracy, GMean, Macro

__all__ = ["linear_ends", "multiclass_ends"]


def linear_ends(problem: Problem, metric: LinearMetric, limit: Limit) -> Ends:
    """Bound a linear metric of any number of classes."""
    span = 2.0 * float(np.ptp(metric.weights))
    ends = []
    for side in (-1, 1):
        values = problem.values(metric.weights, side)
        mean = problem.sample.mean(values)
        ends.append(End(mean, mean + side * limit.reach(problem.sample, values, span)))
    return Ends(ends[0], ends[1])


def multiclass_ends(problem: Problem, metric: Metric, limit: Limit) -> Ends:
    """Bound the other metrics of more than two classes."""
    robust = problem.slack > 0
    if isinstance(metric, MCC) and not robust:
        return _correlation_ends(problem, limit)
    if isinstance(metric, BalancedAccuracy) and not robust:
        return _balanced_ends(problem, limit)
    if isinstance(metric, Macro | GMean | BalancedAccuracy):
        return _per_class_ends(problem, metric, limit)
    if isinstance(metric, MCC):
        raise MetricError(
            "MCC of more than two classes cannot be bounded with robustness, which moves its "
            "margins; use accuracy, macro or micro of a binary metric, or balanced accuracy"
        )
    raise MetricError(
        f"{metric.title} cannot be bounded for {problem.p.shape[1]} classes; use a linear or "
        "linear-fractional metric, macro or micro of a binary one, balanced accuracy, G-mean or MCC"
    )


def _end(problem: Problem, value: float, influence: FloatArray, side: int, limit: Limit) -> End:
    return End(value, value + side * limit.normal(problem.sample, influence))


def _correlation_ends(problem: Problem, limit: Limit) -> Ends:
    """MCC is linear in the accuracy once the margins t and p are fixed."""
    k = problem.p.shape[1]
    t, p = problem.truth, problem.predicted
    spread = (1 - p @ p) * (1 - t @ t)
    if spread <= NOTHING:
        raise MetricError("MCC is undefined here: one class takes all predictions, or all truth")
    ends = []
    for side in (-1, 1):
        values = problem.values(np.eye(k), side)
        value = (problem.sample.mean(values) - t @ p) / np.sqrt(spread)
        by_t = -p / np.sqrt(spread) + value * t / (1 - t @ t)
        by_p = -t / np.sqrt(spread) + value * p / (1 - p @ p)
        influence = values / np.sqrt(spread) + problem.truth_values() @ by_t + by_p
        ends.append(_end(problem, float(value), influence, side, limit))
    return Ends(ends[0], ends[1])


def _balanced_ends(problem: Problem, limit: Limit) -> Ends:
    """Balanced accuracy is linear once the class priors are fixed."""
    k = problem.p.shape[1]
    truth = problem.truth
    if truth.min() <= NOTHING:
        raise MetricError(
            f"balanced accuracy is undefined here: class {int(truth.argmin())} has prior 0"
        )
    gain = np.diag(1.0 / (k * truth))
    ends = []
    for side in (-1, 1):
        values = problem.values(gain, side)
        right = _right_at_optimum(problem, gain, side)
        influence = values + problem.truth_values() @ (-right / (k * truth**2))
        ends.append(_end(problem, problem.sample.mean(values), influence, side, limit))
    return Ends(ends[0], ends[1])


def _right_at_optimum(problem: Problem, gain: FloatArray, side: int) -> FloatArray:
    """Return P(Y=i, Ŷ=i) at the optimum: the value's slope in gain[i, i], as a difference."""
    alone = Problem(problem.sample, problem.p, problem.q[[0]], problem.slack)
    weight = problem.patterns[:, None] * problem.q[0]

    def value(some: FloatArray) -> float:
        return float(np.sum(weight * alone.values(some, side)[0]))

    here, step = value(gain), 1e-6
    slopes = [(value(gain + step * np.diag(row)) - here) / step for row in np.eye(len(gain))]
    return np.array(slopes)


def _per_class_ends(
    problem: Problem, metric: Macro | GMean | BalancedAccuracy, limit: Limit
) -> Ends:
    """Bound each class against the rest and combine: outer, since the classes cannot all be."""
    k = problem.p.shape[1]
    inner = metric.metric.for_classes(2) if isinstance(metric, Macro) else recall
    parts = [problem.one_vs_rest(c) for c in range(k)]
    for part in parts:
        check_defined(inner, float(part.truth[1]), float(part.predicted[1]))
    if problem.slack > 0:
        return _per_class_robust(parts, metric, inner, limit)
    ends = []
    for side in (-1, 1):
        per_class, influences = [], []
        for c, part in enumerate(parts):
            value, influence = binary_end(part, inner, side)
            per_class.append(value)
            # The binary influence of (not c, c) is that of each prediction that is not c, or c.
            influences.append(influence[..., [1 if j == c else 0 for j in range(k)]])
        total, slopes = _combined(np.array(per_class), metric)
        influence = np.tensordot(slopes, np.stack(influences), axes=1)
        ends.append(_end(problem, total, influence, side, limit))
    return Ends(ends[0], ends[1], sharp=False)


def _combined(values: FloatArray, metric: Metric) -> tuple[float, FloatArray]:
    """Return the mean, or for the G-mean the geometric mean, and its slope in each class."""
    k = len(values)
    if not isinstance(metric, GMean):
        return float(np.mean(values)), np.full(k, 1.0 / k)
    if values.min() <= 0:
        return 0.0, np.zeros(k)
    total = float(np.exp(np.mean(np.log(values))))
    return total, total / (k * values)


def _per_class_robust(parts: list[Problem], metric: Metric, inner: Metric, limit: Limit) -> Ends:
    """With a slack each class has its own worst label model; so the limits just add up."""
    each = [
        ratio_ends(part, inner, limit)
        if isinstance(inner, LinearFractionalMetric)
        else binary_ends(part, inner, limit)
        for part in parts
    ]
    lows, highs = (np.array([getattr(e, end) for e in each]).T for end in ("lower", "upper"))
    low, high = (End(*(_combined(v, metric)[0] for v in part)) for part in (lows, highs))
    return Ends(low, high, sharp=False)
