"""Compile every loop of this package, so that no fit has to."""

import numpy as np

from karat.consensus.model import Model, build_problem
from karat.consensus.sampling._chain import run_chains
from karat.consensus.sampling._pooled_chains import run_pooled
from karat.consensus.sampling._pooled_domains import build_pooled
from karat.consensus.sampling._pooled_starts import pooled_start
from karat.votes.em import fit_point, starting_state
from karat.votes.tables import VoteTable

__all__ = ["warm"]


def warm() -> None:
    """Run the sweeps of every model once, and a climb on a table that is not small."""
    rng = np.random.default_rng(0)
    table = _table(rng, 8, 3)
    for model in (Model("plain"), Model("pairs", parent=np.array([-1, 0, 0]))):
        problem = build_problem(model, table)
        start = starting_state(problem, table.vote_shares())
        run_chains(problem, [start], [rng], burn=1, draws=2)
    for structure in ("coupled", "hierarchical"):
        pooled = build_pooled([table, table], [np.arange(3)] * 2, 3, structure, "class-conditional")
        run_pooled(pooled, [pooled_start(pooled, rng, one_cluster=True)], [rng], burn=1, draws=2)
    large = build_problem(Model("plain"), _table(rng, 2000, 30))
    fit_point(large, starting_state(large, large.table.vote_shares()), max_iter=1)


def _table(rng: np.random.Generator, patterns: int, voters: int) -> VoteTable:
    return VoteTable(
        start=np.arange(patterns + 1) * voters,
        voter=np.tile(np.arange(voters), patterns),
        outcome=rng.integers(0, 2, patterns * voters),
        count=np.full(patterns, 2.0),
        gold=np.full(patterns, -1),
        n_voters=voters,
        n_classes=2,
        n_outcomes=2,
    )
