"""One chain of Gibbs draws over all domains."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.consensus._arrays import (
    PatternArrays,
    RowLayout,
    SharedBlock,
    SharedPriors,
    SharedState,
    SweepScratch,
    row_layout,
)
from karat.consensus._measures import error_rates, finite_errors
from karat.consensus._threads import Stop, sweeps_in_block

if TYPE_CHECKING:
    from karat.consensus._together import Shared

__all__ = ["SharedChain", "run_shared_chain"]

_STATES = 16  # full states kept per chain
_HYPER = (1.0, 1.0)  # Gamma prior of a concentration: shape, rate


class SharedChain(NamedTuple):
    """What a chain kept, and where it ended.

    ``kept`` has, by draw: "rates", "finite", "weights", "value", "members", "strengths"; the
    "thetas" of every "every"-th draw; and "proba", a sum over the draws.
    """

    kept: dict[str, Any]
    last: SharedState


def run_shared_chain(
    shared: "Shared",
    start: SharedState,
    rng: np.random.Generator,
    burn: int,
    draws: int,
    step: Callable[[int], None],
    stop: Stop,
) -> SharedChain:
    """Run a chain from ``start``; ``step`` is told of sweeps done, ``stop`` ends the chain."""
    state = SharedState._make(np.array(part, order="C", copy=True) for part in start)
    priors = _priors(shared, state)
    group = np.arange(shared.n_classes)
    patterns = PatternArrays(shared.start, shared.cell, shared.count, shared.gold, group)
    rows = shared.prior[:1] if shared.symmetric else shared.prior
    layout = row_layout(rows, shared.n_outcomes, group, symmetric=shared.symmetric)
    sweep = _sweeper(shared, rng, (patterns, layout, priors), state)
    kept, unused = _room(shared, state, draws), np.zeros((len(shared.count), shared.n_classes))
    most = sweeps_in_block(_work(shared))
    done = -burn
    while done < draws and not stop.is_set():
        sweeps = min(most, (draws if done >= 0 else 0) - done)
        block = _block(shared, state, sweeps)
        sweep(done + burn, block, kept["proba"] if done >= 0 else unused)
        if done >= 0:
            _keep(shared, kept, done, block)
        done += sweeps
        step(sweeps)
    return SharedChain(kept, state)


def _priors(shared: "Shared", state: SharedState) -> SharedPriors:
    """Return the priors; fixed concentrations are written into ``state``."""
    hyper = np.array([_HYPER, _HYPER])
    if shared.concentration is not None:
        hyper = np.zeros((2, 2))
        state.strength[:] = shared.concentration[: len(state.strength)]
    return SharedPriors(shared.domain, shared.present, shared.prior, shared.weight_prior, hyper)


def _sweeper(
    shared: "Shared",
    rng: np.random.Generator,
    data: tuple[PatternArrays, RowLayout, SharedPriors],
    state: SharedState,
) -> Callable[[int, SharedBlock, FloatArray], None]:
    """Return the call that makes the sweeps of a block."""
    own, classes = shared.n_voters * shared.n_outcomes, shared.n_classes
    scratch = SweepScratch(
        table=np.empty((classes, own)),
        share=np.empty(classes),
        drawn=np.empty(classes),
        sizes=np.empty(classes),
        rows=np.empty(0),
    )
    sweeps: Any
    counted: Any
    if shared.structure == "coupled":
        from karat.consensus._coupled_loops import clusters, sweeps_coupled

        sweeps, counted = sweeps_coupled, clusters(data[2], state)
    else:
        from karat.consensus._hierarchical_loops import restaurants, sweeps_hierarchical

        sweeps, counted = sweeps_hierarchical, restaurants(data[2], state)

    def sweep(first: int, block: SharedBlock, proba_sum: FloatArray) -> None:
        sweeps(rng, first, *data, state, scratch, counted, block, proba_sum)

    return sweep


def _work(shared: "Shared") -> int:
    """Return about how many numbers one sweep touches."""
    parameters = shared.present.size * shared.n_outcomes * shared.n_classes
    # A parameter is drawn, and its voter or domain weighed against every cluster.
    return len(shared.cell) * shared.n_classes + 20 * len(shared.count) + 100 * parameters


def _block(shared: "Shared", state: SharedState, sweeps: int) -> SharedBlock:
    d, own, k = shared.n_domains, shared.n_voters * shared.n_outcomes, shared.n_classes
    return SharedBlock(
        theta=np.empty((sweeps, d, own, k)),
        counts=np.empty((sweeps, d, own, k)),
        weight=np.empty((sweeps, d, k)),
        value=np.empty((sweeps, d)),
        member=np.empty((sweeps, state.member.size), dtype=np.int64),
        strength=np.empty((sweeps, len(state.strength))),
    )


def _room(shared: "Shared", state: SharedState, draws: int) -> dict[str, Any]:
    d, n, k, o = shared.n_domains, shared.n_voters, shared.n_classes, shared.n_outcomes
    every = max(1, draws // _STATES)
    return {
        "rates": np.empty((draws, d, n)),
        "finite": np.empty((draws, d, n)),
        "weights": np.empty((draws, d, k)),
        "value": np.empty((draws, d)),
        "thetas": np.empty((-(-draws // every), d, n, o, k)),
        "proba": np.zeros((len(shared.count), k)),
        "members": np.empty((draws, state.member.size), dtype=np.int64),
        "strengths": np.empty((draws, len(state.strength))),
        "every": every,
    }


def _keep(shared: "Shared", kept: dict[str, Any], first: int, block: SharedBlock) -> None:
    """Keep the draws of a block, of which the first is draw ``first``."""
    n, o, k = shared.n_voters, shared.n_outcomes, shared.n_classes
    sweeps, group = len(block.value), np.arange(k)
    theta = block.theta.reshape(sweeps, shared.n_domains, n, o, k)
    at = slice(first, first + sweeps)
    kept["rates"][at] = error_rates(theta, block.weight, group, k)
    kept["finite"][at] = finite_errors(block.counts, n, o, group, k)
    kept["weights"][at], kept["value"][at] = block.weight, block.value
    kept["members"][at], kept["strengths"][at] = block.member, block.strength
    for s in range(-first % kept["every"], sweeps, kept["every"]):
        kept["thetas"][(first + s) // kept["every"]] = theta[s]
