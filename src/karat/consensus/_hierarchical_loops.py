"""Gibbs sweeps of voters in domains that share single error rates (HCBEE), compiled by numba.

A Chinese restaurant franchise: domains are restaurants, voters guests, error rates dishes. Import
only when needed.
"""

import math
from typing import NamedTuple

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray
from karat.consensus._arrays import (
    PatternArrays,
    RowLayout,
    SharedBlock,
    SharedPriors,
    SharedState,
    SweepScratch,
)
from karat.consensus._label_loops import count_rows, draw_labels, fill_theta
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
from karat.consensus._random_loops import gamma

__all__ = ["Restaurants", "restaurants", "seating_strength", "sweeps_hierarchical"]

_DISHES = 2  # every so many sweeps tables choose their dish again


class Restaurants(NamedTuple):
    """Who sits where, counted, and memory for the moves."""

    stats: FloatArray  # domains × voters × rows × cells: counts of each voter
    own: FloatArray  # voters × rows × cells: rates of the voters of one domain
    guests: IntArray  # domains × tables
    of_dish: IntArray  # tables that serve each dish
    total: FloatArray  # dishes × rows × cells: counts
    by_table: FloatArray  # (domain, table) × rows × cells: counts
    alive: IntArray  # the tables that have guests
    logits: FloatArray
    where: IntArray


def restaurants(priors: SharedPriors, state: SharedState) -> Restaurants:
    """Return the counts of guests and tables of ``state``, and room for the rest."""
    (domains, voters), dishes = priors.present.shape, len(state.rows)
    here = np.nonzero(priors.present)
    guests = np.zeros((domains, voters), dtype=np.int64)
    np.add.at(guests, (here[0], state.member[here]), 1)
    return Restaurants(
        stats=np.zeros((domains, voters, *priors.rows.shape)),
        own=np.zeros((voters, *priors.rows.shape)),
        guests=guests,
        of_dish=np.bincount(state.dish[guests > 0], minlength=dishes),
        total=np.zeros((dishes, *priors.rows.shape)),
        by_table=np.zeros((domains * voters, *priors.rows.shape)),
        alive=np.zeros(domains * voters, dtype=np.int64),
        logits=np.zeros(dishes + voters + 2),
        where=np.zeros(dishes + voters + 2, dtype=np.int64),
    )


@compiled
def _seat(
    rng: np.random.Generator,
    d: int,
    priors: SharedPriors,
    state: SharedState,
    tables: Restaurants,
) -> None:
    """Seat each voter of a domain at a table, the rates integrated out (equations 23 and 32).

    An occupied table has the weight of its guests; an empty one α·m_k/(m + γ) with dish k, of which
    m_k *tables* are served, and α·γ/(m + γ) with a new dish.
    """
    dishes, voters = len(tables.of_dish), priors.present.shape[1]
    for j in range(voters):
        if not priors.present[d, j]:
            continue
        old = state.member[d, j]
        dish = state.dish[d, old]
        tables.guests[d, old] -= 1
        _add(tables.total[dish], tables.stats[d, j], -1.0)
        if tables.guests[d, old] == 0:
            tables.of_dish[dish] -= 1
            if tables.of_dish[dish] == 0:
                clear(tables.total[dish])
        served = 0
        for k in range(dishes):
            served += tables.of_dish[k]
        options, new_dish, empty = 0, -1, -1
        log_new = math.log(state.strength[0]) - math.log(served + state.strength[1])
        for k in range(dishes):  # an empty table
            if tables.of_dish[k] > 0:
                fit = gain(priors.rows, tables.total[k], tables.stats[d, j])
                tables.logits[options] = log_new + math.log(tables.of_dish[k]) + fit
                tables.where[options] = -1 - k
                options += 1
                for t in range(voters):
                    if tables.guests[d, t] > 0 and state.dish[d, t] == k:
                        tables.logits[options] = math.log(tables.guests[d, t]) + fit
                        tables.where[options] = t
                        options += 1
            elif new_dish < 0:
                new_dish = k
        fit = gain(priors.rows, tables.total[new_dish], tables.stats[d, j])
        tables.logits[options] = log_new + math.log(state.strength[1]) + fit
        tables.where[options] = -1 - new_dish
        chosen = tables.where[pick(rng, tables.logits, options + 1)]
        if chosen < 0:
            for t in range(voters):
                if tables.guests[d, t] == 0:
                    empty = t
                    break
            dish = -1 - chosen
            state.dish[d, empty] = dish
            tables.of_dish[dish] += 1
            chosen = empty
        state.member[d, j] = chosen
        tables.guests[d, chosen] += 1
        _add(tables.total[state.dish[d, chosen]], tables.stats[d, j], 1.0)


