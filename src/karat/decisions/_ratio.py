"""Maximise a ratio of two linear functions over what is attainable."""

import numpy as np

from karat._typing import FloatArray
from karat.decisions._columns import Columns
from karat.decisions._polyhedral import Solution
from karat.exceptions import MetricError
from karat.metrics import LinearFractionalMetric, MetricBase

__all__ = ["best_ratio"]


def best_ratio(
    metric: MetricBase, columns: Columns, *, tol: float = 1e-9, max_rounds: int = 100
) -> Solution:
    """Maximise ``N(x) / D(x)`` by Dinkelbach's (1967) steps.

    At a value v that is attained, the rule that maximises ``N − v·D`` has a greater ratio, unless
    v is the greatest: then that maximum is 0. No rule is above v by more than that maximum over
    the least denominator. One rule of each block is enough; there is nothing to mix.
    """
    assert isinstance(metric, LinearFractionalMetric)
    top = metric.numerator.ravel()
    bottom = (metric.denominator + metric.constant).ravel()  # confusions sum to 1
    least = -float(columns.look(-bottom[None])[0][0])
    most = float(columns.look(bottom[None])[0][0])
    if most <= 0:
        top, bottom, least, most = -top, -bottom, -most, -least
    if least < -1e-12:
        raise MetricError(
            f"the denominator of {metric.title} is negative for some classifiers and positive for "
            "others, so it has no greatest value"
        )
    picked, value = _best_known(columns, top, bottom)
    values: list[float] = []
    gaps: list[float] = []
    for _ in range(max_rounds):
        slope = top - value * bottom
        (reached,), _ = columns.look(slope[None])
        values.append(value)
        # A rule with a greater ratio has a denominator of at least `least`; the greatest ratio is
        # also no greater than by that bound at the denominator of what was found.
        gaps.append(float(max(reached, 0.0) / max(least, 1e-300)))
        if reached <= max(tol * max(least, 1e-12), 1e-15):
            break
        found = columns.best(slope)
        point = _sum(columns, found)
        new = float(top @ point / (bottom @ point)) if bottom @ point > 0 else value
        if new <= value:
            break
        picked, value = found, new
    shares = [np.eye(len(p))[i] for p, i in zip(columns.points, picked, strict=True)]
    gap = gaps[-1] if reached > 1e-15 else 0.0
    return Solution(
        value, gap, shares, _sum(columns, picked), np.empty(0), slope, values, [*gaps[:-1], gap]
    )


def _sum(columns: Columns, picked: list[int]) -> FloatArray:
    return np.asarray(sum(p[i] for p, i in zip(columns.points, picked, strict=True)))


def _best_known(columns: Columns, top: FloatArray, bottom: FloatArray) -> tuple[list[int], float]:
    """Return a rule of each block with a positive denominator, and the ratio of their sum."""
    picked = columns.best(bottom)
    point = _sum(columns, picked)
    return picked, float(top @ point / (bottom @ point))
