"""What an active search starts from: the prior, the pool of classifiers, and what is to be reached.

The pool and the panel of a space are drawn once and are the same for everyone who is asked about
it, so that a saved search is found again by its particles alone.
"""

from typing import TYPE_CHECKING

import numpy as np

from karat.elicit.asking import (
    ActiveSearch,
    AttainablePairs,
    CheckPairs,
    Goal,
    Pool,
    SpherePairs,
    cached,
    draw_pool,
    told_apart,
)
from karat.elicit.families import Family
from karat.elicit.posterior import AgreementPanel, ParticlePosterior
from karat.elicit.spaces import BinarySpace
from karat.elicit.transcript import Query

if TYPE_CHECKING:
    from karat.elicit.procedure._procedure import Procedure

__all__ = ["build_search", "search_with", "typical_margin"]

_SOME = 100  # metrics by which the typical difference of two classifiers is found
_FEWEST_QUESTIONS = 60  # after which answers without a metric are told from the rest
_MOST_NUMBERS = 600_000  # parameters of all particles together; below, there are fewer of them


def build_search(procedure: "Procedure") -> ActiveSearch:
    """Return the search of a procedure before anything is asked."""
    effort = procedure.effort
    rng = np.random.default_rng(procedure.seed)
    family, panel = procedure._family(flipped=False), _panel(procedure)
    n = _affordable(effort.particles, family)
    posterior = ParticlePosterior.prior(family, n, _typical(procedure, family, panel), rng)
    rivals = []
    wide = procedure._wider_family() if procedure.pairs == "attainable" else None
    if wide is not None:
        n = _affordable(effort.rival_particles, wide)
        there = np.random.default_rng([procedure.seed, 1])
        rivals.append(ParticlePosterior.prior(wide, n, _typical(procedure, wide, panel), there))
    search = search_with(procedure, posterior, rivals)
    search.history.append(search.agreement())
    for first, second, answer in procedure.carried:
        search.believe(Query(np.asarray(first), np.asarray(second)), answer)
    return search


def search_with(
    procedure: "Procedure", posterior: ParticlePosterior, rivals: list[ParticlePosterior]
) -> ActiveSearch:
    """Return the search of a procedure that has come to know a posterior."""
    effort, rng = procedure.effort, posterior.rng
    pool = _pool(procedure) if procedure.pairs == "attainable" else None
    checks = CheckPairs(pool, procedure.worst_rate, rng) if procedure.checks and pool else None
    least = 0 if checks is None else _FEWEST_QUESTIONS
    return ActiveSearch(
        posterior=posterior,
        panel=_panel(procedure),
        source=(
            SpherePairs(procedure.space, rng)
            if pool is None
            else AttainablePairs(pool, rng, effort.candidates)
        ),
        goal=Goal(
            agreement=procedure.agreement,
            precision=procedure.precision,
            most=procedure.max_queries or max(least, 20 + 10 * posterior.family.size),
            compared=procedure.space.dim if procedure.has_ratios else 0,
            draws=effort.kept,
            reach=_reach(procedure, pool),
        ),
        checks=checks,
        rivals=rivals,
        tries=2 if procedure.wider is not None or procedure.carried else 1,
    )


def _reach(procedure: "Procedure", pool: Pool | None) -> tuple[float, float]:
    """Return the angles of trade-offs of two classes that questions about the pool tell apart."""
    if pool is None or not isinstance(procedure.space, BinarySpace):
        return 0.0, np.pi / 2
    return told_apart(pool.points)


def _affordable(n: int, family: Family) -> int:
    """Return how many particles to use: fewer where each has very many parameters."""
    return max(min(n, _MOST_NUMBERS // family.size), n // 5)


def _panel(procedure: "Procedure") -> AgreementPanel:
    space, n = procedure.question_space, procedure.effort.panel
    key = ("panel", procedure.space.fingerprint, type(space).__name__, n)
    return cached(key, lambda: AgreementPanel.of(space, n, np.random.default_rng(1)))


def typical_margin(procedure: "Procedure", family: Family) -> float:
    """Return the difference that metrics of a family typically see between two classifiers."""
    return _typical(procedure, family, _panel(procedure))


def _typical(procedure: "Procedure", family: Family, panel: AgreementPanel) -> float:
    """Return the difference that metrics typically see between two classifiers."""
    if procedure.pairs == "sphere":
        return float(procedure.space.radius)
    drawn = np.random.default_rng(2).normal(size=(_SOME, family.size))
    return panel.typical_margin(family, np.where(family.signed, drawn, np.abs(drawn)))


def _pool(procedure: "Procedure") -> Pool:
    space, effort = procedure.question_space, procedure.effort
    inside, worst, out_of = procedure.curved, procedure.worst_rate, procedure.out_of
    key = ("pool", procedure.space.fingerprint, type(space).__name__, effort.pool, inside, worst)
    return cached(
        (*key, out_of),
        lambda: draw_pool(space, effort.pool, inside=inside, worst_rate=worst, out_of=out_of),
    )