@compiled
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
    priors: SharedPriors,
    state: SharedState,
    scratch: SweepScratch,
    tables: Restaurants,
    block: SharedBlock,
    proba_sum: FloatArray,
) -> None:
    """Draw the labels of every domain, and count the votes of each voter and of each dish."""
    empty = tables.total[0]
    for k in range(len(tables.total)):
        clear(tables.total[k])
    for d in range(priors.present.shape[0]):
        for j in range(priors.present.shape[1]):
            if priors.present[d, j]:
                put(tables.own[j], state.rows[state.dish[d, state.member[d, j]]])
            else:
                draw_rows(rng, priors.rows, empty, tables.own[j])
        fill_theta(tables.own, layout, block.theta[s, d])
        draw_labels(rng, s, d, patterns, priors, state, scratch, block, proba_sum)
        count_rows(block.counts[s, d], layout, tables.stats[d])
    for d in range(priors.present.shape[0]):
        for j in range(priors.present.shape[1]):
            if priors.present[d, j]:
                dish = state.dish[d, state.member[d, j]]
                _add(tables.total[dish], tables.stats[d, j], 1.0)


@compiled
def _choose_dishes(
    rng: np.random.Generator,
    n_tables: int,
    priors: SharedPriors,
    state: SharedState,
    tables: Restaurants,
) -> None:
    """Let tables choose their dish (equations 24 and 37), as items of one Dirichlet process."""
    domains, voters = priors.present.shape
    for t in range(len(tables.by_table)):
        clear(tables.by_table[t])
    for d in range(domains):
        for j in range(voters):
            if priors.present[d, j]:
                at = d * voters + state.member[d, j]
                _add(tables.by_table[at], tables.stats[d, j], 1.0)
    dish, strength = state.dish.reshape(domains * voters), state.strength[1]
    reassign(
        rng, tables.by_table, tables.alive, n_tables, priors.rows, strength, dish, tables.of_dish,
        tables.total,
    )  # fmt: skip
    split_or_merge(
        rng, tables.by_table, tables.alive, n_tables, priors.rows, strength, dish, tables.of_dish,
        tables.total,
    )  # fmt: skip


@compiled
def _record(
    s: int,
    layout: RowLayout,
    priors: SharedPriors,
    state: SharedState,
    tables: Restaurants,
    block: SharedBlock,
) -> None:
    """Write the state after sweep s into the block."""
    domains, voters = priors.present.shape
    block.strength[s, 0], block.strength[s, 1] = state.strength[0], state.strength[1]
    for d in range(domains):
        for j in range(voters):
            block.member[s, d * voters + j] = -1
            if priors.present[d, j]:
                dish = state.dish[d, state.member[d, j]]
                block.member[s, d * voters + j] = dish
                put(tables.own[j], state.rows[dish])
            else:
                put(tables.own[j], priors.rows)
        fill_theta(tables.own, layout, block.theta[s, d])
        for c in range(len(priors.weight)):
            block.weight[s, d, c] = state.weight[d, c]


@compiled
def sweeps_hierarchical(
    rng: np.random.Generator,
    first: int,
    patterns: PatternArrays,
    layout: RowLayout,
    priors: SharedPriors,
    state: SharedState,
    scratch: SweepScratch,
    tables: Restaurants,
    block: SharedBlock,
    proba_sum: FloatArray,
) -> None:
    """Run sweeps of the hierarchical model (HCBEE) from ``state``, in place; fill ``block``.

    ``state.rows[dish, row, cell]`` are the error rates of a dish; voter j of domain d sits at
    ``state.member[d, j]``, which serves ``state.dish[d, table]``; ``state.strength`` is (α, γ).
    ``first`` counts the sweeps made before.
    """
    domains, voters = priors.present.shape
    for s in range(len(block.value)):
        _draw_all_labels(rng, s, patterns, layout, priors, state, scratch, tables, block, proba_sum)
        n_tables = 0
        for d in range(domains):
            _seat(rng, d, priors, state, tables)
            for t in range(voters):
                if tables.guests[d, t] > 0:
                    tables.alive[n_tables] = d * voters + t
                    n_tables += 1
        if (first + s) % _DISHES == 0:
            _choose_dishes(rng, n_tables, priors, state, tables)
        served = 0
        for k in range(len(tables.of_dish)):
            if tables.of_dish[k] > 0:
                served += 1
                draw_rows(rng, priors.rows, tables.total[k], state.rows[k])
        strength, hyper = state.strength, priors.hyper
        if hyper[0, 0] > 0:
            strength[0] = seating_strength(rng, strength[0], n_tables, priors.present, hyper[0])
            strength[1] = concentration(
                rng, strength[1], served, n_tables, hyper[1, 0], hyper[1, 1]
            )
        _record(s, layout, priors, state, tables, block)
