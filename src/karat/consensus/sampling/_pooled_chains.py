"""Chains over all domains at once, for models in which domains share error rates."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.consensus.sampling._chain import Draws
from karat.consensus.sampling._chains import MODE_NATS, MODES_APART
from karat.consensus.sampling._pooled_chain import run_pooled_chain
from karat.consensus.sampling._pooled_domains import PooledDomains, log_prior, rows_of
from karat.consensus.sampling._pooled_starts import pooled_start
from karat.consensus.sampling._threads import in_threads
from karat.consensus.sampling.loops import PooledState
from karat.votes.em import State

__all__ = ["PooledDraws", "pooled_chains", "run_pooled"]


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
            pooled, [best] * int(stuck.sum()), rng.spawn(int(stuck.sum())), burn=burn // 2,
            draws=draws, step=step,
        )  # fmt: skip
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
