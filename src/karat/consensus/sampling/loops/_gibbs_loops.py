"""Gibbs sweeps over vote patterns, compiled by numba; import only when needed.

A *component* c is a class, or a class and a difficulty. A *cell* is an entry of the table of
probabilities that one vote looks up: who voted and what. The vote table is a list of cells per
pattern, so one sweep costs O(votes in distinct patterns · components), whatever the number of
items.

Steps of a sweep are parts, whose text is put into the sweep. No maximum of two numbers is taken by
``max``, which numba compiles as a function of its own.
"""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray
from karat.consensus.sampling.loops._arrays import (
    PatternArrays,
    RowLayout,
    SweepBlock,
    SweepScratch,
)
from karat.consensus.sampling.loops._random_loops import binomial, gamma
from karat.consensus.sampling.loops._swap_loops import swap_classes

__all__ = [
    "LEAST",
    "allocate",
    "draw_theta",
    "draw_weight",
    "fill_cells",
    "gibbs",
    "responsibility",
]

LEAST = 1e-12  # no probability is smaller, so that _SCALE_AFTER of them do not underflow
_SCALE_AFTER = 16


@compiled(part=True)
def fill_cells(theta: FloatArray, table: FloatArray) -> None:
    """Fill the probability that voter j says o of its own, θ, in ``table[component, cell]``."""
    for row in range(theta.shape[0]):
        for c in range(theta.shape[1]):
            table[c, row] = theta[row, c] if theta[row, c] > LEAST else LEAST


@compiled(part=True)
def responsibility(
    patterns: PatternArrays, p: int, table: FloatArray, weight: FloatArray, share: FloatArray
) -> float:
    """Write P(component | pattern p) to ``share`` and return the pattern's log-likelihood.

    Products are scaled to sum 1 after every few votes and the logarithms of the scales add up,
    which is as safe as adding logarithms and takes one of them where that takes many.
    """
    value, gold = 0.0, patterns.gold[p]
    first, stop = patterns.start[p], patterns.heard[p]
    for c in range(len(share)):
        share[c] = 0.0
        if gold < 0 or patterns.group[c] == gold:
            share[c] = weight[c] if weight[c] > LEAST else LEAST
    while True:
        last = first + _SCALE_AFTER if first + _SCALE_AFTER < stop else stop
        total = 0.0
        for c in range(len(share)):
            product = share[c]
            for v in range(first, last):
                product *= table[c, patterns.cell[v]]
            share[c] = product
            total += product
        for c in range(len(share)):
            share[c] /= total
        value += math.log(total)
        first = last
        if first >= stop:
            return value


@compiled(part=True)
def _draw_components(
    rng: np.random.Generator, count: float, share: FloatArray, drawn: FloatArray
) -> None:
    """Draw how many of ``count`` items belong to each component; overwrites ``share``."""
    last = len(share) - 1
    left, mass = math.floor(count + 1e-9) * 1.0, 1.0
    rest = count - left
    for c in range(last + 1):
        number = 0.0
        if c == last or share[c] >= mass:
            number = left
        elif left > 1:
            number = binomial(rng, left, share[c] / mass)
        elif left > 0 and rng.random() * mass < share[c]:
            number = 1.0
        drawn[c] = number
        left -= number
        mass -= share[c]
    if rest > 1e-9:
        # A fraction of an item: its complete-data likelihood counts to that power.
        mass = 0.0
        for c in range(last + 1):
            share[c] = share[c] ** rest if share[c] > 0 else 0.0
            mass += share[c]
        u = rng.random() * mass
        c = 0
        while c < last and u >= share[c]:
            u -= share[c]
            c += 1
        drawn[c] += rest


@compiled(part=True)
def allocate(
    rng: np.random.Generator,
    patterns: PatternArrays,
    first: int,
    last: int,
    weight: FloatArray,
    scratch: SweepScratch,
    counts: FloatArray,
    proba_sum: FloatArray,
) -> float:
    """Draw the components of the items of patterns ``first`` to ``last``, and tally their votes.

    Return the log-likelihood; ``scratch.sizes`` holds the items of each component, and P(component)
    of each pattern is added to ``proba_sum``.
    """
    share, drawn, sizes = scratch.share, scratch.drawn, scratch.sizes
    components = len(share)
    for c in range(components):
        sizes[c] = 0.0
        for row in range(len(counts)):
            counts[row, c] = 0.0
    value = 0.0
    for p in range(first, last):
        count = patterns.items[p]
        value += count * responsibility(patterns, p, scratch.table, weight, share)
        for c in range(components):
            proba_sum[p, c] += share[c]
        _draw_components(rng, count, share, drawn)
        for c in range(components):
            number = drawn[c]
            if number > 0:
                sizes[c] += number
                for v in range(patterns.start[p], patterns.start[p + 1]):
                    counts[patterns.cell[v], c] += number
    return value


@compiled(part=True)
def draw_theta(
    rng: np.random.Generator,
    layout: RowLayout,
    own: FloatArray,
    rows: FloatArray,
    theta: FloatArray,
) -> None:
    """Draw the rows of each voter given its own votes, and write the θ that they make."""
    outcomes, components = layout.first.shape
    width = layout.width
    for j in range(len(theta) // outcomes):
        for i in range(len(rows)):
            rows[i] = layout.prior[i]
        for o in range(outcomes):
            for c in range(components):
                votes, second = own[j * outcomes + o, c], layout.second[o, c]
                rows[layout.first[o, c]] += votes
                if second >= 0:
                    rows[second] += votes
        for first in range(0, len(rows), width):
            total = 0.0
            for i in range(first, first + width):
                rows[i] = gamma(rng, rows[i])
                total += rows[i]
            for i in range(first, first + width):
                rows[i] = rows[i] / total if total > 0 else 1.0 / width
        for o in range(outcomes):
            for c in range(components):
                chance, second = layout.scale[o, c] * rows[layout.first[o, c]], layout.second[o, c]
                theta[j * outcomes + o, c] = chance * rows[second] if second >= 0 else chance


@compiled(part=True)
def draw_weight(
    rng: np.random.Generator, prior: FloatArray, sizes: FloatArray, weight: FloatArray
) -> None:
    """Draw the share of each component given how many items each has."""
    total = 0.0
    for c in range(len(prior)):
        weight[c] = gamma(rng, prior[c] + sizes[c])
        total += weight[c]
    for c in range(len(prior)):
        weight[c] /= total


@compiled
def gibbs(
    rng: np.random.Generator,
    patterns: PatternArrays,
    layout: RowLayout,
    weight_prior: FloatArray,
    scratch: SweepScratch,
    block: SweepBlock,
    proba_sum: FloatArray,
) -> None:
    """Fill a block: sweep s moves the chain from state s to state s + 1."""
    for s in range(len(block.value)):
        fill_cells(block.theta[s], scratch.table)
        swap_classes(
            rng, patterns, layout, weight_prior, scratch.table, block.theta[s], block.weight[s]
        )  # fmt: skip
        block.value[s] = allocate(
            rng, patterns, 0, len(patterns.items), block.weight[s], scratch, block.counts[s],
            proba_sum,
        )  # fmt: skip
        draw_theta(rng, layout, block.counts[s], scratch.rows, block.theta[s + 1])
        draw_weight(rng, weight_prior, scratch.sizes, block.weight[s + 1])
