"""Chains of Gibbs draws."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.consensus._model import Model, Problem, build_problem
from karat.votes._table import VoteTable
from karat.votes.em import State

__all__ = ["Draws", "compile_in_background", "run_chains"]

_STATES = 16  # full states kept per chain
_BLOCK = 200  # sweeps between two reports of progress
_compiling = threading.Event()


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
    """Run one chain from each start, in parallel threads; ``step`` is told of sweeps done."""
    with ThreadPoolExecutor(max_workers=min(len(starts), 8)) as pool:
        jobs = [
            pool.submit(_chain, problem, start, rng, burn, draws, step)
            for start, rng in zip(starts, rngs, strict=True)
        ]
        chains = [job.result() for job in jobs]
    rates, finite, weights, value, proba, states = zip(*chains, strict=True)
    return Draws(
        rates=np.stack(rates),
        finite=np.stack(finite),
        weights=np.stack(weights),
        value=np.stack(value),
        label_proba=np.stack(proba),
        chain_states=tuple(states),
    )


def compile_in_background() -> None:
    """Start to compile the sweeps while models are still compared, which takes them as long."""
    if not _compiling.is_set():
        _compiling.set()
        threading.Thread(target=_smallest_run, daemon=True).start()


def _smallest_run() -> None:
    table = VoteTable(
        start=np.array([0, 2]),
        voter=np.array([0, 1]),
        outcome=np.array([0, 0]),
        count=np.ones(1),
        gold=np.array([-1]),
        n_voters=2,
        n_classes=2,
        n_outcomes=2,
    )
    problem = build_problem(Model("smallest"), table)
    state = State(np.full((2, 2, 2), 0.5), np.zeros(2), np.full(2, 0.5))
    _chain(problem, state, np.random.default_rng(0), 1, 2, lambda _: None)


def _chain(
    problem: Problem,
    start: State,
    rng: np.random.Generator,
    burn: int,
    draws: int,
    step: Callable[[int], None],
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, tuple[State, ...]]:
    from karat.consensus._loops import gibbs

    table, components = problem.table, problem.n_components
    theta, copied, weight = start.theta.copy(), start.copied.copy(), start.weight.copy()
    rates, finite = np.empty((draws, table.n_voters)), np.empty((draws, table.n_voters))
    weights, value = np.empty((draws, components)), np.empty(draws)
    every = max(1, draws // _STATES)
    kept = -(-draws // every)
    thetas, copies = np.empty((kept, *theta.shape)), np.empty((kept, len(copied)))
    proba = np.zeros((table.n_patterns, components))
    done = -burn
    while done < draws:
        # A block starts where a full state is due, so that these stay evenly spaced.
        most = every * max(1, _BLOCK // every)
        sweeps = min(most, (draws if done >= 0 else 0) - done)
        at = slice(done, done + sweeps) if done >= 0 else slice(0, 0)
        full = slice(done // every, None) if done >= 0 else slice(0, 0)
        gibbs(
            rng, table.start, problem.cell, table.count, table.gold, problem.group,
            table.n_classes, problem.model.errors == "symmetric", problem.prior,
            problem.weight_prior, problem.copy_prior, problem.parent, problem.order, problem.n_rows,
            theta, copied, weight, sweeps, rates[at], finite[at], weights[at], value[at],
            thetas[full], copies[full], every, proba,
        )  # fmt: skip
        done += sweeps
        step(sweeps)
    proba /= proba.sum(axis=1, keepdims=True)
    kept_weights = weights[::every]
    states = tuple(State(*each) for each in zip(thetas, copies, kept_weights, strict=True))
    return rates, finite, weights, value, proba, states
