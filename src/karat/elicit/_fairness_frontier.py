"""The classifiers between few errors and small gaps between groups.

For each λ the metric is concave in the rates of all groups, and each group attains its own: the
best classifiers solve a linear program for absolute gaps, and a quadratic one for squared gaps.
"""

import numpy as np

from karat._typing import FloatArray
from karat.elicit._fair_family import FairFamily, LinearGaps
from karat.elicit.result import FairnessFrontier, WeightInterval

__all__ = ["fairness_frontier"]

_STEPS = 1000
_SETTLED = 1e-7  # what a step can still gain
_ROUNDS = 3
_SAMPLED = 400


def fairness_frontier(
    family: FairFamily, estimate: FloatArray, tradeoff: WeightInterval, n: int, seed: int
) -> FairnessFrontier:
    """Return the frontier of the cost and the violation of one metric of the family."""
    cost, violation, share = (part[0] for part in family.read(estimate[None]))
    shares = np.append(np.linspace(0.0, 1.0, n) ** 2, share)  # gaps cost little at first
    shares = np.clip(shares, 1e-6, 0.995)  # with no weight on errors, any equal rates are best
    rates = _best(family, cost, violation, shares)
    errors, gaps = _terms(family, cost, violation, rates)
    order = np.argsort(errors[:-1], kind="stable")
    falling = np.append(np.inf, np.minimum.accumulate(gaps[:-1][order])[:-1])
    kept = np.flatnonzero(gaps[:-1][order] < falling - 1e-9)  # else more errors for nothing
    sampled = family.space.coordinates(family.space.sample(_SAMPLED, rng=seed))
    seen = _terms(family, cost, violation, sampled)
    return FairnessFrontier(
        cost=errors[:-1][order][kept],
        violation=gaps[:-1][order][kept],
        best=(float(errors[-1]), float(gaps[-1])),
        sampled_cost=seen[0],
        sampled_violation=seen[1],
        tradeoff=tradeoff,
    )


def _terms(
    family: FairFamily, cost: FloatArray, violation: FloatArray, rates: FloatArray
) -> tuple[FloatArray, FloatArray]:
    overall, gaps = family.space.parts_of(rates)
    unfair = family.features(gaps).reshape(len(rates), -1) @ violation.ravel()
    return overall @ cost, np.where(unfair < 1e-12, 0.0, unfair)


def _best(
    family: FairFamily, cost: FloatArray, violation: FloatArray, shares: FloatArray
) -> FloatArray:
    """Return the rates (n, m·q) of the best classifiers for each share λ of the violation."""
    solve = _by_program if isinstance(family, LinearGaps) else _by_steps
    return np.stack([solve(family, cost, violation, float(share)) for share in shares])


def _by_program(
    family: FairFamily, cost: FloatArray, violation: FloatArray, share: float
) -> FloatArray:
    """Mix extreme classifiers of each group by a linear program with a variable for every gap.

    The prices of the gaps say which classifier of a group would help most; it is added, and the
    program solved again.
    """
    from scipy.optimize import linprog

    joint = family.space
    m, q, pairs = joint.n_groups, joint.q, joint.pairs
    points = [part._extremes.points for part in joint.space.parts]
    unfair = share * violation.ravel()
    for _ in range(_ROUNDS):
        sizes = [len(p) for p in points]
        ends = np.cumsum([0, *sizes])
        price = [(1.0 - share) * (p @ (joint.prevalence[g] * cost)) for g, p in enumerate(points)]
        gaps = np.zeros((len(pairs) * q, ends[-1]))
        for p, (u, v) in enumerate(pairs):
            rows = slice(p * q, (p + 1) * q)
            gaps[rows, ends[u] : ends[u + 1]] = points[u].T
            gaps[rows, ends[v] : ends[v + 1]] = -points[v].T
        own = -np.eye(len(gaps))
        once = np.zeros((m, ends[-1] + len(gaps)))
        for g in range(m):
            once[g, ends[g] : ends[g + 1]] = 1.0
        solved = linprog(
            np.concatenate([*price, unfair]),
            A_ub=np.block([[gaps, own], [-gaps, own]]),
            b_ub=np.zeros(2 * len(gaps)),
            A_eq=once,
            b_eq=np.ones(m),
        )
        weights = [solved.x[ends[g] : ends[g + 1]] for g in range(m)]
        duals = solved.ineqlin.marginals.reshape(2, len(pairs), q)
        pull = duals[1] - duals[0]  # by how much a wider gap costs more
        rates = np.stack([w @ p for w, p in zip(weights, points, strict=True)])
        for g, part in enumerate(joint.space.parts):
            slope = (1.0 - share) * joint.prevalence[g] * cost
            slope = slope + pull[pairs[:, 0] == g].sum(axis=0) - pull[pairs[:, 1] == g].sum(axis=0)
            fresh = part.coordinates(part.boundary(-slope))
            points[g] = np.vstack([points[g], fresh])
    return rates.ravel()


def _by_steps(
    family: FairFamily, cost: FloatArray, violation: FloatArray, share: float
) -> FloatArray:
    """Mix extreme classifiers of each group where gaps are squared.

    Step by step weight goes from the worst classifier in the mixture to the best one there is, as
    much as is best: the metric is quadratic along the way.
    """
    joint = family.space
    m, q = joint.n_groups, joint.q
    bend = share * violation.reshape(-1, q, q)
    points = [part._extremes.points for part in joint.space.parts]
    price = [(1.0 - share) * joint.prevalence[g] * cost for g in range(m)]
    weights = [np.eye(len(p))[int(np.argmin(p @ c))] for p, c in zip(points, price, strict=True)]
    rates = np.stack([w @ p for w, p in zip(weights, points, strict=True)])
    mine = [(joint.pairs == g).any(axis=1) for g in range(m)]
    for _ in range(_STEPS):
        furthest = 0.0
        for g in range(m):
            others = joint.pairs[mine[g]].sum(axis=1) - g
            slope = price[g] + np.einsum("pij,pj->i", bend[mine[g]], rates[g] - rates[others])
            worth = points[g] @ slope
            best = int(np.argmin(worth))
            worst = int(np.argmax(np.where(weights[g] > 0, worth, -np.inf)))
            gain, way = worth[worst] - worth[best], points[g][best] - points[g][worst]
            curve = float(way @ bend[mine[g]].sum(axis=0) @ way)
            step = min(weights[g][worst], gain / curve if curve > 0 else np.inf)
            weights[g][best] += step
            weights[g][worst] = max(weights[g][worst] - step, 0.0)
            rates[g] += step * way
            furthest = max(furthest, gain)
        if furthest < _SETTLED:
            break
    return rates.ravel()
