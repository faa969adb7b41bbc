"""Linear functions of the error rates of groups that are nowhere below a metric of groups.

The metric is concave in the rates, so with the slopes of any such tangent

    metric ≤ ⟨overall, r⟩ + Σ_g ⟨own[g], r^g⟩ + constant,

and since ``r^g[i, j] = C^g[i, j] / P(G=g, Y=i)`` the right side is a linear gain of each group's
confusion, which is bounded as every linear gain is.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.bounds.problem import Problem
from karat.bounds.transport import best_duals, best_plans, dual_values
from karat.decisions.solvers import Columns, Oracle, solution_of
from karat.metrics import GroupMetric
from karat.metrics.rates import with_zero_diagonal

__all__ = [
    "Tangent",
    "TangentBound",
    "best_tangent",
    "extreme_confusions",
    "group_truth",
    "tangent_at",
    "tangent_bound",
    "tangent_of_pairs",
]

_TOLERANCE = 1e-9  # of the greatest attainable value; far below any confidence limit


class Tangent(NamedTuple):
    """Slopes in the rates of all (k, k) and of each group (m, k, k), 0 on the diagonals."""

    overall: FloatArray
    own: FloatArray
    constant: float = 0.0

    def gains(self, truth: FloatArray) -> FloatArray:
        """Return the gain of each group, (m, k, k), where ``truth[g, i] = P(G=g, Y=i)``."""
        return np.asarray(self.overall / truth.sum(axis=0)[:, None] + self.own / truth[:, :, None])


class TangentBound(NamedTuple):
    """A bound of a tangent, and the influence of each (fold, pattern, prediction) on it."""

    value: float
    influence: FloatArray


def tangent_of_pairs(metric: GroupMetric, slopes: FloatArray, constant: float = 0.0) -> Tangent:
    """Return the tangent with these slopes (pairs, q) in the gaps between pairs of groups."""
    own = np.zeros((metric.n_groups, len(metric.cost)))
    for (u, v), slope in zip(metric._pairs(), slopes, strict=True):
        own[u] += slope
        own[v] -= slope
    overall = with_zero_diagonal(-(1 - metric.tradeoff) * metric.cost)
    return Tangent(overall, with_zero_diagonal(own), constant)


def tangent_at(metric: GroupMetric, confusions: FloatArray) -> Tangent:
    """Return the tangent at the confusions of the groups, (m, k, k)."""
    gaps = metric._parts(confusions[None])[2]
    slopes = metric._violation_slopes(gaps)
    rise = float(np.sum(slopes * gaps) - metric._violations(gaps)[0])
    return tangent_of_pairs(metric, -metric.tradeoff * slopes[0], metric.tradeoff * rise)


def group_truth(problem: Problem) -> FloatArray:
    """Return P(G=g, Y=i) by the label model, (m, k)."""
    group = np.asarray(problem.group)
    own = problem.patterns[:, None] * problem.p
    return np.stack([own[group == g].sum(axis=0) for g in range(group.max() + 1)])


def _group_plan(
    problem: Problem, gains: FloatArray, folds: IntArray, weight: FloatArray
) -> FloatArray:
    """Return the confusions of greatest gain if q̂ of some folds were true, (m, k, k).

    ``weight`` is the share of each pattern in each of the folds.
    """
    tables, k = np.zeros(gains.shape), problem.p.shape[1]
    for g, gain in enumerate(gains):
        own = np.flatnonzero(problem.group == g)
        q = problem.q[np.ix_(folds, own)].reshape(-1, k)
        plans = best_plans(gain, q, np.tile(problem.p[own], (len(folds), 1)))
        tables[g] = np.tensordot(weight[:, own].ravel(), plans, axes=1)
    return tables


def tangent_bound(problem: Problem, tangents: Sequence[Tangent], side: int) -> TangentBound:
    """Return the upper (1) or lower (−1) bound of a tangent; ``tangents`` holds one per fold.

    P(G=g, Y=i) stands in the denominators of the rates, so the influence includes its error.
    """
    group, truth = np.asarray(problem.group), group_truth(problem)
    total = truth.sum(axis=0)
    values = np.zeros(problem.sample.counts.shape)
    by_total, by_own = np.zeros(total.shape), np.zeros(truth.shape)
    for folds, tangent in _batches(tangents):
        gains = tangent.gains(truth)
        for g, gain in enumerate(gains):
            if gain.any():
                own = np.flatnonzero(group == g)
                at, p = np.ix_(folds, own), problem.p[own]
                alpha = best_duals(side * gain, problem.q[at], p)
                values[at] = side * dual_values(side * gain, alpha, p, 0.0)
        values[folds] += tangent.constant
        weight = problem.sample.counts[folds].sum(axis=2) / problem.sample.total
        tables = _group_plan(problem, side * gains, folds, weight)
        by_total += np.sum(tangent.overall * tables.sum(axis=0), axis=1) / total**2
        by_own += np.sum(tangent.own * tables, axis=2) / truth**2
    drift = np.sum(problem.p * (by_total + by_own[group]), axis=1)
    return TangentBound(problem.sample.mean(values), values - drift[None, :, None])


def _batches(tangents: Sequence[Tangent]) -> list[tuple[IntArray, Tangent]]:
    """Return the folds of each tangent; if all folds have the same one, it is solved once."""
    if all(tangent is tangents[0] for tangent in tangents):
        return [(np.arange(len(tangents)), tangents[0])]
    return [(np.array([fold]), tangent) for fold, tangent in enumerate(tangents)]


def best_tangent(problem: Problem, metric: GroupMetric, fold: int) -> tuple[Tangent, float]:
    """Return the tangent with the least upper bound if q̂ of a fold were true, and its gap.

    It touches the metric at its greatest attainable value. Any tangent gives a valid bound, so an
    error of q̂ costs width and never validity. The attainable confusions of each group are a convex
    set, and the metric is maximised over the sum of these sets.
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
    """Return the oracle of the attainable confusions of each group: couplings of greatest gain."""

    def best(directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        points = np.zeros((len(directions), shape[0], *shape))
        for point, direction in zip(points, directions, strict=True):
            plans = _group_plan(
                problem, direction.reshape(shape), np.array([fold]), problem.patterns[None]
            )
            point[np.arange(shape[0]), np.arange(shape[0])] = plans
        flat = points.reshape(len(directions), shape[0], -1)
        return flat, flat

    return best


def extreme_confusions(problem: Problem, fold: int) -> FloatArray:
    """Return the confusions of each group of greatest and least accuracy, (m, 2, k, k)."""
    truth = group_truth(problem)
    eye = np.broadcast_to(np.eye(truth.shape[1]), (len(truth), *[truth.shape[1]] * 2))
    pair = [
        _group_plan(problem, side * eye, np.array([fold]), problem.patterns[None])
        for side in (1, -1)
    ]
    return np.stack(pair, axis=1)
