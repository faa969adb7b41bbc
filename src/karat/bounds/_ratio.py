"""A ratio of two linear metrics, by finding the level at which a linear bound changes sign.

``⟨N, C⟩ / (⟨D, C⟩ + c) ≤ t`` holds exactly when ``E (N − t·D)[Y, Ŷ] ≤ t·c``, and the left side has
a linear bound for every t. With its confidence limit instead of its mean, the same root is a
confidence limit: the test of each t is inverted.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.bounds._kernels import dual_values
from karat.bounds._problem import End, Ends, Limit, Problem
from karat.metrics import LinearFractionalMetric

__all__ = ["ratio_ends"]

_TOLERANCE = 1e-10
_STEP = 1e-6
_MAX_ITER = 60


class _Level(NamedTuple):
    """The level that Dinkelbach's iteration found, with its certificate."""

    level: float
    iterations: int
    gap: float


def ratio_ends(problem: Problem, metric: LinearFractionalMetric, limit: Limit) -> Ends:
    """Bound a linear-fractional metric of any number of classes."""
    ends, levels = [], []
    for side in (-1, 1):
        aims = [_dinkelbach(problem, metric, side, fold) for fold in range(len(problem.q))]
        alpha = _duals_at(problem, metric, side, [aim.level for aim in aims])
        start = float(np.mean([aim.level for aim in aims]))
        margin = _margin(problem, metric, side, alpha)
        value = _root(partial(margin, limit=None), start)
        far = _root(partial(margin, limit=limit), value)
        ends.append(End(value, far))
        levels.extend(aims)
    return Ends(
        ends[0],
        ends[1],
        iterations=max(a.iterations for a in levels),
        gap=max(a.gap for a in levels),
    )


def _gain(metric: LinearFractionalMetric, level: float) -> FloatArray:
    return metric.numerator - level * metric.denominator


def _duals_at(
    problem: Problem, metric: LinearFractionalMetric, side: int, levels: list[float]
) -> FloatArray:
    """Return each fold's α at its own level, found without the fold's own predictions."""
    folds = [
        Problem(problem.sample, problem.p, problem.q[[f]], problem.slack).duals(
            side * _gain(metric, level)
        )[0]
        for f, level in enumerate(levels)
    ]
    return np.stack(folds)


def _margin(
    problem: Problem, metric: LinearFractionalMetric, side: int, alpha: FloatArray
) -> Callable[..., float]:
    """Return the function of t whose root is the bound, or with a limit the confidence limit."""
    span = 2.0 * float(np.ptp(metric.numerator) + np.ptp(metric.denominator))

    def margin(level: float, limit: Limit | None) -> float:
        gain = side * _gain(metric, level)
        values = side * dual_values(gain, alpha, problem.p, problem.slack)
        mean = problem.sample.mean(values)
        reach = 0.0 if limit is None else side * limit.reach(problem.sample, values, span)
        return mean + reach - level * metric.constant

    return margin


def _dinkelbach(problem: Problem, metric: LinearFractionalMetric, side: int, fold: int) -> _Level:
    """Solve the ratio as if q̂ of this fold were the truth.

    The excess over the level is convex and piecewise linear in it, so Newton's steps end exactly;
    its slope, minus the denominator at the optimum, is a difference of two values.
    """
    alone = Problem(problem.sample, problem.p, problem.q[[fold]], problem.slack)
    weight = problem.patterns[:, None] * problem.q[fold]

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


def _root(margin: Callable[[float], float], start: float) -> float:
    """Return the root of a decreasing function, by doubling steps and then Brent's method."""
    from scipy.optimize import brentq

    here = margin(start)
    if here == 0:
        return start
    direction = 1.0 if here > 0 else -1.0
    step = 1e-3
    far = start
    for _ in range(60):
        near, far = far, start + direction * step
        if direction * margin(far) <= 0:
            return float(brentq(margin, min(near, far), max(near, far), xtol=1e-12))
        step *= 2.0
    return direction * np.inf
