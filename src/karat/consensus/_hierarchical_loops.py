"""Gibbs sweeps of voters in domains that share single error rates (HCBEE), compiled by numba.

A Chinese restaurant franchise: domains are restaurants, voters guests, error rates dishes. Import
only when needed.
"""

import math

import numpy as np
from numba import njit

from karat._typing import FloatArray, IntArray
from karat.consensus._label_loops import count_rows, draw_labels, fill_theta
from karat.consensus._loops import _error_rates, _finite_errors, _gamma
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

__all__ = ["seating_strength", "sweeps_hierarchical"]

_DISHES = 2  # every so many sweeps tables choose their dish again


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
def seating_strength(
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
            fill_theta(own, symmetric, classes, theta)
            reached = draw_labels(
                rng, d, domain, start, cell, count, gold, group, weight_prior, weight, theta, none,
                table, counts, proba, keep,
            )  # fmt: skip
            count_rows(counts, symmetric, classes, outcomes, stats[d])
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
            strength[0] = seating_strength(rng, strength[0], tables, present, hyper[0])
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
                fill_theta(own, symmetric, classes, theta)
                for c in range(classes):
                    weights[s, d, c] = weight[d, c]
                _error_rates(
                    theta, none, nobody, order, weight[d], group, classes, full, rates[s, d]
                )
                if s % every == 0 and s // every < len(thetas):
                    for j in range(voters):
                        put(thetas[s // every, d, j], theta[j])
