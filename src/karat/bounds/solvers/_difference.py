"""The difference of a metric between two classifiers, from their joint predictions."""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.bounds.problem import Bound, BoundPair, Limit, Problem, Sample
from karat.bounds.solvers._binary import (
    PREDICTED,
    TRUTH,
    check_defined,
    confusion_at,
    slope_at,
)
from karat.bounds.solvers._multiclass import linear_bounds
from karat.bounds.solvers._solve import solve
from karat.exceptions import UndefinedMetricWarning
from karat.metrics import LinearMetric, Metric

__all__ = ["difference_bound_pair", "solved_difference"]


def difference_bound_pair(joint: Problem, metric: Metric, limit: Limit) -> BoundPair:
    """Bound metric(a) − metric(b), where the predictions of ``joint`` are the codes a·k + b."""
    k = joint.p.shape[1]
    if isinstance(metric, LinearMetric):
        gain = metric.weights[:, :, None] - metric.weights[:, None, :]
        return linear_bounds(joint, gain.reshape(k, k * k), limit)
    alone = [_alone(joint, k, which) for which in (0, 1)]
    if k == 2 and limit.kind != "bernstein" and joint.slack == 0:
        slopes = [s for one in alone if (s := _slope_in_tp(one, metric)) is not None]
        if len(slopes) == 2:
            return _margin_linear_bounds(joint, alone, metric, slopes, limit)
    if limit.kind == "bernstein":  # two limits share the error
        limit = Limit(limit.kind, (1 + limit.confidence) / 2)
    first, second = (solve(one, metric, limit) for one in alone)
    return BoundPair(
        Bound(first.lower.value - second.upper.value, first.lower.limit - second.upper.limit),
        Bound(first.upper.value - second.lower.value, first.upper.limit - second.lower.limit),
        sharp=False,
    )


def _alone(joint: Problem, k: int, which: int) -> Problem:
    """Return the problem of one of the two classifiers."""

    def fold(a: FloatArray) -> FloatArray:
        return np.asarray(a.reshape(*a.shape[:-1], k, k).sum(axis=-1 if which == 0 else -2))

    rows = joint.sample.rows
    if rows is not None:
        codes = rows.predicted // k if which == 0 else rows.predicted % k
        rows = replace(rows, predicted=codes)
    sample = Sample(fold(joint.sample.counts), fold(joint.sample.squares), rows)
    return Problem(sample, joint.p, fold(joint.q), joint.slack, joint.prior)


def _slope_in_tp(problem: Problem, metric: Metric) -> float | None:
    """Return the slope of the metric in TP if it is a straight line given the margins, or None."""
    truth, predicted = float(problem.truth[1]), float(problem.predicted[1])
    check_defined(metric, truth, predicted)
    least, most = max(0.0, truth + predicted - 1), min(truth, predicted)
    tps = np.linspace(least, most, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = np.asarray(metric(confusion_at(truth, predicted, tps)))
    steps = np.diff(values)
    if np.ptp(steps) > 1e-9 or most <= least:
        return None
    return float(steps.sum() / (most - least))


def _margin_linear_bounds(
    joint: Problem, alone: list[Problem], metric: Metric, slopes: list[float], limit: Limit
) -> BoundPair:
    """Bound a metric that is a line in TP given the margins.

    Then the difference is a linear gain of (Y, a, b), plus terms of the margins alone.
    """
    gain = np.zeros((2, 4))
    gain[1] = [slopes[0] * a - slopes[1] * b for a in (0, 1) for b in (0, 1)]
    positive = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])  # a, and b, of each pair
    pair = []
    for side in (-1, 1):
        values = joint.values(gain, side)
        total, influence = 0.0, values.copy()
        for one, own, slope, sign in zip(alone, positive, slopes, (1, -1), strict=True):
            tp = _tp_at_optimum(joint, gain, own, side, values)
            truth, predicted = float(one.truth[1]), float(one.predicted[1])
            tp = float(np.clip(tp, max(0.0, truth + predicted - 1), min(truth, predicted)))
            table = confusion_at(truth, predicted, tp)
            gradient = slope_at(metric, table)
            by_truth, by_predicted = (float(np.sum(gradient * at)) for at in (TRUTH, PREDICTED))
            total += sign * (float(metric(table)) - slope * tp)
            influence += sign * (by_truth * one.truth_values()[..., 1] + by_predicted * own)
        mean = total + joint.sample.mean(values)
        distance = limit.approximate(joint.sample, influence, side)
        pair.append(Bound(mean, mean + side * distance))
    return BoundPair(pair[0], pair[1])


def _tp_at_optimum(
    joint: Problem, gain: FloatArray, own: FloatArray, side: int, values: FloatArray
) -> float:
    """Return one classifier's TP at the optimum: the value's slope in the gain of its TP."""
    step = 1e-6  # small enough to stay on one linear piece, large enough for rounding errors
    more = gain + step * np.stack([np.zeros(4), own])
    return joint.sample.mean(joint.values(more, side) - values) / step


class SolvedDifference(NamedTuple):
    """Bounds of a difference with their limits, a guess, and whether they are sharp."""

    lower: float
    upper: float
    lower_limit: float
    upper_limit: float
    estimate: float
    sharp: bool


def solved_difference(
    joint: Problem, metric: Metric, rule: Limit, reach: float
) -> SolvedDifference:
    """Return the bounds of a difference that is at most ``reach``, in order."""
    pair = difference_bound_pair(joint, metric, rule)
    lower, upper, lower_limit, upper_limit = np.clip(
        [pair.lower.value, pair.upper.value, pair.lower.limit, pair.upper.limit], -reach, reach
    ).tolist()
    return SolvedDifference(
        lower, max(upper, lower), min(lower_limit, lower), max(upper_limit, upper, lower),
        _guess(joint, metric), pair.sharp,
    )  # fmt: skip


def _guess(joint: Problem, metric: Metric) -> float:
    """Return the difference if predictions and truth were independent given the weak labels."""
    k = joint.p.shape[1]
    counts = joint.sample.counts.sum(axis=0)
    cube = (joint.p.T @ counts / counts.sum()).reshape(k, k, k)  # truth, first, second
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(metric(cube.sum(axis=2))) - float(metric(cube.sum(axis=1)))
