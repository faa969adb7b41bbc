"""Chains of Gibbs draws of the model of one domain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.consensus.model import Problem, error_rates, finite_errors
from karat.consensus.sampling._threads import Stop, in_threads, sweeps_in_block
from karat.consensus.sampling.loops import (
    CopyArrays,
    PatternArrays,
    SweepBlock,
    SweepScratch,
    row_layout,
    votes_in_order,
)
from karat.votes.em import State

__all__ = ["Draws", "KeptDraws", "run_chain", "run_chains"]

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

    def thinned(self, most: int) -> "Draws":
        """Return at most so many draws of each chain, evenly over it and in single precision."""
        n = self.value.shape[1]
        at = np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)
        some = {
            name: getattr(self, name)[:, at].astype(np.float32)
            for name in ("rates", "finite", "weights", "value")
        }
        return replace(self, **some)

    def replaced(self, which: BoolArray, other: "Draws") -> "Draws":
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
            space.theta[: sweeps + 1], space.copied[: sweeps + 1], space.weight[: sweeps + 1],
            space.value[:sweeps], space.counts[:sweeps],
        )  # fmt: skip
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
        from karat.consensus.sampling.loops import gibbs

        return lambda block, proba_sum: gibbs(*data, block, proba_sum)
    from karat.consensus.sampling.loops import gibbs_copying

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
