"""The tangent whose upper end is least: it touches the metric at its greatest attainable value."""

import numpy as np

from karat._typing import FloatArray
from karat.bounds._problem import Problem
from karat.bounds._tangents import (
    Tangent,
    group_plan,
    group_truth,
    tangent_at,
    tangent_of_pairs,
)
from karat.decisions.solvers import Columns, Oracle, solution_of
from karat.metrics import GroupMetric

__all__ = ["best_tangent", "extremes"]

_TOLERANCE = 1e-9


def best_tangent(problem: Problem, metric: GroupMetric, fold: int) -> tuple[Tangent, float]:
    """Return the tangent that is best if q̂ of a fold were true, and how far it is from the best.

    Any tangent gives a valid bound, so what q̂ is wrong about costs width and never validity. What
    each group can attain is a convex set, and the metric is maximised over their sum.
    """
    k, m = metric.n_classes, metric.n_groups
    first = np.stack([side * np.tile(np.eye(k), (m, 1, 1)) for side in (1.0, -1.0)])
    columns = Columns(_plans(problem, fold, (m, k, k)), first.reshape(2, -1))
    found = solution_of(metric, columns, tol=_TOLERANCE)
    if metric.form != "gaps":
        return tangent_at(metric, found.point.reshape(m, k, k)), found.gap
    price = metric.tradeoff * metric.violation
    if found.prices is None:  # no linear program was needed: gaps cost nothing
        return tangent_of_pairs(metric, np.zeros(price.shape)), found.gap
    above, below = found.prices.reshape(2, *price.shape)
    return tangent_of_pairs(metric, np.clip(below - above, -price, price)), found.gap


def _plans(problem: Problem, fold: int, shape: tuple[int, ...]) -> Oracle:
    """Return the oracle of what each group can attain: couplings of greatest gain."""

    def best(directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        points = np.zeros((len(directions), shape[0], *shape))
        for point, direction in zip(points, directions, strict=True):
            plans = group_plan(
                problem, direction.reshape(shape), np.array([fold]), problem.patterns[None]
            )
            point[np.arange(shape[0]), np.arange(shape[0])] = plans
        flat = points.reshape(len(directions), shape[0], -1)
        return flat, flat

    return best


def extremes(problem: Problem, fold: int) -> FloatArray:
    """Return the confusions of each group that are right most and least often, (m, 2, k, k)."""
    truth = group_truth(problem)
    eye = np.broadcast_to(np.eye(truth.shape[1]), (len(truth), *[truth.shape[1]] * 2))
    ends = [
        group_plan(problem, side * eye, np.array([fold]), problem.patterns[None])
        for side in (1, -1)
    ]
    return np.stack(ends, axis=1)
