"""Chains of Gibbs sweeps over the votes of one domain: start, run in threads, diagnose."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TextIO, TypeVar

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.consensus.model import Problem, error_rates, finite_errors
from karat.consensus.sampling._arrays import (
    CopyArrays,
    PatternArrays,
    SweepBlock,
    SweepScratch,
    row_layout,
    votes_in_order,
)
from karat.votes.em import State, fit_point, starting_state
from karat.votes.patterns import VoteTable

MODE_NATS = 10.0  # a chain whose likelihood is lower by more has not found the mode
_MANY_VOTES = 50_000  # beyond which a start is not climbed far
_TINY_COST = 2000  # numbers touched in a sweep; four voters have no more
_ANNEAL = (0.1, 0.2, 0.4, 0.7)  # shares of the votes that count before a longer run
_LONGEST = 16_000  # draws per chain of a longer run
_WEIGHTS = 20160619  # seed of the weights of voters at the starts
MODES_APART = 0.1  # modes whose rates differ by more are two


def dispersed_chains(
    problem: Problem,
    chains: int,
    draws: int | None,
    rng: np.random.Generator,
    step: Callable[[int], None],
) -> tuple[Draws, int, list[float]]:
    """Run the chains from dispersed starts; those stuck on a lower mode start again at the best.

    Return the draws, the number of restarts, and the distances of separate modes that fit as well.
    """
    starts, low = _starts(problem, chains)
    kept, burn = _sweeps_for(problem, draws)
    rngs = rng.spawn(chains)
    found = run_chains(problem, starts, rngs, burn=burn, draws=kept, step=step)
    found, stuck = _unstuck(problem, found, rng, step)
    return found, low + stuck, modes_of(found)


def continued(
    problem: Problem,
    found: Draws,
    rng: np.random.Generator,
    step: Callable[[int], None],
    *,
    times: int = 4,
) -> Draws:
    """Return a longer run from where the chains ended; what they drew before is dropped.

    The votes first count for less, and then more and more, so that chains leave the modes in which
    they sat and find those that hold most of the posterior. Chains that are stuck on a lower mode
    after all start again at the best.
    """
    chains, draws = found.value.shape
    starts = found.last_states
    for share in _ANNEAL:
        cool = replace(problem, table=problem.table.with_counts(share * problem.table.count))
        some = run_chains(
            cool, starts, rng.spawn(chains), burn=0, draws=max(draws // 4, 20), step=step
        )
        starts = some.last_states
    rngs = rng.spawn(chains)
    long = run_chains(
        problem, starts, rngs, burn=draws // 2, draws=min(times * draws, _LONGEST), step=step
    )
    return _unstuck(problem, long, rng, step, nats=MODE_NATS / 2)[0]


def _unstuck(
    problem: Problem,
    found: Draws,
    rng: np.random.Generator,
    step: Callable[[int], None],
    *,
    nats: float = MODE_NATS,
) -> tuple[Draws, int]:
    """Start chains that are stuck on a lower mode again at the best; return how many."""
    level, draws = found.value.mean(axis=1), found.value.shape[1]
    stuck = level < level.max() - max(nats, 1e-4 * problem.table.count.sum())
    if not stuck.any():
        return found, 0
    number = int(stuck.sum())
    best = [found.last_states[int(level.argmax())]] * number
    again = run_chains(problem, best, rng.spawn(number), burn=draws // 2, draws=draws, step=step)
    return found.replaced(stuck, again), number


def modes_of(draws: Draws) -> list[float]:
    """Return how far apart the means of chains are that cannot be draws of one distribution."""
    means, spread = draws.rates.mean(axis=1), draws.rates.std(axis=1).max(axis=0)
    apart = np.ptp(means, axis=0)
    far = apart > np.maximum(MODES_APART, 3 * spread)
    return [float(apart[far].max())] if far.any() else []


def _sweeps_for(problem: Problem, draws: int | None) -> tuple[int, int]:
    """Return draws and burn-in per chain: 1,000 each, fewer on many votes, more on very few."""
    if draws is not None:
        return draws, draws
    votes = len(problem.cell) * problem.n_components
    parameters = problem.table.n_voters * problem.table.n_outcomes * problem.n_components
    cost = votes + 6 * parameters
    kept = int(np.clip(5e7 / cost, 100, 1000)) if cost > _TINY_COST else 4000
    return kept, kept if kept >= 1000 else kept // 2


def _starts(problem: Problem, chains: int) -> tuple[list[State], int]:
    """Return one start from the majority vote and others from voters weighed at random.

    The weights are the same in every run and do not depend on the order of the voters: which modes
    are found must not depend on luck. A start that climbs to a much lower mode would waste its
    chain: the best takes its place, and the number of those is returned.
    """
    table = problem.table
    rng = np.random.default_rng(_WEIGHTS)
    voters = table.order()[1]
    steps = 30 if len(table.voter) < _MANY_VOTES else 10
    starts, level = [], []
    for chain in range(chains):
        weight = _gold_weight(table)
        if chain:
            random = np.empty(table.n_voters)
            random[voters] = rng.exponential(size=table.n_voters) ** 2
            weight = random if weight is None else weight * random
        state = starting_state(problem, table.vote_shares(weight))
        state, value, _ = fit_point(problem, state, max_iter=steps, tol=1e-4)
        starts.append(state)
        level.append(float(table.count @ value))
    best = int(np.argmax(level))
    low = np.array(level) < level[best] - max(MODE_NATS, 1e-3 * table.count.sum())
    return [starts[best] if out else s for s, out in zip(starts, low, strict=True)], int(low.sum())


def _gold_weight(table: VoteTable) -> FloatArray | None:
    """Return the weight of each voter by its record on gold labels, None if there are none."""
    known = table.gold >= 0
    if not known.any():
        return None
    cast = known[table.pattern_of_vote] & (table.outcome < table.n_classes)
    voter, pattern = table.voter[cast], table.pattern_of_vote[cast]
    count = table.count[pattern]
    right = count * (table.outcome[cast] == table.gold[pattern])
    n = np.bincount(voter, weights=count, minlength=table.n_voters)
    share = (1 + np.bincount(voter, weights=right, minlength=table.n_voters)) / (2 + n)
    odds = np.log(share * (table.n_classes - 1) / (1 - share))
    return np.maximum(odds, 0.01)


# --- Chains of Gibbs draws of the model of one domain.

_STATES = 16  # full states kept per chain


@dataclass(frozen=True, slots=True)
class Draws:
    """What the chains kept; the first two axes are chain and draw."""

    rates: FloatArray  # chains × draws × voters: error rate in the population
    finite: FloatArray  # the same, on these very items
    weights: FloatArray  # chains × draws × components
    value: FloatArray  # chains × draws: log P(votes | parameters)
    label_proba: FloatArray  # chains × patterns × components
    chain_states: tuple[tuple[State, ...], ...]  # some full states of each chain

    @property
    def states(self) -> tuple[State, ...]:
        """The full states, chain after chain."""
        return tuple(state for chain in self.chain_states for state in chain)

    @property
    def last_states(self) -> tuple[State, ...]:
        """The last full state of each chain."""
        return tuple(chain[-1] for chain in self.chain_states)

    def thinned(self, most: int) -> Draws:
        """Return at most so many draws of each chain, evenly over it and in single precision."""
        n = self.value.shape[1]
        at = np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)
        some = {
            name: getattr(self, name)[:, at].astype(np.float32)
            for name in ("rates", "finite", "weights", "value")
        }
        return replace(self, **some)

    def replaced(self, which: BoolArray, other: Draws) -> Draws:
        """Return the draws with the chains of ``other`` in the place of some."""
        arrays = {}
        for name in ("rates", "finite", "weights", "value", "label_proba"):
            arrays[name] = getattr(self, name).copy()
            arrays[name][which] = getattr(other, name)
        spare = iter(other.chain_states)
        states = tuple(
            next(spare) if out else kept for out, kept in zip(which, self.chain_states, strict=True)
        )
        return Draws(**arrays, chain_states=states)


def run_chains(
    problem: Problem,
    starts: Sequence[State],
    rngs: Sequence[np.random.Generator],
    *,
    burn: int,
    draws: int,
    step: Callable[[int], None] = lambda _: None,
) -> Draws:
    """Run one chain from each start, in threads; ``step`` is called with the sweeps made."""
    chains = in_threads(
        [
            partial(run_chain, problem, start, rng, burn, draws, step)
            for start, rng in zip(starts, rngs, strict=True)
        ]
    )
    return Draws(
        rates=np.stack([c.rates for c in chains]),
        finite=np.stack([c.finite for c in chains]),
        weights=np.stack([c.weights for c in chains]),
        value=np.stack([c.value for c in chains]),
        label_proba=np.stack([c.proba for c in chains]),
        chain_states=tuple(tuple(c.states) for c in chains),
    )


class KeptDraws:
    """What one chain keeps of its draws."""

    def __init__(self, problem: Problem, draws: int, states: int) -> None:
        voters, components = problem.table.n_voters, problem.n_components
        self._problem, self._every = problem, max(1, draws // states)
        self.rates = np.empty((draws, voters))
        self.finite = np.empty((draws, voters))
        self.weights = np.empty((draws, components))
        self.value = np.empty(draws)
        self.proba = np.zeros((problem.table.n_patterns, components))
        self.states: list[State] = []

    def keep(self, first: int, block: SweepBlock) -> None:
        """Keep the draws of a block, of which the first is draw ``first``."""
        problem, table = self._problem, self._problem.table
        n, sweeps = table.n_voters, len(block.value)
        at = slice(first, first + sweeps)
        theta = block.theta[1:].reshape(sweeps, n, table.n_outcomes, -1)
        copied, weight = block.copied[1:], block.weight[1:]
        self.rates[at] = error_rates(
            theta, weight, problem.group, table.n_classes, copied, problem.parent, problem.order
        )
        self.finite[at] = finite_errors(
            block.counts, n, table.n_outcomes, problem.group, table.n_classes
        )
        self.weights[at], self.value[at] = weight, block.value
        for s in range(-first % self._every, sweeps, self._every):
            self.states.append(State(theta[s].copy(), copied[s].copy(), weight[s].copy()))


def run_chain(
    problem: Problem,
    start: State,
    rng: np.random.Generator,
    burn: int,
    draws: int,
    step: Callable[[int], None],
    stop: Stop,
    *,
    states: int = _STATES,
) -> KeptDraws:
    """Run a chain from ``start``.

    After each block of sweeps ``step`` is called with their number; ``stop``, once set, ends the
    chain before the next block. About ``states`` full states are kept, evenly spaced.
    """
    sweep = _sweeper(problem, rng)
    kept, space = KeptDraws(problem, draws, states), _space(problem, start, burn + draws)
    unused = np.empty_like(kept.proba)
    done = -burn
    while done < draws and not stop.is_set():
        sweeps = min(len(space.value), (draws if done >= 0 else 0) - done)
        block = SweepBlock(
            space.theta[: sweeps + 1],
            space.copied[: sweeps + 1],
            space.weight[: sweeps + 1],
            space.value[:sweeps],
            space.counts[:sweeps],
        )
        sweep(block, kept.proba if done >= 0 else unused)
        if done >= 0:
            kept.keep(done, block)
        for part in (space.theta, space.copied, space.weight):
            part[0] = part[sweeps]
        done += sweeps
        step(sweeps)
    kept.proba /= np.maximum(kept.proba.sum(axis=1, keepdims=True), 1e-300)
    return kept


def _sweeper(
    problem: Problem, rng: np.random.Generator
) -> Callable[[SweepBlock, FloatArray], None]:
    """Return the call that makes the sweeps of a block."""
    table, components = problem.table, problem.n_components
    items = np.ascontiguousarray(table.count)  # another layout would be compiled for once more
    heard, cell = votes_in_order(table.start, problem.cell, table.counted)
    patterns = PatternArrays(table.start, heard, cell, items, table.gold, problem.group)
    symmetric = problem.model.errors == "symmetric"
    layout = row_layout(problem.prior, table.n_outcomes, problem.group, symmetric=symmetric)
    scratch = SweepScratch(
        table=np.empty((components, problem.n_rows)),
        share=np.empty(components),
        drawn=np.empty(components),
        sizes=np.empty(components),
        rows=np.empty(len(layout.prior)),
    )
    data = (rng, patterns, layout, problem.weight_prior, scratch)
    if (problem.parent < 0).all():
        from karat.consensus.sampling._gibbs_loops import gibbs

        return lambda block, proba_sum: gibbs(*data, block, proba_sum)
    from karat.consensus.sampling._gibbs_loops import gibbs_copying

    copies = CopyArrays(
        parent=problem.parent,
        prior=problem.copy_prior,
        own=np.empty((table.n_voters * table.n_outcomes, components)),
        tally=np.empty((table.n_voters, 2)),
    )
    return lambda block, proba_sum: gibbs_copying(*data, block, proba_sum, copies)


def _space(problem: Problem, start: State, sweeps: int) -> SweepBlock:
    """Return memory for the longest block, with the start as its first state."""
    table, components = problem.table, problem.n_components
    own = table.n_voters * table.n_outcomes
    # A drawn parameter takes as long as ten votes, a pattern's items as long as twenty.
    work = components * (len(problem.cell) + 10 * own) + 20 * table.n_patterns
    most = min(sweeps_in_block(work), sweeps)
    space = SweepBlock(
        theta=np.empty((most + 1, own, components)),
        copied=np.zeros((most + 1, table.n_voters)),
        weight=np.empty((most + 1, components)),
        value=np.empty(most),
        counts=np.empty((most, problem.n_rows, components)),
    )
    space.theta[0] = start.theta.reshape(own, components)
    space.copied[0], space.weight[0] = start.copied, start.weight
    return space


# --- Chains in threads that stop together.

Stop = threading.Event
_Result = TypeVar("_Result")
_MOST_THREADS = 8
# Numbers touched in a block: a few hundredths of a second, which is how long an interrupt waits.
_BLOCK_WORK = 2_000_000
_MOST_SWEEPS = 500  # so that blocks of the smallest tables stay short as well


def in_threads(work: Sequence[Callable[[Stop], _Result]]) -> list[_Result]:
    """Return the results of all calls, each made in a thread.

    Every call is given an event, which it looks at between blocks of work; when that is set it
    returns at once, whatever it has. It is set when a call fails, or when this thread is
    interrupted: Ctrl-C then waits for one block and not for whole chains.
    """
    stop = Stop()
    with ThreadPoolExecutor(max_workers=min(len(work), _MOST_THREADS)) as pool:
        jobs = [pool.submit(call, stop) for call in work]
        try:
            return [job.result() for job in jobs]
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def sweeps_in_block(work: int) -> int:
    """Return how many sweeps make a block, if one sweep touches ``work`` numbers."""
    return min(max(_BLOCK_WORK // max(work, 1), 1), _MOST_SWEEPS)


class Progress:
    """A line on the terminal that is rewritten at most five times a second."""

    def __init__(self, wanted: bool, total: int, stream: TextIO | None = None) -> None:
        chosen = stream or sys.stderr
        self._stream = chosen if wanted and chosen.isatty() else None  # nothing into a pipe
        self._total = total
        self._done = 0
        self._sweeps = 0
        self._name = ""
        self._last = 0.0
        self._lock = threading.Lock()

    def all_domains(self) -> Callable[[int], None]:
        """Start a fit of all domains at once."""
        self._name = "all domains together"
        return self._step

    def domain(self, name: str) -> Callable[[int], None]:
        """Start a domain; return what the chains call with the sweeps they have made."""
        self._name = name
        self._done += 1
        return self._step

    def _step(self, sweeps: int) -> None:
        with self._lock:
            self._sweeps += sweeps
            now = time.monotonic()
            if self._stream is None or now - self._last < 0.2:
                return
            self._last = now
            where = (
                f"domain {self._done} of {self._total}, " if self._total > 1 and self._done else ""
            )
            self._stream.write(f"\r\x1b[2Kkarat: {where}{self._name}: {self._sweeps:,} sweeps")
            self._stream.flush()

    def close(self) -> None:
        """Clear the line."""
        if self._stream is not None:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
