"""Metrics that compare groups: both bounds are bounds of tangents.

The greatest value is the least upper bound of a tangent, by the minimax theorem. The least value
of a concave function is at a corner of the attainable set, so it is the least lower bound over the
tangents at all corners.
"""

from itertools import combinations, permutations, product
from math import factorial

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.bounds.problem import Bound, BoundPair, Limit, Problem, Sample
from karat.bounds.solvers._tangents import (
    Tangent,
    TangentBound,
    best_tangent,
    extreme_confusions,
    tangent_at,
    tangent_bound,
    tangent_of_pairs,
)
from karat.metrics import GroupMetric
from karat.metrics.rates import with_zero_diagonal

__all__ = ["group_bounds", "is_enumerable"]

_MOST_CORNERS = 64  # tangents to try for the lower bound; each is a bound of its own to solve


def is_enumerable(metric: GroupMetric) -> bool:
    """Whether the corners are few enough to try them all."""
    m = metric.n_groups
    if metric.n_classes == 2:
        return bool(2**m <= _MOST_CORNERS)
    return metric.form == "gaps" and factorial(m) ** len(_priced(metric)) <= _MOST_CORNERS


def group_bounds(problem: Problem, metric: GroupMetric, limit: Limit) -> BoundPair:
    """Bound a metric of groups; limits are by the delta method, or influences drawn anew."""
    folds = range(len(problem.sample.counts))
    quantile = limit.quantile(_least_effective(problem))

    def distance(bound: TangentBound, side: int) -> float:
        if not np.isfinite(quantile):
            return np.inf
        plain = quantile * problem.sample.moments(bound.influence).error
        if limit.kind != "skew":
            return plain
        # Drawing items anew knows nothing of how few the smallest group has: Student's law does.
        return max(plain, limit.approximate(problem.sample, bound.influence, side))

    best = [best_tangent(problem, metric, fold) for fold in folds]
    top = tangent_bound(problem, [tangent for tangent, _ in best], 1)
    sharp = is_enumerable(metric)
    low = (
        [
            tangent_bound(problem, [corner for _ in folds], -1)
            for corner in _corners(problem, metric)
        ]
        if sharp
        else [_outer_bound(problem, metric)]
    )
    # Each corner's limit holds for that corner, so the least of them holds for the worst one.
    lower = Bound(min(one.value for one in low), min(one.value - distance(one, -1) for one in low))
    upper = Bound(top.value, top.value + distance(top, 1))
    return BoundPair(lower, upper, sharp=sharp, gap=max(gap for _, gap in best))


def _least_effective(problem: Problem) -> float:
    """Return the effective number of items of the smallest group: the degrees of freedom."""
    sample, group = problem.sample, np.asarray(problem.group)
    numbers = []
    for g in range(group.max() + 1):
        own = group == g
        kish = Sample(sample.counts[:, own], sample.squares[:, own]).effective
        if sample.rows is not None:
            within = group[sample.rows.ids] == g
            kish = min(kish, float(len(np.unique(sample.rows.cluster[within]))))
        numbers.append(kish)
    return min(numbers)


def _corners(problem: Problem, metric: GroupMetric) -> list[Tangent]:
    """Return a tangent for every corner at which the metric could be least."""
    if metric.n_classes == 2:  # each group is at one end of its interval
        shares = problem.sample.counts.sum(axis=(1, 2)) / problem.sample.total
        sides = sum(w * extreme_confusions(problem, fold) for fold, w in enumerate(shares))
        found = [
            tangent_at(metric, np.stack([np.asarray(sides)[g, e] for g, e in enumerate(which)]))
            for which in product((0, 1), repeat=metric.n_groups)
        ]
    else:  # for each kind of error the groups have some order
        price = metric.tradeoff * metric.violation
        found = []
        for orders in product(_orders(metric.n_groups), repeat=len(_priced(metric))):
            slopes = np.zeros(price.shape)
            for kind, signs in zip(_priced(metric), orders, strict=True):
                slopes[:, kind] = -price[:, kind] * signs
            found.append(tangent_of_pairs(metric, slopes))
    distinct = {tangent.own.round(12).tobytes(): tangent for tangent in found}
    return list(distinct.values())


def _priced(metric: GroupMetric) -> IntArray:
    """Return the kinds of error of which a difference between groups costs something."""
    return np.flatnonzero((metric.tradeoff * metric.violation).any(axis=0))


def _orders(m: int) -> list[IntArray]:
    """Return the signs of the gaps of all pairs, u before v, for each order of m groups."""
    return [
        np.array([1 if rank[u] > rank[v] else -1 for u, v in combinations(range(m), 2)])
        for rank in permutations(range(m))
    ]


def _outer_bound(problem: Problem, metric: GroupMetric) -> TangentBound:
    """Bound a FairMetric from below by the sum of the worst cost and the widest gaps.

    Conservative: the worst cases of cost and gaps need not occur together.
    """
    folds = range(len(problem.sample.counts))
    alone = tangent_of_pairs(metric, np.zeros(metric.violation.shape))
    value, influence = tangent_bound(problem, [alone for _ in folds], -1)
    m, q = metric.n_groups, len(metric.cost)
    price = metric.tradeoff * metric.violation
    for kind in _priced(metric):
        rates = [
            [_rate_bound(problem, m, g, np.eye(q)[kind], s) for s in (-1, 1)] for g in range(m)
        ]
        for pair, (u, v) in enumerate(combinations(range(m), 2)):
            ways = [(rates[a][1], rates[b][0]) for a, b in ((u, v), (v, u))]
            above, below = max(ways, key=lambda way: way[0].value - way[1].value)
            value -= price[pair, kind] * (above.value - below.value)
            influence = influence - price[pair, kind] * (above.influence - below.influence)
    return TangentBound(value, influence)


def _rate_bound(problem: Problem, m: int, g: int, error: FloatArray, side: int) -> TangentBound:
    """Return the least or greatest rate of one error in one group."""
    own = np.zeros((m, len(error)))
    own[g] = error
    one = Tangent(with_zero_diagonal(np.zeros(len(error))), with_zero_diagonal(own))
    return tangent_bound(problem, [one for _ in problem.sample.counts], side)
