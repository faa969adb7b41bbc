"""The classifiers between few errors and small gaps between groups.

For each λ the metric is concave in the rates of all groups, and each group attains its own: the
best classifier is the one that `karat.decisions.maximise` finds.
"""

import numpy as np

from karat._typing import FloatArray
from karat.decisions import maximise
from karat.elicit.families._fair_family import FairFamily
from karat.elicit.weights import FairnessFrontier, WeightInterval
from karat.metrics import GroupMetric

__all__ = ["fairness_frontier"]

_CLOSE, _CLOSEST = 1e-5, 1e-8  # gaps of a point of the curve, and of the best place
_SAMPLED = 400


def fairness_frontier(
    family: FairFamily, estimate: FloatArray, tradeoff: WeightInterval, n: int, seed: int
) -> FairnessFrontier:
    """Return the frontier of the cost and the violation of one metric of the family."""
    cost, violation, _ = (part[0] for part in family.read(estimate[None]))
    shares = np.linspace(0.0, 1.0, n) ** 2  # gaps cost little at first
    # With no weight on errors any equal rates are best, with none on gaps any gaps are.
    shares = np.clip(shares, 1e-6, 0.995)
    curve = [family.fair_metric(cost, violation, float(share)) for share in shares]
    rates, gap = _best(family, [*curve, family.metric(estimate)])
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
        gap=gap,
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


def _best(family: FairFamily, metrics: list[GroupMetric]) -> tuple[FloatArray, float]:
    """Return the rates (n, m·q) of the best classifier for each metric, and the gap of the last.

    The last one is found first, by itself; the rules found for one metric serve the next one too.
    """
    attainable = family.space.space.attainable
    columns = attainable.columns()
    last = len(metrics) - 1
    found = {
        at: maximise(
            metrics[at], attainable, tol=_CLOSEST if at == last else _CLOSE, columns=columns
        )
        for at in (last, *range(last))
    }
    tables = np.stack([found[at].confusion for at in range(len(metrics))])
    return family.space.coordinates(tables), found[last].gap
