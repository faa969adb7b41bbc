"""The tangent whose upper end is least: it touches the metric at its greatest attainable value."""

from typing import Any

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
from karat.metrics import FairMetric
from karat.metrics._group_metric import GroupMetric
from karat.metrics._off_diagonal import error_rates

__all__ = ["best_tangent", "extremes"]

_MAX_ITER = 200
_TOLERANCE = 1e-9


def best_tangent(problem: Problem, metric: GroupMetric, fold: int) -> tuple[Tangent, float]:
    """Return the tangent that is best if q̂ of a fold were true, and how far it is from the best.

    Any tangent gives a valid bound, so what q̂ is wrong about costs width and never validity. The
    attainable confusions of a group are a hull: of two points for two classes, and of points found
    one by one, where the tangent in hand is greatest, for more.
    """
    if not isinstance(metric, FairMetric):
        return _smooth_tangent(metric, extremes(problem, fold)), 0.0
    truth, weight = group_truth(problem), problem.patterns[None]
    points = extremes(problem, fold)
    gap = np.inf
    for _ in range(_MAX_ITER):
        tangent, here = _linear_program(metric, points)
        gains = tangent.gains(truth)
        new = group_plan(problem, gains, np.array([fold]), weight)
        gap = float(np.sum(gains * new)) - here
        if gap <= _TOLERANCE:
            break
        points = np.concatenate([points, new[:, None]], axis=1)
    return tangent, max(gap, 0.0)


def extremes(problem: Problem, fold: int) -> FloatArray:
    """Return the confusions of each group that are right most and least often, (m, 2, k, k)."""
    truth = group_truth(problem)
    eye = np.broadcast_to(np.eye(truth.shape[1]), (len(truth), *[truth.shape[1]] * 2))
    ends = [
        group_plan(problem, side * eye, np.array([fold]), problem.patterns[None])
        for side in (1, -1)
    ]
    return np.stack(ends, axis=1)


def _linear_program(metric: FairMetric, points: FloatArray) -> tuple[Tangent, float]:
    """Maximise the metric over mixtures of each group's points; return the tangent and the value.

    Variables are the shares of the points and the sizes of the gaps; the prices of
    ``−size ≤ gap ≤ size`` are the slopes of the tangent.
    """
    from scipy.optimize import linprog

    m, t, k = points.shape[:3]
    pairs, q = metric.violation.shape
    rates = error_rates(points)
    total = points[:, 0].sum(axis=(0, 2))  # P(Y=i), which is the same for every point
    cells = points[..., ~np.eye(k, dtype=bool)] / np.repeat(total, k - 1)
    by_pair = np.zeros((pairs, q, m, t))
    for p, (u, v) in enumerate(metric._pairs()):
        by_pair[p, :, u], by_pair[p, :, v] = rates[u].T, -rates[v].T
    gaps = by_pair.reshape(pairs * q, m * t)
    sizes = -np.eye(pairs * q)
    price = metric.tradeoff * metric.violation.ravel()
    done: Any = linprog(
        np.append((1 - metric.tradeoff) * (cells @ metric.cost).ravel(), price),
        A_ub=np.block([[gaps, sizes], [-gaps, sizes]]), b_ub=np.zeros(2 * pairs * q),
        A_eq=np.hstack([np.repeat(np.eye(m), t, axis=1), np.zeros((m, pairs * q))]),
        b_eq=np.ones(m),
    )  # fmt: skip
    above, below = done.ineqlin.marginals.reshape(2, pairs * q)
    slopes = np.clip(above - below, -price, price).reshape(pairs, q)
    return tangent_of_pairs(metric, slopes), -float(done.fun)


def _smooth_tangent(metric: GroupMetric, points: FloatArray) -> Tangent:
    """Maximise a smooth metric of two classes, where each group moves between two points."""
    from scipy.optimize import minimize

    first, way = points[:, 0], points[:, 1] - points[:, 0]

    def loss(mix: FloatArray) -> tuple[float, FloatArray]:
        stack = (first + mix[:, None, None] * way)[None]
        slope = metric._group_gradients(stack)[0]
        return -float(metric._group_values(stack)[0]), -np.sum(slope * way, axis=(1, 2))

    done: Any = minimize(
        loss, np.full(len(points), 0.5), jac=True, method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(points), options={"ftol": 1e-15, "gtol": 1e-10},
    )  # fmt: skip
    return tangent_at(metric, first + done.x[:, None, None] * way)
