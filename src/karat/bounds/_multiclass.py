"""More than two classes: sharp where the metric is linear given the margins, outer elsewhere."""

import numpy as np

from karat._typing import FloatArray
from karat.bounds._binary import binary_end, check_defined
from karat.bounds._problem import End, Ends, Limit, Problem
from karat.exceptions import MetricError
from karat.metrics import LinearMetric, Metric, recall
from karat.metrics._averages import Macro
from karat.metrics._balanced_accuracy import BalancedAccuracy
from karat.metrics._g_mean import GMean
from karat.metrics._mcc import MCC

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
    if isinstance(metric, MCC):
        return _correlation_ends(problem, limit)
    if isinstance(metric, BalancedAccuracy):
        return _balanced_ends(problem, limit)
    if isinstance(metric, Macro | GMean):
        return _per_class_ends(problem, metric, limit)
    raise MetricError(
        f"{metric.title} cannot be bounded for {problem.p.shape[1]} classes; use a linear or "
        "linear-fractional metric, macro or micro of a binary one, balanced accuracy, G-mean or MCC"
    )


def _end(problem: Problem, value: float, influence: FloatArray, side: int, limit: Limit) -> End:
    return End(value, value + side * limit.quantile * problem.sample.moments(influence).error)


def _correlation_ends(problem: Problem, limit: Limit) -> Ends:
    """MCC is linear in the accuracy once the margins t and p are fixed."""
    k = problem.p.shape[1]
    t, p = problem.truth, problem.predicted
    spread = (1 - p @ p) * (1 - t @ t)
    if spread <= 0:
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
    if truth.min() <= 0:
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


def _per_class_ends(problem: Problem, metric: Macro | GMean, limit: Limit) -> Ends:
    """Bound each class against the rest and combine: outer, since the classes cannot all be."""
    k = problem.p.shape[1]
    inner = metric.metric if isinstance(metric, Macro) else recall
    ends = []
    for side in (-1, 1):
        per_class, influences = [], []
        for c in range(k):
            part = problem.one_vs_rest(c)
            check_defined(inner, float(part.truth[1]), float(part.predicted[1]))
            value, influence = binary_end(part, inner, side)
            per_class.append(value)
            # The binary influence of (not c, c) is that of each prediction that is not c, or c.
            influences.append(influence[..., [1 if j == c else 0 for j in range(k)]])
        values = np.clip(per_class, 1e-300, None)
        if isinstance(metric, Macro):
            total, slopes = float(np.mean(per_class)), np.full(k, 1.0 / k)
        else:
            total = float(np.exp(np.mean(np.log(values)))) if min(per_class) > 0 else 0.0
            slopes = total / (k * values)
        influence = np.tensordot(slopes, np.stack(influences), axes=1)
        ends.append(_end(problem, total, influence, side, limit))
    return Ends(ends[0], ends[1], sharp=False)
