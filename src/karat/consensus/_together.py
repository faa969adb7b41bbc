"""Domains that share what they know: chains over all domains at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.consensus._arrays import SharedState
from karat.consensus._model import Errors, Model, Problem, build_problem
from karat.consensus._sample import Draws
from karat.consensus._shared_chain import run_shared_chain
from karat.consensus._threads import in_threads
from karat.votes._table import VoteTable
from karat.votes.em import State, fit_point, starting_state

__all__ = ["Shared", "SharedDraws", "Structure", "build_shared", "run_shared", "shared_chains"]

Structure = str  # "coupled" or "hierarchical"
_NATS = 10.0  # a chain whose likelihood is lower by more has not found the mode
_APART = 0.1  # modes whose rates differ by more are two
# Prior weight of each class in a domain's shares. A uniform prior charges log(n + 1) nats to every
# domain of n items without a rare class, while domains that share pay but once for voters who miss
# that class: with many small domains the posterior then moves to such voters.
_SHARES = 0.5


@dataclass(frozen=True, slots=True)
class Shared:
    """The tables of all domains as the arrays that the compiled sweeps read."""

    structure: Structure
    problems: tuple[Problem, ...]  # of each domain by itself
    voters: tuple[IntArray, ...]  # which of all voters a domain has
    domain: IntArray  # patterns of domain d are domain[d]:domain[d+1]
    start: IntArray
    cell: IntArray
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
        return len(self.problems)

    @property
    def n_voters(self) -> int:
        return int(self.present.shape[1])

    @property
    def symmetric(self) -> bool:
        return self.problems[0].model.errors == "symmetric"


class SharedDraws(NamedTuple):
    """What the chains kept."""

    by_domain: tuple[Draws, ...]
    members: IntArray  # chains × draws × items: who shares with whom
    strengths: FloatArray  # chains × draws × concentrations
    last: tuple[SharedState, ...]


def build_shared(
    tables: Sequence[VoteTable],
    voters: Sequence[IntArray],
    n_voters: int,
    structure: Structure,
    errors: Errors,
    concentration: tuple[float, float] | None = None,
) -> Shared:
    """Put the tables of all domains into one."""
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
    return Shared(
        structure=structure,
        problems=problems,
        voters=tuple(np.asarray(v, dtype=np.int64) for v in voters),
        domain=patterns.astype(np.int64),
        start=np.concatenate(starts).astype(np.int64),
        cell=np.concatenate(cells).astype(np.int64),
        count=np.concatenate([t.count for t in tables]),
        gold=np.concatenate([t.gold for t in tables]).astype(np.int64),
        present=present,
        prior=_row_prior(problems[0]),
        weight_prior=np.full(classes, _SHARES),
        n_classes=classes,
        n_outcomes=outcomes,
        concentration=concentration,
    )


def _row_prior(problem: Problem) -> FloatArray:
    """Return the prior of a voter's rows: (wrong, right) and (silent, spoke), or one per class."""
    if problem.model.errors == "class-conditional":
        return problem.prior.copy()
    rows = [problem.prior[0]]
    if problem.table.n_outcomes > problem.table.n_classes:
        rows.append(np.ones(2))
    return np.array(rows)


def shared_chains(
    shared: Shared,
    chains: int,
    draws: int,
    burn: int,
    rng: np.random.Generator,
    step: Callable[[int], None] = lambda _: None,
) -> tuple[SharedDraws, int]:
    """Run chains from dispersed starts; those stuck on a lower mode start again at the best.

    Half of the chains start with all domains alone, half with all together.
    """
    starts = [start_of(shared, rng, together=chain % 2 == 1) for chain in range(chains)]
    found = run_shared(shared, starts, rng.spawn(chains), burn=burn, draws=draws, step=step)
    stuck, best_chain = _stuck(shared, found)
    if stuck.any():
        best = found.last[best_chain]
        again = run_shared(
            shared, [best] * int(stuck.sum()), rng.spawn(int(stuck.sum())), burn=burn // 2,
            draws=draws, step=step,
        )  # fmt: skip
        found = _replaced(found, stuck, again)
    return found, int(stuck.sum())


def _stuck(shared: Shared, found: SharedDraws) -> tuple[BoolArray, int]:
    """Return which chains sit on a lower mode, and the best chain.

    A mode is lower if votes are less likely there, or in some domain as likely with labels swapped.
    """
    value = np.stack([d.value.mean(axis=1) for d in found.by_domain])  # domains × chains
    prior = np.array(
        [
            [
                np.mean([log_prior(shared, _rows_of(shared, s.theta)) for s in states])
                for states in draws.chain_states
            ]
            for draws in found.by_domain
        ]
    )
    means = [draws.rates.mean(axis=1) for draws in found.by_domain]  # chains × voters
    swapped = np.zeros(value.shape, dtype=bool)
    for d, rates in enumerate(means):
        top = int((value[d] + prior[d]).argmax())
        far = np.nanmax(np.abs(rates - rates[top]), axis=1) > _APART
        swapped[d] = far & (value[d] + prior[d] < (value[d] + prior[d])[top] - _NATS)
    level = value.sum(axis=0)
    low = level < level.max() - max(_NATS, 1e-4 * shared.count.sum())
    stuck = low | swapped.any(axis=0)
    fit = (level + prior.sum(axis=0)) - 1e6 * swapped.sum(axis=0)
    return (stuck & ~stuck.all()), int(fit.argmax())


