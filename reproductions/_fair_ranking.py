"""Hiranandani 2021, Figure 5.4: real classifiers ranked by elicited metrics and by others."""

from typing import Any

import numpy as np
from _drawn_metrics import draw_fair
from _elicit_common import ask_all
from _fair_baselines import BASELINES, make_baselines
from _pools import Pool, train_pool
from _ranking_agreement import Agreement, Array, show_rankings, values
from _show import Promise, say

from karat.elicit import Elicitation
from karat.metrics import FairMetric

__all__ = ["run_ranking"]

_POOLS = (
    "credit_default by gender",
    "adult by race",
    "wine_quality by colour",
    "communities_crime by race",
)
_QUICK = _POOLS[::2]
_TOL = 1e-3


def run_ranking(*, quick: bool) -> list[Promise]:
    """Print Figure 5.4 as a table; return what is promised."""
    say(
        "Ranking real classifiers. The oracle's metrics are drawn as for Figure 5.3; questions are "
        "about rates that a logistic regression attains in each group. The names are those of "
        "Table 5.2, with φ' for the violation: what is named is set, to equal weights (a) or to "
        "random weights in the oracle's order (w), and the rest is elicited; o_p is the oracle's "
        "own cost of errors, o_f its own cost of differences.\n"
    )
    n = 8 if quick else 100
    found = {
        name: _rank(train_pool(name, quick=quick), n) for name in (_QUICK if quick else _POOLS)
    }
    say("")
    title = f"Figure 5.4: mean NDCG and Kendall's τ of {n} metrics, tolerance {_TOL:g}"
    show_rankings(title, found, ("elicited", *BASELINES))
    return [
        promise
        for name, all_ in found.items()
        for promise in all_.promises(f"Figure 5.4, {name}", "elicited", BASELINES)
    ]


def _rank(pool: Pool, n: int) -> Agreement:
    """Return how well each metric ranks a pool as n oracles do."""
    rng = np.random.default_rng(1)
    all_ = Agreement()
    for _ in range(n):
        truth = draw_fair(rng, pool.k, pool.m)
        wanted = values(truth, pool.tables)

        def elicit(
            cost: Array | None, violation: Array | None, truth: FairMetric = truth
        ) -> FairMetric:
            procedure = Elicitation(
                pool.space, strategy="bisection", tol=_TOL, cost=cost, violation=violation
            )
            found: Any = ask_all(procedure, truth).metric
            return FairMetric(found.cost, found.violation, found.tradeoff)

        metrics = {"elicited": elicit(None, None), **make_baselines(truth, elicit, rng)}
        for name, metric in metrics.items():
            all_.add(name, values(metric, pool.tables), wanted)
    return all_
