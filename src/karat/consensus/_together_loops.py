"""Gibbs sweeps over all domains, compiled by numba; import only when needed.

One sweep draws, for each domain, how many items of each pattern belong to each class given the
error rates; then who shares error rates with whom, the rates integrated out; then the rates. The
first step is exact for patterns because the rates are at hand, the second mixes because they are
not.
"""

import math

import numpy as np
from numba import njit

from karat._typing import FloatArray, IntArray
from karat.consensus._loops import (
    _allocate,
    _error_rates,
    _finite_errors,
    _gamma,
    _responsibility,
    cell_table,
)
from karat.consensus._partition_loops import (
    _add,
    clear,
    concentration,
    draw_rows,
    gain,
    pick,
    put,
    reassign,
    split_or_merge,
)

__all__ = ["sweeps_coupled", "sweeps_hierarchical"]

_LABELS_OUT = 4  # every so many sweeps domains move with their labels integrated out
_DISHES = 2  # every so many sweeps tables choose their dish again
_FRESH = 2  # clusters drawn from the prior that such a move offers


@njit(cache=True, nogil=True, error_model="numpy")
def _theta(rows: FloatArray, symmetric: bool, classes: int, theta: FloatArray) -> None:
    """Fill θ[voter, outcome, class] from the rows of each voter, ``rows[voter, row, cell]``."""
    voters, outcomes, _ = theta.shape
    for j in range(voters):
        for c in range(classes):
            if symmetric:
                silent = rows[j, 1, 0] if outcomes > classes else 0.0
                wrong = rows[j, 0, 0]
                for o in range(classes):
                    chance = 1 - wrong if o == c else wrong / (classes - 1)
                    theta[j, o, c] = (1 - silent) * chance
                if outcomes > classes:
                    theta[j, classes, c] = silent
            else:
                for o in range(outcomes):
                    theta[j, o, c] = rows[j, c, o]


