"""Maximise a ratio of two linear functions over what is attainable."""

import numpy as np

from karat._typing import FloatArray
from karat.decisions.solvers._columns import Columns
from karat.decisions.solvers._polyhedral import Solution
from karat.exceptions import MetricError
from karat.metrics import LinearFractionalMetric, MetricBase

__all__ = ["best_ratio"]

# A rise smaller than this share of what is added up is rounding.
_ROUNDING = 1e-13


def best_ratio(
    metric: MetricBase, columns: Columns, *, tol: float = 1e-9, max_rounds: int = 100
) -> Solution:
    """Maximise ``N(x) / D(x)`` by Dinkelbach's (1967) steps.

    At a value v that is attained, the rule that maximises ``N − v·D`` has a greater ratio, unless
    v is the greatest: then that maximum is 0. No rule is above v by more than that maximum over
    the least denominator. One rule of each block is enough; there is nothing to mix.
    """
    top, bottom, least = _parts(metric, columns)
    picked = columns.best(bottom)
    values: list[float] = []
    gaps: list[float] = []
    for _ in range(max_rounds):
        point = _sum(columns, picked)
        value = float(top @ point / (bottom @ point))
        slope = top - value * bottom
        (reached,), _ = columns.look(slope[None])
        rise = float(reached) - float(slope @ point)
        values.append(value)
        close = rise <= _ROUNDING * float((np.abs(top) + abs(value * bottom)) @ point)
        gaps.append(0.0 if close else rise / least if least > 0 else np.inf)
        found = columns.best(slope)
        if gaps[-1] <= tol or float(bottom @ _sum(columns, found)) <= 0 or found == picked:
            break
        if len(values) < max_rounds:
            picked = found
    if value < 0 and least <= 0:  # where the denominator is 0 the metric is 0, which is more
        picked, values, gaps = columns.best(-bottom), [*values, 0.0], [*gaps, 0.0]
    shares = [np.eye(len(p))[i] for p, i in zip(columns.points, picked, strict=True)]
    return Solution(
        values[-1], gaps[-1], shares, _sum(columns, picked), np.empty(0), slope, values, gaps
    )


def _parts(metric: MetricBase, columns: Columns) -> tuple[FloatArray, FloatArray, float]:
    """Return numerator and denominator, never negative, and the least denominator."""
    assert isinstance(metric, LinearFractionalMetric)
    top = metric.numerator.ravel()
    bottom = (metric.denominator + metric.constant).ravel()  # confusions sum to 1
    (least,), (most,) = -columns.look(-bottom[None])[0], columns.look(bottom[None])[0]
    size = max(abs(least), abs(most))
    if size == 0:
        raise MetricError(f"the denominator of {metric.title} is 0 for every classifier here")
    if most <= 1e-12 * size:
        top, bottom, least, most = -top, -bottom, -most, -least
    if least < -1e-12 * size:
        raise MetricError(
            f"the denominator of {metric.title} is negative for some classifiers and positive for "
            "others, so it has no greatest value"
        )
    return top / size, bottom / size, max(float(least / size), 0.0)


def _sum(columns: Columns, picked: list[int]) -> FloatArray:
    return np.asarray(sum(p[i] for p, i in zip(columns.points, picked, strict=True)))
