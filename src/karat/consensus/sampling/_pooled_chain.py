"""One chain of Gibbs draws over all domains."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.consensus.model import error_rates, finite_errors
from karat.consensus.sampling._pooled_domains import PooledDomains
from karat.consensus.sampling._threads import Stop, sweeps_in_block
from karat.consensus.sampling.loops import (
    PatternArrays,
    PooledBlock,
    PooledPriors,
    PooledState,
    RowLayout,
    SweepScratch,
    row_layout,
    votes_in_order,
)

__all__ = ["PooledChain", "run_pooled_chain"]

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
        from karat.consensus.sampling.loops import clusters, sweeps_coupled

        sweeps, counted = sweeps_coupled, clusters(data[2], state)
    else:
        from karat.consensus.sampling.loops import local_clusters, sweeps_hierarchical

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
