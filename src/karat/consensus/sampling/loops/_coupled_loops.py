"""Gibbs sweeps of domains in clusters of shared error rates (CBEE), compiled by numba.

One sweep draws the labels of each domain given the error rates; then who shares with whom, the
rates integrated out; then the rates. Import only when needed.
"""

import math
from typing import NamedTuple

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray
from karat.consensus.sampling.loops._arrays import (
    PatternArrays,
    PooledBlock,
    PooledPriors,
    PooledState,
    RowLayout,
    SweepScratch,
)
from karat.consensus.sampling.loops._gibbs_loops import fill_cells, responsibility
from karat.consensus.sampling.loops._label_loops import count_rows, draw_labels, fill_theta
from karat.consensus.sampling.loops._partition_loops import (
    add,
    clear,
    concentration,
    draw_rows,
    pick,
    put,
    reassign,
    split_or_merge,
)

__all__ = ["Clusters", "clusters", "sweeps_coupled"]

_LABELS_OUT = 4  # every so many sweeps domains move with their labels integrated out
_FRESH = 2  # clusters drawn from the prior that such a move offers


class Clusters(NamedTuple):
    """The clusters of domains, counted, and memory for the moves.

    The rows of all voters are one table here: "long" is voters · rows.
    """

    prior: FloatArray  # long × cells
    stats: FloatArray  # domains × long × cells: counts of each domain
    size: IntArray  # domains of each cluster
    total: FloatArray  # clusters × long × cells: counts
    alive: IntArray  # all domains
    fresh: FloatArray  # clusters on offer × voters × rows × cells: rates
    logits: FloatArray
    where: IntArray


def clusters(priors: PooledPriors, state: PooledState) -> Clusters:
    """Return the sizes of the clusters of ``state``, and memory for the rest."""
    domains, most, voters = len(state.member), len(state.rows), state.rows.shape[1]
    long, cells = voters * len(priors.rows), priors.rows.shape[1]
    return Clusters(
        prior=np.tile(priors.rows, (voters, 1)),
        stats=np.zeros((domains, long, cells)),
        size=np.bincount(state.member, minlength=most),
        total=np.zeros((most, long, cells)),
        alive=np.arange(domains),
        fresh=np.zeros((_FRESH, *state.rows.shape[1:])),
        logits=np.zeros(most + _FRESH),
        where=np.zeros(most + _FRESH, dtype=np.int64),
    )


@compiled
def _domain_value(
    d: int,
    patterns: PatternArrays,
    priors: PooledPriors,
    weight: FloatArray,
    table: FloatArray,
    share: FloatArray,
) -> float:
    """Return the log-likelihood of a domain's votes, labels integrated out."""
    value = 0.0
    for p in range(priors.domain[d], priors.domain[d + 1]):
        value += patterns.items[p] * responsibility(patterns, p, table, weight, share)
    return value


@compiled
def _move_without_labels(
    rng: np.random.Generator,
    patterns: PatternArrays,
    layout: RowLayout,
    priors: PooledPriors,
    state: PooledState,
    scratch: SweepScratch,
    groups: Clusters,
    theta: FloatArray,
) -> None:
    """Move each domain to a cluster by its votes, labels integrated out, rates at hand.

    Algorithm 8 of R. M. Neal, Markov chain sampling methods for Dirichlet process mixture models,
    2000: besides the clusters there are, a few are offered that the prior made. Labels hold a
    domain where it is; here they do not.
    """
    size, rows, fresh = groups.size, state.rows, groups.fresh
    most, voters = len(size), rows.shape[1]
    clear(groups.total[0])  # no counts: what is drawn with them is drawn from the prior
    empty = groups.total[0].reshape(voters, priors.rows.shape[0], priors.rows.shape[1])[0]
    for d in range(len(state.member)):
        old = state.member[d]
        size[old] -= 1
        for f in range(_FRESH):
            for j in range(voters):
                if f == 0 and size[old] == 0:  # a cluster of its own stays on offer
                    put(fresh[f, j], rows[old, j])
                else:
                    draw_rows(rng, priors.rows, empty, fresh[f, j])
        options = 0
        for k in range(most + _FRESH):
            if k < most and size[k] == 0:
                continue
            fill_theta(rows[k] if k < most else fresh[k - most], layout, theta)
            fill_cells(theta, scratch.table)
            chance = size[k] * 1.0 if k < most else state.strength[0] / _FRESH
            groups.logits[options] = math.log(chance) + _domain_value(
                d, patterns, priors, state.weight[d], scratch.table, scratch.share
            )
            groups.where[options] = k
            options += 1
        new = groups.where[pick(rng, groups.logits, options)]
        if new >= most:
            free = 0
            while size[free] > 0:
                free += 1
            for j in range(voters):
                put(rows[free, j], fresh[new - most, j])
            new = free
        state.member[d] = new
        size[new] += 1


@compiled
def _share(rng: np.random.Generator, state: PooledState, groups: Clusters) -> None:
    """Move domains between clusters given their counts, the rates integrated out."""
    for k in range(len(groups.total)):
        clear(groups.total[k])
    for d in range(len(state.member)):
        add(groups.total[state.member[d]], groups.stats[d], 1.0)
    domains, alpha = len(state.member), state.strength[0]
    reassign(
        rng, groups.stats, groups.alive, domains, groups.prior, alpha, state.member, groups.size,
        groups.total,
    )  # fmt: skip
    split_or_merge(
        rng, groups.stats, groups.alive, domains, groups.prior, alpha, state.member, groups.size,
        groups.total,
    )  # fmt: skip


@compiled
def sweeps_coupled(
    rng: np.random.Generator,
    first: int,
    patterns: PatternArrays,
    layout: RowLayout,
    priors: PooledPriors,
    state: PooledState,
    scratch: SweepScratch,
    groups: Clusters,
    block: PooledBlock,
    proba_sum: FloatArray,
) -> None:
    """Run sweeps of the coupled model (CBEE) from ``state``, in place; fill ``block``.

    ``state.rows[k, voter, row, cell]`` are the error rates of cluster k. ``first`` counts the
    sweeps made before.
    """
    domains, voters = len(state.member), state.rows.shape[1]
    long, cells = groups.prior.shape
    for s in range(len(block.value)):
        if (first + s) % _LABELS_OUT == 0:
            theta = block.theta[s, 0]  # memory that is not needed yet
            _move_without_labels(rng, patterns, layout, priors, state, scratch, groups, theta)
        for d in range(domains):
            fill_theta(state.rows[state.member[d]], layout, block.theta[s, d])
            draw_labels(rng, s, d, patterns, priors, state, scratch, block, proba_sum)
            shape = (voters, priors.rows.shape[0], cells)
            count_rows(block.counts[s, d], layout, groups.stats[d].reshape(shape))
        _share(rng, state, groups)
        used = 0
        for k in range(len(groups.size)):
            if groups.size[k] > 0:
                used += 1
                draw_rows(rng, groups.prior, groups.total[k], state.rows[k].reshape(long, cells))
        strength, hyper = state.strength, priors.hyper
        if hyper[0, 0] > 0:
            strength[0] = concentration(rng, strength[0], used, domains, hyper[0, 0], hyper[0, 1])
        block.strength[s, 0] = strength[0]
        for d in range(domains):
            block.member[s, d] = state.member[d]
            fill_theta(state.rows[state.member[d]], layout, block.theta[s, d])
            for c in range(len(priors.weight)):
                block.weight[s, d, c] = state.weight[d, c]