@njit(cache=True, nogil=True, error_model="numpy")
def _stats(
    counts: FloatArray, symmetric: bool, classes: int, outcomes: int, stats: FloatArray
) -> None:
    """Fill the counts of each voter's rows, ``stats[voter, row, cell]``, from those of cells."""
    for j in range(stats.shape[0]):
        clear(stats[j])
        for o in range(outcomes):
            for c in range(classes):
                n = counts[j * outcomes + o, c]
                if not symmetric:
                    stats[j, c, o] = n
                elif o == classes:
                    stats[j, 1, 0] += n
                else:
                    stats[j, 0, 0 if o != c else 1] += n
                    if outcomes > classes:
                        stats[j, 1, 1] += n


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
def _labels_of(
    rng: np.random.Generator,
    d: int,
    domain: IntArray,
    start: IntArray,
    cell: IntArray,
    count: FloatArray,
    gold: IntArray,
    group: IntArray,
    weight_prior: FloatArray,
    weight: FloatArray,
    theta: FloatArray,
    none: FloatArray,
    table: FloatArray,
    counts: FloatArray,
    proba: FloatArray,
    keep: bool,
) -> float:
    """Draw the labels of a domain and the shares of its classes; return the log-likelihood."""
    sizes = np.empty(len(group))
    first, last = domain[d], domain[d + 1]
    cell_table(theta, none, table)
    value = _allocate(
        rng, start[first : last + 1], cell, count[first:last], gold[first:last], group, table,
        weight[d], counts, sizes, proba[first:last], keep,
    )  # fmt: skip
    total = 0.0
    for c in range(len(group)):
        weight[d, c] = _gamma(rng, weight_prior[c] + sizes[c])
        total += weight[d, c]
    for c in range(len(group)):
        weight[d, c] /= total
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
            _theta(rows[k] if k < most else fresh[k - most], symmetric, classes, theta)
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
            _theta(rows[member[d]], symmetric, classes, theta)
            reached = _labels_of(
                rng, d, domain, start, cell, count, gold, group, weight_prior, weight, theta, none,
                table, counts, proba, keep,
            )  # fmt: skip
            _stats(counts, symmetric, classes, outcomes, stats[d])
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
                _theta(rows[member[d]], symmetric, classes, theta)
                for c in range(classes):
                    weights[s, d, c] = weight[d, c]
                _error_rates(
                    theta, none, nobody, order, weight[d], group, classes, full, rates[s, d]
                )
                if s % every == 0 and s // every < len(thetas):
                    for j in range(voters):
                        put(thetas[s // every, d, j], theta[j])


@njit(cache=True, nogil=True, error_model="numpy")
def _seat(
    rng: np.random.Generator,
    d: int,
    voters: int,
    present: IntArray,
    stats: FloatArray,
    prior: FloatArray,
    alpha: float,
    gamma: float,
    table_of: IntArray,
    dish_of: IntArray,
    guests: IntArray,
    tables_of_dish: IntArray,
    total: FloatArray,
    logits: FloatArray,
    where: IntArray,
) -> None:
    """Seat each voter of a domain at a table, the rates integrated out (equations 23 and 32).

    An occupied table has the weight of its guests; an empty one α·m_k/(m + γ) with dish k, of which
    m_k *tables* are served, and α·γ/(m + γ) with a new dish.
    """
    dishes = len(tables_of_dish)
    for j in range(voters):
        if not present[d, j]:
            continue
        old = table_of[d, j]
        dish = dish_of[d, old]
        guests[d, old] -= 1
        _add(total[dish], stats[d, j], -1.0)
        if guests[d, old] == 0:
            tables_of_dish[dish] -= 1
            if tables_of_dish[dish] == 0:
                clear(total[dish])
        served = 0
        for k in range(dishes):
            served += tables_of_dish[k]
        options, new_dish, empty = 0, -1, -1
        log_new = math.log(alpha) - math.log(served + gamma)
        for k in range(dishes):  # an empty table
            if tables_of_dish[k] > 0:
                fit = gain(prior, total[k], stats[d, j])
                logits[options] = log_new + math.log(tables_of_dish[k]) + fit
                where[options] = -1 - k
                options += 1
                for t in range(voters):
                    if guests[d, t] > 0 and dish_of[d, t] == k:
                        logits[options] = math.log(guests[d, t]) + fit
                        where[options] = t
                        options += 1
            elif new_dish < 0:
                new_dish = k
        logits[options] = log_new + math.log(gamma) + gain(prior, total[new_dish], stats[d, j])
        where[options] = -1 - new_dish
        chosen = where[pick(rng, logits, options + 1)]
        if chosen < 0:
            for t in range(voters):
                if guests[d, t] == 0:
                    empty = t
                    break
            dish = -1 - chosen
            dish_of[d, empty] = dish
            tables_of_dish[dish] += 1
            chosen = empty
        table_of[d, j] = chosen
        guests[d, chosen] += 1
        _add(total[dish_of[d, chosen]], stats[d, j], 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _seating_strength(
    rng: np.random.Generator, alpha: float, tables: int, present: IntArray, hyper: FloatArray
) -> float:
    """Draw α given the number of tables: appendix A of Y. W. Teh et al., HDP, 2006."""
    shape, rate = hyper[0] + tables, hyper[1]
    for d in range(present.shape[0]):
        n = 0
        for j in range(present.shape[1]):
            n += present[d, j]
        if n == 0:
            continue
        x, y = _gamma(rng, alpha + 1), _gamma(rng, float(n))
        rate -= math.log(x / (x + y))
        if rng.random() * (n + alpha) < n:
            shape -= 1
    return float(_gamma(rng, shape) / rate)


@njit(cache=True, nogil=True, error_model="numpy")
def sweeps_hierarchical(
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
    present: IntArray,
    rows: FloatArray,
    weight: FloatArray,
    table_of: IntArray,
    dish_of: IntArray,
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
    """Run sweeps of the hierarchical model (HCBEE), in place.

    ``rows[dish, row, cell]`` are the error rates of a dish; voter j of domain d sits at
    ``table_of[d, j]``, which serves ``dish_of[d, table]``. ``strength`` is (α, γ).
    """
    domains, voters = present.shape
    group = np.arange(classes)
    theta = np.empty((voters, outcomes, classes))
    full = np.empty((voters, outcomes, classes))
    none, nobody = np.zeros(voters), np.full(voters, -1)
    order = np.arange(voters)
    table = np.empty((classes, voters * outcomes))
    counts = np.empty((voters * outcomes, classes))
    stats = np.empty((domains, voters, prior.shape[0], prior.shape[1]))
    own = np.empty((voters, prior.shape[0], prior.shape[1]))
    dishes = len(rows)
    guests = np.zeros((domains, voters), dtype=np.int64)
    tables_of_dish = np.zeros(dishes, dtype=np.int64)
    for d in range(domains):
        for j in range(voters):
            if present[d, j]:
                guests[d, table_of[d, j]] += 1
        for t in range(voters):
            if guests[d, t] > 0:
                tables_of_dish[dish_of[d, t]] += 1
    total = np.zeros((dishes, prior.shape[0], prior.shape[1]))
    by_table = np.zeros((domains * voters, prior.shape[0], prior.shape[1]))
    alive = np.empty(domains * voters, dtype=np.int64)
    flat_dish = dish_of.reshape(domains * voters)
    logits = np.empty(dishes + voters + 2)
    where = np.empty(dishes + voters + 2, dtype=np.int64)
    empty = np.zeros(prior.shape)
    keep = len(value) > 0
    for s in range(n_sweeps):
        for d in range(domains):
            for j in range(voters):
                if present[d, j]:
                    put(own[j], rows[dish_of[d, table_of[d, j]]])
                else:
                    draw_rows(rng, prior, empty, own[j])
            _theta(own, symmetric, classes, theta)
            reached = _labels_of(
                rng, d, domain, start, cell, count, gold, group, weight_prior, weight, theta, none,
                table, counts, proba, keep,
            )  # fmt: skip
            _stats(counts, symmetric, classes, outcomes, stats[d])
            if keep:
                value[s, d] = reached
                _finite_errors(counts, group, classes, outcomes, finite[s, d])
        for k in range(dishes):
            clear(total[k])
        for d in range(domains):
            for j in range(voters):
                if present[d, j]:
                    _add(total[dish_of[d, table_of[d, j]]], stats[d, j], 1.0)
        for d in range(domains):
            _seat(
                rng, d, voters, present, stats, prior, strength[0], strength[1], table_of, dish_of,
                guests, tables_of_dish, total, logits, where,
            )  # fmt: skip
        tables = 0
        for d in range(domains):
            for t in range(voters):
                if guests[d, t] > 0:
                    alive[tables] = d * voters + t
                    tables += 1
        if s % _DISHES == 0:
            # Tables choose their dish (equations 24 and 37), as items of one Dirichlet process.
            for t in range(len(by_table)):
                clear(by_table[t])
            for d in range(domains):
                for j in range(voters):
                    if present[d, j]:
                        _add(by_table[d * voters + table_of[d, j]], stats[d, j], 1.0)
            reassign(
                rng, by_table, alive, tables, prior, strength[1], flat_dish, tables_of_dish, total
            )
            split_or_merge(
                rng, by_table, alive, tables, prior, strength[1], flat_dish, tables_of_dish, total
            )
        served = 0
        for k in range(dishes):
            if tables_of_dish[k] > 0:
                served += 1
                draw_rows(rng, prior, total[k], rows[k])
        if hyper[0, 0] > 0:
            strength[0] = _seating_strength(rng, strength[0], tables, present, hyper[0])
            strength[1] = concentration(rng, strength[1], served, tables, hyper[1, 0], hyper[1, 1])
        if keep:
            strengths[s, 0], strengths[s, 1] = strength[0], strength[1]
            for d in range(domains):
                for j in range(voters):
                    members[s, d * voters + j] = -1
                    if present[d, j]:
                        dish = dish_of[d, table_of[d, j]]
                        members[s, d * voters + j] = dish
                        put(own[j], rows[dish])
                    else:
                        put(own[j], prior)
                _theta(own, symmetric, classes, theta)
                for c in range(classes):
                    weights[s, d, c] = weight[d, c]
                _error_rates(
                    theta, none, nobody, order, weight[d], group, classes, full, rates[s, d]
                )
                if s % every == 0 and s // every < len(thetas):
                    for j in range(voters):
                        put(thetas[s // every, d, j], theta[j])
