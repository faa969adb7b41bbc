"""The compiled Gibbs sweeps over several domains: coupled clusters, and a hierarchy of them."""

import math
from typing import NamedTuple

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray
from karat.consensus.sampling._arrays import (
    PatternArrays,
    PooledBlock,
    PooledPriors,
    PooledState,
    RowLayout,
    SweepScratch,
)
from karat.consensus.sampling._gibbs_loops import (
    count_rows,
    draw_labels,
    fill_cells,
    fill_theta,
    responsibility,
)
from karat.consensus.sampling._partition_loops import (
    add,
    clear,
    concentration,
    draw_rows,
    gain,
    gamma,
    pick,
    put,
    reassign,
    split_or_merge,
)

# --- Gibbs sweeps of domains in clusters of shared error rates (CBEE), compiled by numba.
#
# One sweep draws the labels of each domain given the error rates; then who shares with whom, the
# rates integrated out; then the rates.

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
        rng,
        groups.stats,
        groups.alive,
        domains,
        groups.prior,
        alpha,
        state.member,
        groups.size,
        groups.total,
    )
    split_or_merge(
        rng,
        groups.stats,
        groups.alive,
        domains,
        groups.prior,
        alpha,
        state.member,
        groups.size,
        groups.total,
    )


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


# --- Gibbs sweeps of voters in domains that share single error rates (HCBEE), compiled by numba.
#
# A hierarchical Dirichlet process: the voters of a domain are in *local clusters*, and each local
# cluster has an *atom*, a set of error rates that local clusters of all domains may share.
# Platanios et al. 2016 call domains restaurants, local clusters tables, and atoms dishes.

_ATOMS_EVERY = 2  # every so many sweeps local clusters choose their atom again


class LocalClusters(NamedTuple):
    """Sizes and counts of the local clusters and of the atoms, and memory for the moves."""

    stats: FloatArray  # domains × voters × rows × cells: counts of each voter
    own: FloatArray  # voters × rows × cells: rates of the voters of one domain
    size: IntArray  # domains × local clusters: voters in each
    n_of_atom: IntArray  # local clusters of each atom
    total: FloatArray  # atoms × rows × cells: counts
    by_local: FloatArray  # (domain, local cluster) × rows × cells: counts
    alive: IntArray  # the local clusters that are not empty
    logits: FloatArray
    where: IntArray


def local_clusters(priors: PooledPriors, state: PooledState) -> LocalClusters:
    """Return the sizes of the clusters of ``state``, and memory for the rest."""
    (domains, voters), atoms = priors.present.shape, len(state.rows)
    here = np.nonzero(priors.present)
    size = np.zeros((domains, voters), dtype=np.int64)
    np.add.at(size, (here[0], state.member[here]), 1)
    return LocalClusters(
        stats=np.zeros((domains, voters, *priors.rows.shape)),
        own=np.zeros((voters, *priors.rows.shape)),
        size=size,
        n_of_atom=np.bincount(state.atom[size > 0], minlength=atoms),
        total=np.zeros((atoms, *priors.rows.shape)),
        by_local=np.zeros((domains * voters, *priors.rows.shape)),
        alive=np.zeros(domains * voters, dtype=np.int64),
        logits=np.zeros(atoms + voters + 2),
        where=np.zeros(atoms + voters + 2, dtype=np.int64),
    )


@compiled
def _assign_voters(
    rng: np.random.Generator,
    d: int,
    priors: PooledPriors,
    state: PooledState,
    local: LocalClusters,
) -> None:
    """Move each voter of a domain to a local cluster, the rates integrated out.

    Equations 23 and 32 of Platanios et al. 2016. A local cluster has the weight of its size; a new
    one α·m_k/(m + γ) with atom k, which m_k of all m local clusters have, and α·γ/(m + γ) with a
    new atom.
    """
    atoms, voters = len(local.n_of_atom), priors.present.shape[1]
    for j in range(voters):
        if not priors.present[d, j]:
            continue
        old = state.member[d, j]
        atom = state.atom[d, old]
        local.size[d, old] -= 1
        add(local.total[atom], local.stats[d, j], -1.0)
        if local.size[d, old] == 0:
            local.n_of_atom[atom] -= 1
            if local.n_of_atom[atom] == 0:
                clear(local.total[atom])
        used = 0
        for k in range(atoms):
            used += local.n_of_atom[k]
        options, new_atom, empty = 0, -1, -1
        log_new = math.log(state.strength[0]) - math.log(used + state.strength[1])
        for k in range(atoms):
            if local.n_of_atom[k] > 0:
                fit = gain(priors.rows, local.total[k], local.stats[d, j])
                local.logits[options] = log_new + math.log(local.n_of_atom[k]) + fit
                local.where[options] = -1 - k
                options += 1
                for t in range(voters):
                    if local.size[d, t] > 0 and state.atom[d, t] == k:
                        local.logits[options] = math.log(local.size[d, t]) + fit
                        local.where[options] = t
                        options += 1
            elif new_atom < 0:
                new_atom = k
        fit = gain(priors.rows, local.total[new_atom], local.stats[d, j])
        local.logits[options] = log_new + math.log(state.strength[1]) + fit
        local.where[options] = -1 - new_atom
        chosen = local.where[pick(rng, local.logits, options + 1)]
        if chosen < 0:
            for t in range(voters):
                if local.size[d, t] == 0:
                    empty = t
                    break
            atom = -1 - chosen
            state.atom[d, empty] = atom
            local.n_of_atom[atom] += 1
            chosen = empty
        state.member[d, j] = chosen
        local.size[d, chosen] += 1
        add(local.total[state.atom[d, chosen]], local.stats[d, j], 1.0)


