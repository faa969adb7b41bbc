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
from karat.bounds._kernels import best_duals, best_plans, dual_values
from karat.bounds._problem import Problem
from karat.metrics import GroupMetric
from karat.metrics.rates import with_zero_diagonal

__all__ = [
    "Tangent",
    "TangentEnd",
    "group_plan",
    "group_truth",
    "tangent_at",
    "tangent_end",
    "tangent_of_pairs",
]


class Tangent(NamedTuple):
    """Slopes in the rates of all (k, k) and of each group (m, k, k), 0 on the diagonals."""

    overall: FloatArray
    own: FloatArray
    constant: float = 0.0

    def gains(self, truth: FloatArray) -> FloatArray:
        """Return the gain of each group, (m, k, k), where ``truth[g, i] = P(G=g, Y=i)``."""
        return np.asarray(self.overall / truth.sum(axis=0)[:, None] + self.own / truth[:, :, None])


class TangentEnd(NamedTuple):
    """The end of a tangent, and the influence of each (fold, pattern, prediction) on it."""

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


def group_plan(
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


def tangent_end(problem: Problem, tangents: Sequence[Tangent], side: int) -> TangentEnd:
    """Return the greatest (1) or least (−1) value of a tangent, which each fold may have its own.

    The influence has the error of P(G=g, Y=i) in it, which stands in the denominators.
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
        tables = group_plan(problem, side * gains, folds, weight)
        by_total += np.sum(tangent.overall * tables.sum(axis=0), axis=1) / total**2
        by_own += np.sum(tangent.own * tables, axis=2) / truth**2
    drift = np.sum(problem.p * (by_total + by_own[group]), axis=1)
    return TangentEnd(problem.sample.mean(values), values - drift[None, :, None])


def _batches(tangents: Sequence[Tangent]) -> list[tuple[IntArray, Tangent]]:
    """Return the folds of each tangent: those with the same one are solved in one call."""
    if all(tangent is tangents[0] for tangent in tangents):
        return [(np.arange(len(tangents)), tangents[0])]
    return [(np.array([fold]), tangent) for fold, tangent in enumerate(tangents)]
