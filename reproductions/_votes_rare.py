"""Why sharing goes wrong where a class is rare and items are few, and whether karat says so."""

import warnings
from typing import Any

import numpy as np
from _show import number, say, show_table
from _votes_data import VoteSet, beside_truth, fit
from _votes_sharing import COLUMNS, STRUCTURES, case_of, wide_part

from karat.consensus import compare_models
from karat.consensus.sampling import PooledDomains, build_pooled, pooled_start, run_pooled
from karat.exceptions import KaratWarning
from karat.votes.domains import read_votes

__all__ = ["show_rare"]

_ERRORS = "class-conditional"
_ITEMS = (20, 50)
_DRAWS = 4
_SWEEPS = 3000


def show_rare(data: VoteSet) -> None:
    """Print what the prior of the shares does, where chains go, and what the checks say."""
    rows = []
    for items in _ITEMS:
        for name, weight in (("Beta(1, 1)", 1.0), ("Beta(1/2, 1/2)", 0.5)):
            case = case_of(data, _ERRORS, items, 20, wide_part, weight)
            rows.append([str(items), name, *(text for s in STRUCTURES for text in case.cells(s))])
    show_table(
        f"{data.name}, {_ERRORS} errors, by the prior of the share of positives",
        ["items", "prior", *COLUMNS],
        rows,
    )
    say(
        "Positives are rare, and a uniform prior of their share speaks against that in each domain "
        "anew, while domains that share pay but once for voters who miss nearly every positive; so "
        "domains that share have Beta(1/2, 1/2). Deviation of the coupled model in single draws, "
        f"from a start that knows the gold labels and from the usual one, {_SWEEPS:,} sweeps each; "
        "beside it the domains that the estimator marks as not identified, and the structure that "
        "compare_models prefers.\n"
    )
    show_table(
        f"{data.name}, {_ERRORS} errors: single draws",
        ["items", "draw", "from gold", "usual start", "alone", "marked", "predicts votes best"],
        [_row(data, items, draw) for items in _ITEMS for draw in range(_DRAWS)],
    )


def _row(data: VoteSet, items: int, draw: int) -> list[str]:
    rng = np.random.default_rng(draw)
    some = wide_part(data, items, rng)
    plain, labelled = (_pooled(some, y) for y in (None, some.gold))
    start = pooled_start(labelled, rng, one_cluster=True)
    told = run_pooled(labelled, [start], [rng.spawn(1)[0]], burn=300, draws=20).last[0]
    usual = pooled_start(plain, rng, one_cluster=False)
    found = run_pooled(plain, [told, usual], rng.spawn(2), burn=300, draws=_SWEEPS)
    estimator, _ = fit(some, rng=draw, structure="coupled", dependence="none")
    alone, _ = fit(some, rng=draw, dependence="none")
    truth = beside_truth(estimator, data.truth)["error"].to_numpy()
    rates = np.concatenate([d.rates.mean(axis=1) for d in found.by_domain], axis=1)
    marked = sum(not known for known in estimator.identified_.values())
    return [
        str(items), str(draw), *(number(off, 3) for off in np.abs(rates - truth).mean(axis=1)),
        number(beside_truth(alone, data.truth)["off"].mean(), 3),
        f"{marked} of {len(estimator.identified_)}", _preferred(some),
    ]  # fmt: skip


def _pooled(some: VoteSet, y_true: Any) -> PooledDomains:
    votes = read_votes(some.votes, domains=some.domains, y_true=y_true)
    tables, voters = [d.table for d in votes.domains], [d.voters for d in votes.domains]
    return build_pooled(tables, voters, len(votes.classifiers), "coupled", _ERRORS)


def _preferred(some: VoteSet) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KaratWarning)
        found = compare_models(
            some.votes, some.domains, structure=["independent", "coupled"], errors=[_ERRORS],
            dependence=["none"], rng=0,
        )  # fmt: skip
    return found.structure[int(np.argmin(found.behind))]