@compiled
def local_concentration(
    rng: np.random.Generator, alpha: float, n_local: int, present: IntArray, hyper: FloatArray
) -> float:
    """Draw α given the number of local clusters.

    Appendix A of Y. W. Teh et al., Hierarchical Dirichlet processes, 2006.
    """
    shape, rate = hyper[0] + n_local, hyper[1]
    for d in range(present.shape[0]):
        n = 0
        for j in range(present.shape[1]):
            n += present[d, j]
        if n == 0:
            continue
        x, y = gamma(rng, alpha + 1), gamma(rng, float(n))
        rate -= math.log(x / (x + y))
        if rng.random() * (n + alpha) < n:
            shape -= 1
    return float(gamma(rng, shape) / rate)


@compiled
def _draw_all_labels(
    rng: np.random.Generator,
    s: int,
    patterns: PatternArrays,
    layout: RowLayout,
    priors: PooledPriors,
    state: PooledState,
    scratch: SweepScratch,
    local: LocalClusters,
    block: PooledBlock,
    proba_sum: FloatArray,
) -> None:
    """Draw the labels of every domain, and count the votes of each voter and of each atom."""
    empty = local.total[0]
    for k in range(len(local.total)):
        clear(local.total[k])
    for d in range(priors.present.shape[0]):
        for j in range(priors.present.shape[1]):
            if priors.present[d, j]:
                put(local.own[j], state.rows[state.atom[d, state.member[d, j]]])
            else:
                draw_rows(rng, priors.rows, empty, local.own[j])
        fill_theta(local.own, layout, block.theta[s, d])
        draw_labels(rng, s, d, patterns, priors, state, scratch, block, proba_sum)
        count_rows(block.counts[s, d], layout, local.stats[d])
    for d in range(priors.present.shape[0]):
        for j in range(priors.present.shape[1]):
            if priors.present[d, j]:
                atom = state.atom[d, state.member[d, j]]
                add(local.total[atom], local.stats[d, j], 1.0)


@compiled
def _assign_atoms(
    rng: np.random.Generator,
    n_local: int,
    priors: PooledPriors,
    state: PooledState,
    local: LocalClusters,
) -> None:
    """Move each local cluster to an atom, as items of one Dirichlet process.

    Equations 24 and 37 of Platanios et al. 2016.
    """
    domains, voters = priors.present.shape
    for t in range(len(local.by_local)):
        clear(local.by_local[t])
    for d in range(domains):
        for j in range(voters):
            if priors.present[d, j]:
                at = d * voters + state.member[d, j]
                add(local.by_local[at], local.stats[d, j], 1.0)
    atom, strength = state.atom.reshape(domains * voters), state.strength[1]
    reassign(
        rng,
        local.by_local,
        local.alive,
        n_local,
        priors.rows,
        strength,
        atom,
        local.n_of_atom,
        local.total,
    )
    split_or_merge(
        rng,
        local.by_local,
        local.alive,
        n_local,
        priors.rows,
        strength,
        atom,
        local.n_of_atom,
        local.total,
    )


@compiled
def _record(
    s: int,
    layout: RowLayout,
    priors: PooledPriors,
    state: PooledState,
    local: LocalClusters,
    block: PooledBlock,
) -> None:
    """Write the state after sweep s into the block."""
    domains, voters = priors.present.shape
    block.strength[s, 0], block.strength[s, 1] = state.strength[0], state.strength[1]
    for d in range(domains):
        for j in range(voters):
            block.member[s, d * voters + j] = -1
            if priors.present[d, j]:
                atom = state.atom[d, state.member[d, j]]
                block.member[s, d * voters + j] = atom
                put(local.own[j], state.rows[atom])
            else:
                put(local.own[j], priors.rows)
        fill_theta(local.own, layout, block.theta[s, d])
        for c in range(len(priors.weight)):
            block.weight[s, d, c] = state.weight[d, c]


@compiled
def sweeps_hierarchical(
    rng: np.random.Generator,
    first: int,
    patterns: PatternArrays,
    layout: RowLayout,
    priors: PooledPriors,
    state: PooledState,
    scratch: SweepScratch,
    local: LocalClusters,
    block: PooledBlock,
    proba_sum: FloatArray,
) -> None:
    """Run sweeps of the hierarchical model (HCBEE) from ``state``, in place; fill ``block``.

    ``state.rows[atom, row, cell]`` are the error rates of an atom; voter j of domain d is in the
    local cluster ``state.member[d, j]``, whose atom is ``state.atom[d, local cluster]``;
    ``state.strength`` is (α, γ). ``first`` counts the sweeps made before.
    """
    domains, voters = priors.present.shape
    for s in range(len(block.value)):
        _draw_all_labels(rng, s, patterns, layout, priors, state, scratch, local, block, proba_sum)
        n_local = 0
        for d in range(domains):
            _assign_voters(rng, d, priors, state, local)
            for t in range(voters):
                if local.size[d, t] > 0:
                    local.alive[n_local] = d * voters + t
                    n_local += 1
        if (first + s) % _ATOMS_EVERY == 0:
            _assign_atoms(rng, n_local, priors, state, local)
        used = 0
        for k in range(len(local.n_of_atom)):
            if local.n_of_atom[k] > 0:
                used += 1
                draw_rows(rng, priors.rows, local.total[k], state.rows[k])
        strength, hyper = state.strength, priors.hyper
        if hyper[0, 0] > 0:
            strength[0] = local_concentration(rng, strength[0], n_local, priors.present, hyper[0])
            strength[1] = concentration(rng, strength[1], used, n_local, hyper[1, 0], hyper[1, 1])
        _record(s, layout, priors, state, local, block)
