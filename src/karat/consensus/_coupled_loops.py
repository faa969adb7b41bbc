"""Gibbs sweeps of domains in clusters of shared error rates (CBEE), compiled by numba.

One sweep draws the labels of each domain given the error rates; then who shares with whom, the
rates integrated out; then the rates. Import only when needed.
"""

import math

import numpy as np
from numba import njit

from karat._typing import FloatArray, IntArray
from karat.consensus._label_loops import count_rows, draw_labels, fill_theta
from karat.consensus._loops import _error_rates, _finite_errors, _responsibility, cell_table
from karat.consensus._partition_loops import (
    _add,
    clear,
    concentration,
    draw_rows,
    pick,
    put,
    reassign,
    split_or_merge,
)

__all__ = ["sweeps_coupled"]

_LABELS_OUT = 4  # every so many sweeps domains move with their labels integrated out
_FRESH = 2  # clusters drawn from the prior that such a move offers


@njit(cache=True, nogil=True, error_model="numpy")
def _domain_value(
    first: int,
    last: int,
    start: IntArray,
    cell: IntArray,
    count: FloatArray,
    gold: IntArray,
    group: IntArray,
    table: FloatArray,
    weight: FloatArray,
    share: FloatArray,
) -> float:
    """Return the log-likelihood of a domain's votes, labels integrated out."""
    value = 0.0
    for p in range(first, last):
        value += count[p] * _responsibility(
            start[p], start[p + 1], cell, table, weight, group, gold[p], share
        )
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _move_without_labels(
    rng: np.random.Generator,
    domain: IntArray,
    start: IntArray,
    cell: IntArray,
    count: FloatArray,
    gold: IntArray,
    group: IntArray,
    symmetric: bool,
    prior: FloatArray,
    strength: float,
    weight: FloatArray,
    member: IntArray,
    size: IntArray,
    rows: FloatArray,
    theta: FloatArray,
    none: FloatArray,
    table: FloatArray,
) -> None:
    """Move each domain to a cluster by its votes, labels integrated out, rates at hand.

    Algorithm 8 of R. M. Neal, Markov chain sampling methods for Dirichlet process mixture models,
    2000: besides the clusters there are, a few are offered that the prior made. Labels hold a
    domain where it is; here they do not.
    """
    domains, classes = len(member), len(group)
    most = len(size)
    logits, where = np.empty(most + _FRESH), np.empty(most + _FRESH, dtype=np.int64)
    fresh = np.empty((_FRESH, rows.shape[1], rows.shape[2], rows.shape[3]))
    empty = np.zeros(prior.shape)
    share = np.empty(classes)
    for d in range(domains):
        old = member[d]
        size[old] -= 1
        for f in range(_FRESH):
            for j in range(rows.shape[1]):
                if f == 0 and size[old] == 0:  # a cluster of its own stays on offer
                    put(fresh[f, j], rows[old, j])
                else:
                    draw_rows(rng, prior, empty, fresh[f, j])
        options = 0
        for k in range(most + _FRESH):
            if k < most and size[k] == 0:
                continue
            fill_theta(rows[k] if k < most else fresh[k - most], symmetric, classes, theta)
            cell_table(theta, none, table)
            logits[options] = math.log(size[k]) if k < most else math.log(strength / _FRESH)
            logits[options] += _domain_value(
                domain[d], domain[d + 1], start, cell, count, gold, group, table, weight[d], share
            )
            where[options] = k
            options += 1
        new = where[pick(rng, logits, options)]
        if new >= most:
            free = 0
            while size[free] > 0:
                free += 1
            for j in range(rows.shape[1]):
                put(rows[free, j], fresh[new - most, j])
            new = free
        member[d] = new
        size[new] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def sweeps_coupled(
    rng: np.random.Generator,
    domain: IntArray,
    start: IntArray,
    cell: IntArray,
    count: FloatArray,
    gold: IntArray,
    classes: int,
    symmetric: bool,
    prior: FloatArray,
    weight_prior: FloatArray,
    hyper: FloatArray,
    rows: FloatArray,
    weight: FloatArray,
    member: IntArray,
    strength: FloatArray,
    n_sweeps: int,
    outcomes: int,
    rates: FloatArray,
    finite: FloatArray,
    weights: FloatArray,
    value: FloatArray,
    thetas: FloatArray,
    every: int,
    proba: FloatArray,
    members: IntArray,
    strengths: FloatArray,
) -> None:
    """Run sweeps of the coupled model (CBEE) from (rows, weight, member, strength), in place.

    ``rows[k, voter, row, cell]`` are the error rates of cluster k; ``hyper`` is (shape, rate) of
    the concentration's Gamma prior, or (0, 0) if it is fixed.
    """
    domains, voters = len(member), rows.shape[1]
    group = np.arange(classes)
    theta = np.empty((voters, outcomes, classes))
    full = np.empty((voters, outcomes, classes))
    none, nobody = np.zeros(voters), np.full(voters, -1)
    order = np.arange(voters)
    table = np.empty((classes, voters * outcomes))
    counts = np.empty((voters * outcomes, classes))
    stats = np.empty((domains, voters, prior.shape[0], prior.shape[1]))
    shape = (domains, voters * prior.shape[0], prior.shape[1])
    long_prior = np.empty((shape[1], shape[2]))
    for j in range(voters):
        for r in range(len(prior)):
            for q in range(shape[2]):
                long_prior[j * len(prior) + r, q] = prior[r, q]
    size = np.zeros(domains + 1, dtype=np.int64)
    for d in range(domains):
        size[member[d]] += 1
    total = np.zeros((domains + 1, shape[1], shape[2]))
    alive = np.arange(domains)
    keep = len(value) > 0
    for s in range(n_sweeps):
        if s % _LABELS_OUT == 0:
            _move_without_labels(
                rng, domain, start, cell, count, gold, group, symmetric, prior, strength[0],
                weight, member, size, rows, theta, none, table,
            )  # fmt: skip
        for d in range(domains):
            fill_theta(rows[member[d]], symmetric, classes, theta)
            reached = draw_labels(
                rng, d, domain, start, cell, count, gold, group, weight_prior, weight, theta, none,
                table, counts, proba, keep,
            )  # fmt: skip
            count_rows(counts, symmetric, classes, outcomes, stats[d])
            if keep:
                value[s, d] = reached
                _finite_errors(counts, group, classes, outcomes, finite[s, d])
        flat = stats.reshape(shape)
        for k in range(len(total)):
            clear(total[k])
        for d in range(domains):
            _add(total[member[d]], flat[d], 1.0)
        reassign(rng, flat, alive, domains, long_prior, strength[0], member, size, total)
        split_or_merge(rng, flat, alive, domains, long_prior, strength[0], member, size, total)
        clusters = 0
        for k in range(len(size)):
            if size[k] > 0:
                clusters += 1
                draw_rows(rng, long_prior, total[k], rows[k].reshape(shape[1], shape[2]))
        if hyper[0, 0] > 0:
            strength[0] = concentration(
                rng, strength[0], clusters, domains, hyper[0, 0], hyper[0, 1]
            )
        if keep:
            strengths[s, 0] = strength[0]
            for d in range(domains):
                members[s, d] = member[d]
                fill_theta(rows[member[d]], symmetric, classes, theta)
                for c in range(classes):
                    weights[s, d, c] = weight[d, c]
                _error_rates(
                    theta, none, nobody, order, weight[d], group, classes, full, rates[s, d]
                )
                if s % every == 0 and s // every < len(thetas):
                    for j in range(voters):
                        put(thetas[s // every, d, j], theta[j])
