"""Chains over the votes of several domains at once, whose error rates are shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.consensus.model import Errors, Model, Problem, build_problem, error_rates, finite_errors
from karat.consensus.sampling._arrays import (
    PatternArrays,
    PooledBlock,
    PooledPriors,
    PooledState,
    RowLayout,
    SweepScratch,
    row_layout,
    votes_in_order,
)
from karat.consensus.sampling._chains import (
    MODE_NATS,
    MODES_APART,
    Draws,
    Stop,
    in_threads,
    run_chains,
    sweeps_in_block,
)
from karat.votes.em import State, fit_point, starting_state
from karat.votes.patterns import VoteTable


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


# --- Chains over all domains at once, for models in which domains share error rates.


class PooledDraws(NamedTuple):
    """What the chains kept."""

    by_domain: tuple[Draws, ...]
    members: IntArray  # chains × draws × items: who shares with whom
    strengths: FloatArray  # chains × draws × concentrations
    last: tuple[PooledState, ...]


def pooled_chains(
    pooled: PooledDomains,
    chains: int,
    draws: int,
    burn: int,
    rng: np.random.Generator,
    step: Callable[[int], None] = lambda _: None,
) -> tuple[PooledDraws, int]:
    """Run chains from dispersed starts; those stuck on a lower mode start again at the best.

    Half of the chains start with all domains alone, half with all in one cluster. The number of
    chains that started again is returned with the draws.
    """
    starts = [pooled_start(pooled, rng, one_cluster=chain % 2 == 1) for chain in range(chains)]
    found = run_pooled(pooled, starts, rng.spawn(chains), burn=burn, draws=draws, step=step)
    stuck, best_chain = _stuck(pooled, found)
    if stuck.any():
        best = found.last[best_chain]
        again = run_pooled(
            pooled,
            [best] * int(stuck.sum()),
            rng.spawn(int(stuck.sum())),
            burn=burn // 2,
            draws=draws,
            step=step,
        )
        found = _replaced(found, stuck, again)
    return found, int(stuck.sum())


def _stuck(pooled: PooledDomains, found: PooledDraws) -> tuple[BoolArray, int]:
    """Return which chains sit on a lower mode, and the best chain.

    A mode is lower if votes are less likely there, or in some domain as likely with labels swapped.
    """
    value = np.stack([d.value.mean(axis=1) for d in found.by_domain])  # domains × chains
    prior = np.array(
        [
            [
                np.mean([log_prior(pooled, rows_of(pooled, s.theta)) for s in states])
                for states in draws.chain_states
            ]
            for draws in found.by_domain
        ]
    )
    means = [draws.rates.mean(axis=1) for draws in found.by_domain]  # chains × voters
    swapped = np.zeros(value.shape, dtype=bool)
    for d, rates in enumerate(means):
        top = int((value[d] + prior[d]).argmax())
        far = np.nanmax(np.abs(rates - rates[top]), axis=1) > MODES_APART
        swapped[d] = far & (value[d] + prior[d] < (value[d] + prior[d])[top] - MODE_NATS)
    level = value.sum(axis=0)
    low = level < level.max() - max(MODE_NATS, 1e-4 * pooled.count.sum())
    stuck = low | swapped.any(axis=0)
    # Any chain with swapped labels comes after all without, whatever its likelihood.
    fit = (level + prior.sum(axis=0)) - 1e6 * swapped.sum(axis=0)
    return (stuck & ~stuck.all()), int(fit.argmax())


def _replaced(found: PooledDraws, which: BoolArray, again: PooledDraws) -> PooledDraws:
    """Return the draws with the chains of ``again`` in the place of some."""
    members, strengths = found.members.copy(), found.strengths.copy()
    members[which], strengths[which] = again.members, again.strengths
    spare = iter(again.last)
    return PooledDraws(
        tuple(a.replaced(which, b) for a, b in zip(found.by_domain, again.by_domain, strict=True)),
        members,
        strengths,
        tuple(next(spare) if w else s for w, s in zip(which, found.last, strict=True)),
    )


def run_pooled(
    pooled: PooledDomains,
    starts: Sequence[PooledState],
    rngs: Sequence[np.random.Generator],
    *,
    burn: int,
    draws: int,
    step: Callable[[int], None] = lambda _: None,
) -> PooledDraws:
    """Run one chain from each start, in parallel threads."""
    chains = in_threads(
        [
            partial(run_pooled_chain, pooled, start, rng, burn, draws, step)
            for start, rng in zip(starts, rngs, strict=True)
        ]
    )
    kept = [chain.kept for chain in chains]
    return PooledDraws(
        by_domain=tuple(_of_domain(pooled, kept, d) for d in range(pooled.n_domains)),
        members=np.stack([k["members"] for k in kept]),
        strengths=np.stack([k["strengths"] for k in kept]),
        last=tuple(chain.last for chain in chains),
    )


def _of_domain(pooled: PooledDomains, kept: Sequence[dict[str, Any]], d: int) -> Draws:
    """Return the draws of one domain, as those of a domain by itself."""
    here = pooled.voters[d]
    first, last = pooled.domain[d], pooled.domain[d + 1]
    proba = np.stack([k["proba"][first:last] for k in kept])
    total = proba.sum(axis=2, keepdims=True)
    states = []
    for k in kept:
        weights = k["weights"][:: k["every"], d]
        thetas = k["thetas"][:, d][:, here]
        none = np.zeros(len(here))
        states.append(
            tuple(State(t.copy(), none, w.copy()) for t, w in zip(thetas, weights, strict=True))
        )
    return Draws(
        rates=np.stack([k["rates"][:, d, here] for k in kept]),
        finite=np.stack([k["finite"][:, d, here] for k in kept]),
        weights=np.stack([k["weights"][:, d] for k in kept]),
        value=np.stack([k["value"][:, d] for k in kept]),
        label_proba=proba / np.where(total > 0, total, 1.0),
        chain_states=tuple(states),
    )


# --- One chain of Gibbs draws over all domains.

_STATES = 16  # full states kept per chain
_HYPER = (1.0, 1.0)  # Gamma prior of a concentration: shape, rate


class PooledChain(NamedTuple):
    """What a chain kept, and where it ended.

    ``kept`` has, by draw: "rates", "finite", "weights", "value", "members", "strengths"; the
    "thetas" of every "every"-th draw; and "proba", a sum over the draws.
    """

    kept: dict[str, Any]
    last: PooledState


def run_pooled_chain(
    pooled: PooledDomains,
    start: PooledState,
    rng: np.random.Generator,
    burn: int,
    draws: int,
    step: Callable[[int], None],
    stop: Stop,
) -> PooledChain:
    """Run a chain from ``start``; ``step`` and ``stop`` are as in `run_chain`."""
    state = PooledState._make(np.array(part, order="C", copy=True) for part in start)
    priors = _priors(pooled, state)
    group = np.arange(pooled.n_classes)
    heard, cell = votes_in_order(pooled.start, pooled.cell, pooled.counted)
    patterns = PatternArrays(pooled.start, heard, cell, pooled.count, pooled.gold, group)
    rows = pooled.prior[:1] if pooled.symmetric else pooled.prior
    layout = row_layout(rows, pooled.n_outcomes, group, symmetric=pooled.symmetric)
    sweep = _sweeper(pooled, rng, (patterns, layout, priors), state)
    kept, unused = _room(pooled, state, draws), np.zeros((len(pooled.count), pooled.n_classes))
    most = sweeps_in_block(_work(pooled))
    done = -burn
    while done < draws and not stop.is_set():
        sweeps = min(most, (draws if done >= 0 else 0) - done)
        block = _block(pooled, state, sweeps)
        sweep(done + burn, block, kept["proba"] if done >= 0 else unused)
        if done >= 0:
            _keep(pooled, kept, done, block)
        done += sweeps
        step(sweeps)
    return PooledChain(kept, state)


def _priors(pooled: PooledDomains, state: PooledState) -> PooledPriors:
    """Return the priors; fixed concentrations are written into ``state``."""
    hyper = np.array([_HYPER, _HYPER])
    if pooled.concentration is not None:
        hyper = np.zeros((2, 2))
        state.strength[:] = pooled.concentration[: len(state.strength)]
    return PooledPriors(pooled.domain, pooled.present, pooled.prior, pooled.weight_prior, hyper)


def _sweeper(
    pooled: PooledDomains,
    rng: np.random.Generator,
    data: tuple[PatternArrays, RowLayout, PooledPriors],
    state: PooledState,
) -> Callable[[int, PooledBlock, FloatArray], None]:
    """Return the call that makes the sweeps of a block."""
    own, classes = pooled.n_voters * pooled.n_outcomes, pooled.n_classes
    scratch = SweepScratch(
        table=np.empty((classes, own)),
        share=np.empty(classes),
        drawn=np.empty(classes),
        sizes=np.empty(classes),
        rows=np.empty(0),
    )
    sweeps: Any
    counted: Any
    if pooled.structure == "coupled":
        from karat.consensus.sampling._pooled_loops import clusters, sweeps_coupled

        sweeps, counted = sweeps_coupled, clusters(data[2], state)
    else:
        from karat.consensus.sampling._pooled_loops import local_clusters, sweeps_hierarchical

        sweeps, counted = sweeps_hierarchical, local_clusters(data[2], state)

    def sweep(first: int, block: PooledBlock, proba_sum: FloatArray) -> None:
        sweeps(rng, first, *data, state, scratch, counted, block, proba_sum)

    return sweep


def _work(pooled: PooledDomains) -> int:
    """Return about how many numbers one sweep touches."""
    parameters = pooled.present.size * pooled.n_outcomes * pooled.n_classes
    # A parameter is drawn, and its voter or domain weighed against every cluster.
    return len(pooled.cell) * pooled.n_classes + 20 * len(pooled.count) + 100 * parameters


def _block(pooled: PooledDomains, state: PooledState, sweeps: int) -> PooledBlock:
    d, own, k = pooled.n_domains, pooled.n_voters * pooled.n_outcomes, pooled.n_classes
    return PooledBlock(
        theta=np.empty((sweeps, d, own, k)),
        counts=np.empty((sweeps, d, own, k)),
        weight=np.empty((sweeps, d, k)),
        value=np.empty((sweeps, d)),
        member=np.empty((sweeps, state.member.size), dtype=np.int64),
        strength=np.empty((sweeps, len(state.strength))),
    )


def _room(pooled: PooledDomains, state: PooledState, draws: int) -> dict[str, Any]:
    d, n, k, o = pooled.n_domains, pooled.n_voters, pooled.n_classes, pooled.n_outcomes
    every = max(1, draws // _STATES)
    return {
        "rates": np.empty((draws, d, n)),
        "finite": np.empty((draws, d, n)),
        "weights": np.empty((draws, d, k)),
        "value": np.empty((draws, d)),
        "thetas": np.empty((-(-draws // every), d, n, o, k)),
        "proba": np.zeros((len(pooled.count), k)),
        "members": np.empty((draws, state.member.size), dtype=np.int64),
        "strengths": np.empty((draws, len(state.strength))),
        "every": every,
    }


def _keep(pooled: PooledDomains, kept: dict[str, Any], first: int, block: PooledBlock) -> None:
    """Keep the draws of a block, of which the first is draw ``first``."""
    n, o, k = pooled.n_voters, pooled.n_outcomes, pooled.n_classes
    sweeps, group = len(block.value), np.arange(k)
    theta = block.theta.reshape(sweeps, pooled.n_domains, n, o, k)
    at = slice(first, first + sweeps)
    kept["rates"][at] = error_rates(theta, block.weight, group, k)
    kept["finite"][at] = finite_errors(block.counts, n, o, group, k)
    kept["weights"][at], kept["value"][at] = block.weight, block.value
    kept["members"][at], kept["strengths"][at] = block.member, block.strength
    for s in range(-first % kept["every"], sweeps, kept["every"]):
        kept["thetas"][(first + s) // kept["every"]] = theta[s]


# --- Where chains over all domains start.


def pooled_start(
    pooled: PooledDomains, rng: np.random.Generator, *, one_cluster: bool
) -> PooledState:
    """Return a start from a climb in each domain, with voters weighed at random.

    With ``one_cluster`` all domains share error rates, or each voter has the same rates in all
    domains; otherwise nothing is shared.
    """
    n, k = pooled.n_voters, pooled.n_classes
    rows = np.empty((pooled.n_domains, n, *pooled.prior.shape))
    rows[:] = pooled.prior / pooled.prior.sum(axis=1, keepdims=True)
    weight = np.empty((pooled.n_domains, k))
    for d, problem in enumerate(pooled.problems):
        noise = rng.exponential(size=problem.table.n_voters) ** 0.5
        state = starting_state(problem, problem.table.vote_shares(noise))
        state, _, _ = fit_point(problem, state, max_iter=20, tol=1e-4)
        state = _upright(pooled, problem, state)
        rows[d, pooled.voters[d]] = rows_of(pooled, state.theta)
        weight[d] = state.weight
    mean = rows.mean(axis=0)
    if pooled.structure == "coupled":
        clusters = np.empty((pooled.n_domains + 1, *rows.shape[1:]))
        clusters[:-1], clusters[-1] = rows, mean
        alone = np.arange(pooled.n_domains)
        member = np.full_like(alone, pooled.n_domains) if one_cluster else alone
        return PooledState(clusters, weight, member, np.empty((0, 0), dtype=np.int64), np.ones(1))
    pairs = pooled.n_domains * n
    atoms = np.empty((pairs + 1, *pooled.prior.shape))
    atoms[:pairs], atoms[pairs] = rows.reshape(pairs, *pooled.prior.shape), mean.mean(axis=0)
    local = np.tile(np.arange(n), (pooled.n_domains, 1))  # every voter is alone in its domain
    atom = np.arange(pairs).reshape(pooled.n_domains, n)
    if one_cluster:
        atoms[:n] = mean
        atom = local.copy()
    return PooledState(atoms, weight, local, atom, np.ones(2))


def _upright(pooled: PooledDomains, problem: Problem, state: State) -> State:
    """Return the state or its mirror image: of two classes, swapped labels fit votes as well.

    Only the prior distinguishes them, and sweeps do not lead from one to the other.
    """
    if pooled.n_classes != 2 or (problem.table.gold >= 0).any():
        return state
    mirror = State(state.theta[:, :, ::-1].copy(), state.copied, state.weight[::-1].copy())
    sides = (state, mirror)
    return max(sides, key=lambda s: log_prior(pooled, rows_of(pooled, s.theta)))


# --- The tables of all domains as one problem, for models in which domains share error rates.

Structure = str  # "coupled" or "hierarchical"
# Prior weight of each class in a domain's shares. A uniform prior charges log(n + 1) nats to every
# domain of n items without a rare class, while domains that share pay but once for voters who miss
# that class: with many small domains the posterior then moves to such voters.
_SHARES = 0.5


@dataclass(frozen=True, slots=True)
class PooledDomains:
    """The tables of all domains as the arrays that the compiled sweeps read."""

    structure: Structure
    problems: tuple[Problem, ...]  # of each domain by itself
    voters: tuple[IntArray, ...]  # which of all voters a domain has
    domain: IntArray  # patterns of domain d are domain[d]:domain[d+1]
    start: IntArray
    cell: IntArray
    counted: BoolArray | None  # votes that are evidence of the label; None: all
    count: FloatArray
    gold: IntArray
    present: IntArray  # domains × voters: 1 where the voter voted
    prior: FloatArray  # rows × cells
    weight_prior: FloatArray
    n_classes: int
    n_outcomes: int
    concentration: tuple[float, float] | None  # fixed (α, γ), or None if they are drawn

    @property
    def n_domains(self) -> int:
        """Number of domains."""
        return len(self.problems)

    @property
    def n_voters(self) -> int:
        """Number of voters in all domains together."""
        return int(self.present.shape[1])

    @property
    def symmetric(self) -> bool:
        """Whether a voter errs on all classes at one rate."""
        return self.problems[0].model.errors == "symmetric"


def build_pooled(
    tables: Sequence[VoteTable],
    voters: Sequence[IntArray],
    n_voters: int,
    structure: Structure,
    errors: Errors,
    concentration: tuple[float, float] | None = None,
) -> PooledDomains:
    """Put the tables of all domains into one.

    ``voters`` says which of all ``n_voters`` voters the columns of each table are; a
    ``concentration`` (α, γ) is kept fixed, by default both are drawn.
    """
    problems = tuple(build_problem(Model(structure, errors), table) for table in tables)
    outcomes, classes = tables[0].n_outcomes, tables[0].n_classes
    present = np.zeros((len(tables), n_voters), dtype=np.int64)
    starts: list[Any] = [np.zeros(1, dtype=np.int64)]
    cells, offset = [], 0
    for d, (table, here) in enumerate(zip(tables, voters, strict=True)):
        present[d, np.asarray(here)[np.unique(table.voter)]] = 1
        starts.append(table.start[1:] + offset)
        cells.append(np.asarray(here)[table.voter] * outcomes + table.outcome)
        offset += int(table.start[-1])
    patterns = np.cumsum([0, *(t.n_patterns for t in tables)])
    return PooledDomains(
        structure=structure,
        problems=problems,
        voters=tuple(np.asarray(v, dtype=np.int64) for v in voters),
        domain=patterns.astype(np.int64),
        start=np.concatenate(starts).astype(np.int64),
        cell=np.concatenate(cells).astype(np.int64),
        counted=_counted(tables),
        count=np.concatenate([t.count for t in tables]),
        gold=np.concatenate([t.gold for t in tables]).astype(np.int64),
        present=present,
        prior=_row_prior(problems[0]),
        weight_prior=np.full(classes, _SHARES),
        n_classes=classes,
        n_outcomes=outcomes,
        concentration=concentration,
    )


def _counted(tables: Sequence[VoteTable]) -> BoolArray | None:
    """Return which of all votes are evidence of the label, None if all are."""
    if all(t.counted is None for t in tables):
        return None
    parts = [np.ones(len(t.voter), dtype=bool) if t.counted is None else t.counted for t in tables]
    return np.concatenate(parts)


def _row_prior(problem: Problem) -> FloatArray:
    """Return the prior of a voter's rows: (wrong, right), (abstains, votes), or one per class."""
    if problem.model.errors == "class-conditional":
        return problem.prior.copy()
    rows = [problem.prior[0]]
    if problem.table.n_outcomes > problem.table.n_classes:
        rows.append(np.ones(2))
    return np.array(rows)


def log_prior(pooled: PooledDomains, rows: FloatArray) -> float:
    """Return the log-density of rows (..., rows, cells) under their prior, up to a constant."""
    return float(np.sum((pooled.prior - 1.0) * np.log(np.clip(rows, 1e-12, None))))


def rows_of(pooled: PooledDomains, theta: FloatArray) -> FloatArray:
    """Return a domain's rows, voters × rows × cells, from θ[voter, outcome, class]."""
    if not pooled.symmetric:
        return np.swapaxes(theta, 1, 2)
    k = pooled.n_classes
    abstains = theta[:, k, 0] if pooled.n_outcomes > k else np.zeros(len(theta))
    wrong = 1.0 - theta[:, 0, 0] / np.maximum(1.0 - abstains, 1e-12)
    rows = np.empty((len(theta), *pooled.prior.shape))
    rows[:, 0] = np.column_stack([wrong, 1.0 - wrong])
    if len(pooled.prior) > 1:
        rows[:, 1] = np.column_stack([abstains, 1.0 - abstains])
    return rows
