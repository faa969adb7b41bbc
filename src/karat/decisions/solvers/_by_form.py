"""One solver for each form of a metric."""

import warnings

import numpy as np

from karat._typing import FloatArray
from karat.decisions.solvers._columns import Columns
from karat.decisions.solvers._corrective import Smooth, climb
from karat.decisions.solvers._fair_program import fair_program
from karat.decisions.solvers._line_search import follow
from karat.decisions.solvers._polyhedral import Solution, solve
from karat.decisions.solvers._ratio import best_ratio
from karat.decisions.solvers._steep import climb_inside, is_steep
from karat.exceptions import UndefinedMetricWarning
from karat.metrics import MetricBase

__all__ = ["confusion_shape", "solution_of"]


def solution_of(
    metric: MetricBase, columns: Columns, *, tol: float, max_rounds: int = 400
) -> Solution:
    """Maximise a metric over mixtures of the columns, by the solver that its form allows."""
    function = _flat(metric, columns)
    if metric.form == "gaps":
        return solve(fair_program(metric, columns), columns, tol=tol, max_rounds=max_rounds)
    if metric.form == "ratio":
        return best_ratio(metric, columns, tol=tol, max_rounds=max_rounds)
    if metric.form == "linear":
        return _best_linear(function, columns)
    if metric.form == "concave":
        ascend = climb_inside if is_steep(function, columns) else climb
        return ascend(function, columns, tol=tol, max_rounds=max_rounds)
    return follow(function, columns, tol=tol, max_rounds=max_rounds)


def _best_linear(function: Smooth, columns: Columns) -> Solution:
    """Return the best rule of each block for the slope, which is the same everywhere."""
    middle = np.sum([points.mean(axis=0) for points in columns.points], axis=0)
    slope = function.slopes(middle[None])[0]
    columns.look(slope[None])
    shares = [np.eye(len(p))[i] for p, i in zip(columns.points, columns.best(slope), strict=True)]
    point = np.sum([s @ p for s, p in zip(shares, columns.points, strict=True)], axis=0)
    value = float(function.values(point[None])[0])
    return Solution(value, 0.0, shares, point, np.empty(0), slope, [value], [0.0])


def confusion_shape(metric: MetricBase, k: int) -> tuple[int, ...]:
    """Return the shape of the confusions of k classes that a metric takes."""
    return (k, k) if metric.n_groups is None else (metric.n_groups, k, k)


def _flat(metric: MetricBase, columns: Columns) -> Smooth:
    """Return the metric as a function of confusions that are written as rows."""
    groups = 1 if metric.n_groups is None else metric.n_groups
    shape = confusion_shape(metric, int(np.sqrt(columns.dim // groups)))
    first = np.sum([points[0] for points in columns.points], axis=0)
    if metric.n_groups is not None:
        metric._values(first.reshape(1, *shape))  # says so where a group lacks a class

    def values(points: FloatArray) -> FloatArray:
        with warnings.catch_warnings():  # conventions at the edge need no warning in a search
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return metric._values(points.reshape(-1, *shape))

    # A class that does not occur has no slope, and makes no difference.
    absent = (first.reshape(shape).sum(axis=-1, keepdims=True) == 0) & np.ones(shape, dtype=bool)

    def slopes(points: FloatArray) -> FloatArray:
        found = metric._gradients(points.reshape(-1, *shape))
        return np.where(absent, 0.0, found).reshape(len(points), -1)

    return Smooth(values, slopes)
