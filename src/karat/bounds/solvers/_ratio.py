"""A ratio of two linear metrics, by finding the level at which a linear bound changes sign.

``⟨N, C⟩ / (⟨D, C⟩ + c) ≤ t`` holds exactly when ``E (N − t·D)[Y, Ŷ] ≤ t·c``, and the left side has
a linear bound for every t. With its confidence limit instead of its mean, the same root is a
confidence limit: the test of each t is inverted.
"""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.bounds._problem import Bound, BoundPair, Limit, Problem
from karat.bounds.frechet import dual_values
from karat.bounds.solvers._binary import binary_bounds
from karat.metrics import LinearFractionalMetric

_TOLERANCE = 1e-10  # of the excess over the level
_STEP = 1e-6  # of the difference that stands for a slope; the excess is piecewise linear
_FAR = 1e6  # a level beyond this is no bound at all
_MAX_ITER = 60  # Newton's steps number about ten; bisection reaches rounding error after 60


class _Level(NamedTuple):
    """The level that Dinkelbach's iteration found, with its certificate."""

    level: float
    iterations: int
    gap: float


def ratio_bounds(problem: Problem, metric: LinearFractionalMetric, limit: Limit) -> BoundPair:
    """Bound a linear-fractional metric of any number of classes."""
    pair, levels = [], []
    near = None
    if limit.kind == "skew" and problem.p.shape[1] == 2:  # the whole metric can be drawn anew
        near = binary_bounds(problem, metric, limit)
    for side in (-1, 1):
        aim = _dinkelbach(problem, metric, side)
        value = _root(problem, metric, side, None, aim.level)
        if near is not None:
            end = value + (near.lower.limit - near.lower.value)
            if side > 0:
                end = value + (near.upper.limit - near.upper.value)
        elif limit.kind == "skew":
            end = value + side * _skew_distance(problem, metric, side, limit, value)
        else:
            end = _root(problem, metric, side, limit, value)
        pair.append(Bound(value, end))
        levels.append(aim)
    return BoundPair(
        pair[0],
        pair[1],
        iterations=max(a.iterations for a in levels),
        gap=max(a.gap for a in levels),
    )


def _gain(metric: LinearFractionalMetric, level: float) -> FloatArray:
    return metric.numerator - level * metric.denominator


def _dinkelbach(problem: Problem, metric: LinearFractionalMetric, side: int) -> _Level:
    """Solve the ratio as if q̂ of the first fold were the truth.

    The excess over the level is convex and piecewise linear in it, so Newton's steps end exactly;
    its slope, minus the denominator at the optimum, is a difference of two values.
    """
    alone = Problem(problem.sample, problem.p, problem.q[[0]], problem.slack)
    weight = problem.patterns[:, None] * problem.q[0]

    def excess(level: float) -> float:
        values = alone.values(_gain(metric, level), side)[0]
        return float(np.sum(weight * values)) - level * metric.constant

    level, gap = 0.0, np.inf
    for step in range(1, _MAX_ITER + 1):
        here = excess(level)
        gap = abs(here)
        slope = (excess(level + _STEP) - here) / _STEP
        if gap <= _TOLERANCE or slope >= 0:
            return _Level(level, step, gap)
        level -= here / slope
    return _Level(level, _MAX_ITER, gap)


def _root(
    problem: Problem, metric: LinearFractionalMetric, side: int, limit: Limit | None, start: float
) -> float:
    """Return the level at which the bound of the linear gain, or its limit, changes sign.

    The duals follow the level: for each level they come from q̂ alone, so its test is valid.
    Newton's steps take the slope at fixed duals, which is that of the optimum.
    """

    def excess(level: float, alpha: FloatArray) -> float:
        gain = side * _gain(metric, level)
        values = side * dual_values(gain, alpha, problem.p, problem.slack)
        span = 2.0 * float(np.ptp(gain))
        error = 0.0
        if limit is not None:
            error = side * limit.distance(problem.sample, values, span, side, span)
        return problem.sample.mean(values) + error - level * metric.constant

    level, low, high = start, -np.inf, np.inf
    for _ in range(_MAX_ITER):
        alpha = problem.duals(side * _gain(metric, level))
        here = excess(level, alpha)
        if not np.isfinite(here):
            return side * np.inf
        low, high = (level, high) if here > 0 else (low, level)
        slope = (excess(level + _STEP, alpha) - here) / _STEP
        step = -here / slope if slope < 0 else side * 1e-2
        if abs(step) <= _STEP * 1e-2:
            break
        new = level + step
        # Sampling error bends the line; stay between the levels that are known to be off.
        level = new if low < new < high else (low + high) / 2 if np.isfinite(high - low) else new
        if abs(level) > _FAR:
            return side * np.inf
    return float(level)


def _skew_distance(
    problem: Problem, metric: LinearFractionalMetric, side: int, limit: Limit, level: float
) -> float:
    """Return how far the limit is from the bound: the excess over the slope of its level."""
    alpha = problem.duals(side * _gain(metric, level))

    def values(at: float) -> FloatArray:
        gain = side * _gain(metric, at)
        return side * dual_values(gain, alpha, problem.p, problem.slack) - at * metric.constant

    here = values(level)
    slope = problem.sample.mean(values(level + _STEP) - here) / _STEP
    if slope >= 0:
        return np.inf
    gain = _gain(metric, level)
    worst = float(gain.max() if side > 0 else gain.min()) - level * metric.constant
    return limit.approximate(problem.sample, here / -slope, side, worst / -slope)