def _replaced(found: SharedDraws, which: Any, again: SharedDraws) -> SharedDraws:
    members, strengths = found.members.copy(), found.strengths.copy()
    members[which], strengths[which] = again.members, again.strengths
    spare = iter(again.last)
    return SharedDraws(
        tuple(a.replaced(which, b) for a, b in zip(found.by_domain, again.by_domain, strict=True)),
        members,
        strengths,
        tuple(next(spare) if w else s for w, s in zip(which, found.last, strict=True)),
    )


def start_of(shared: Shared, rng: np.random.Generator, *, together: bool) -> SharedState:
    """Return a start from a climb in each domain, with voters weighed at random."""
    n, k = shared.n_voters, shared.n_classes
    rows = np.empty((shared.n_domains, n, *shared.prior.shape))
    rows[:] = shared.prior / shared.prior.sum(axis=1, keepdims=True)
    weight = np.empty((shared.n_domains, k))
    for d, problem in enumerate(shared.problems):
        noise = rng.exponential(size=problem.table.n_voters) ** 0.5
        state = starting_state(problem, problem.table.vote_shares(noise))
        state, _, _ = fit_point(problem, state, max_iter=20, tol=1e-4)
        state = _upright(shared, problem, state)
        rows[d, shared.voters[d]] = _rows_of(shared, state.theta)
        weight[d] = state.weight
    mean = rows.mean(axis=0)
    if shared.structure == "coupled":
        clusters = np.empty((shared.n_domains + 1, *rows.shape[1:]))
        clusters[:-1], clusters[-1] = rows, mean
        member = np.full(shared.n_domains, shared.n_domains if together else 0)
        member = member if together else np.arange(shared.n_domains)
        return SharedState(clusters, weight, member, np.empty((0, 0), dtype=np.int64), _first(1))
    pairs = shared.n_domains * n
    dishes = np.empty((pairs + 1, *shared.prior.shape))
    dishes[:pairs], dishes[pairs] = rows.reshape(pairs, *shared.prior.shape), mean.mean(axis=0)
    table = np.tile(np.arange(n), (shared.n_domains, 1))
    dish = np.arange(pairs).reshape(shared.n_domains, n)
    if together:  # a voter has one dish in all domains
        dishes[:n] = mean
        dish = table.copy()
    return SharedState(dishes, weight, table, dish, _first(2))


def _upright(shared: Shared, problem: Problem, state: State) -> State:
    """Return the state or its mirror image: of two classes, swapped labels fit votes as well.

    Only the prior tells them apart, and sweeps do not lead from one to the other.
    """
    if shared.n_classes != 2 or (problem.table.gold >= 0).any():
        return state
    mirror = State(state.theta[:, :, ::-1].copy(), state.copied, state.weight[::-1].copy())
    sides = (state, mirror)
    return max(sides, key=lambda s: log_prior(shared, _rows_of(shared, s.theta)))


def log_prior(shared: Shared, rows: FloatArray) -> float:
    """Return the log-density of rows (..., rows, cells) under their prior, up to a constant."""
    return float(np.sum((shared.prior - 1.0) * np.log(np.clip(rows, 1e-12, None))))


def _first(n: int) -> FloatArray:
    return np.ones(n)


def _rows_of(shared: Shared, theta: FloatArray) -> FloatArray:
    """Return a domain's rows, voters × rows × cells, from θ[voter, outcome, class]."""
    if not shared.symmetric:
        return np.swapaxes(theta, 1, 2)
    k = shared.n_classes
    silent = theta[:, k, 0] if shared.n_outcomes > k else np.zeros(len(theta))
    wrong = 1.0 - theta[:, 0, 0] / np.maximum(1.0 - silent, 1e-12)
    rows = np.empty((len(theta), *shared.prior.shape))
    rows[:, 0] = np.column_stack([wrong, 1.0 - wrong])
    if len(shared.prior) > 1:
        rows[:, 1] = np.column_stack([silent, 1.0 - silent])
    return rows


def run_shared(
    shared: Shared,
    starts: Sequence[SharedState],
    rngs: Sequence[np.random.Generator],
    *,
    burn: int,
    draws: int,
    step: Callable[[int], None] = lambda _: None,
) -> SharedDraws:
    """Run one chain from each start, in parallel threads."""
    chains = in_threads(
        [
            partial(run_shared_chain, shared, start, rng, burn, draws, step)
            for start, rng in zip(starts, rngs, strict=True)
        ]
    )
    kept = [chain.kept for chain in chains]
    return SharedDraws(
        by_domain=tuple(_of_domain(shared, kept, d) for d in range(shared.n_domains)),
        members=np.stack([k["members"] for k in kept]),
        strengths=np.stack([k["strengths"] for k in kept]),
        last=tuple(chain.last for chain in chains),
    )


def _of_domain(shared: Shared, kept: Sequence[dict[str, Any]], d: int) -> Draws:
    """Return the draws of one domain, as those of a domain by itself."""
    here = shared.voters[d]
    first, last = shared.domain[d], shared.domain[d + 1]
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
