"""The compiled Gibbs sweep of one domain: labels, error rates, copies, and swaps of labellings.

Import this module inside the function that calls a loop: numba takes long to import.
"""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray
from karat.consensus.sampling._arrays import (
    CopyArrays,
    PatternArrays,
    PooledBlock,
    PooledPriors,
    PooledState,
    RowLayout,
    SweepBlock,
    SweepScratch,
)
from karat.consensus.sampling._partition_loops import binomial, gamma

# --- Gibbs sweeps over vote patterns.
#
# A *component* c is a class, or a class and a difficulty. A *cell* is an entry of the table of
# probabilities that one vote looks up: who voted and what. The vote table is a list of cells per
# pattern, so one sweep costs O(votes in distinct patterns · components), whatever the number of
# items.
#
# Steps of a sweep are parts, whose text is put into the sweep. No maximum of two numbers is taken
# by ``max``, which numba compiles as a function of its own.

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
        )
        block.value[s] = allocate(
            rng,
            patterns,
            0,
            len(patterns.items),
            block.weight[s],
            scratch,
            block.counts[s],
            proba_sum,
        )
        draw_theta(rng, layout, block.counts[s], scratch.rows, block.theta[s + 1])
        draw_weight(rng, weight_prior, scratch.sizes, block.weight[s + 1])


# --- Gibbs sweeps with voters who copy others.
#
# A function of its own, because most panels need only `gibbs`, and compiling takes seconds.


@compiled(part=True)
def _fill_copies(theta: FloatArray, copied: FloatArray, table: FloatArray) -> None:
    """Fill the probability of votes of voters who may have copied.

    Beside the N·O cells of a vote of its own, θ, there are N·O for a vote that differs from its
    parent's, (1−κ)θ, and N·O for one that equals it, κ+(1−κ)θ.
    """
    block, components = theta.shape
    outcomes = block // len(copied)
    for j in range(len(copied)):
        for row in range(j * outcomes, (j + 1) * outcomes):
            for c in range(components):
                apart = (1.0 - copied[j]) * table[c, row]
                table[c, block + row] = apart if apart > LEAST else LEAST
                table[c, 2 * block + row] = copied[j] + apart


@compiled(part=True)
def _own_votes(
    rng: np.random.Generator,
    theta: FloatArray,
    copied: FloatArray,
    counts: FloatArray,
    copies: CopyArrays,
) -> None:
    """Split the votes into those given alone, ``copies.own``, and copied ones.

    ``copies.tally`` counts, of each voter, the votes that were copied and those that were not
    though the voter it may copy had voted.
    """
    own, tally = copies.own, copies.tally
    block, components = own.shape
    outcomes = block // len(copied)
    for j in range(len(copied)):
        tally[j, 0] = tally[j, 1] = 0.0
        for row in range(j * outcomes, (j + 1) * outcomes):
            for c in range(components):
                same = counts[2 * block + row, c]
                taken = 0.0
                if same > 0:
                    chance = copied[j] / (copied[j] + (1 - copied[j]) * theta[row, c] + 1e-300)
                    whole = math.floor(same + 1e-9) * 1.0
                    taken = binomial(rng, whole, chance)
                    if same - whole > 1e-9 and rng.random() < chance:
                        taken += same - whole
                alone = counts[block + row, c] + same - taken
                own[row, c] = counts[row, c] + alone
                tally[j, 0] += taken
                tally[j, 1] += alone


@compiled
def gibbs_copying(
    rng: np.random.Generator,
    patterns: PatternArrays,
    layout: RowLayout,
    weight_prior: FloatArray,
    scratch: SweepScratch,
    block: SweepBlock,
    proba_sum: FloatArray,
    copies: CopyArrays,
) -> None:
    """Fill a block: sweep s moves the chain from state s to state s + 1."""
    for s in range(len(block.value)):
        theta, copied = block.theta[s], block.copied[s]
        fill_cells(theta, scratch.table)
        _fill_copies(theta, copied, scratch.table)
        swap_classes(rng, patterns, layout, weight_prior, scratch.table, theta, block.weight[s])
        block.value[s] = allocate(
            rng,
            patterns,
            0,
            len(patterns.items),
            block.weight[s],
            scratch,
            block.counts[s],
            proba_sum,
        )
        _own_votes(rng, theta, copied, block.counts[s], copies)
        draw_theta(rng, layout, copies.own, scratch.rows, block.theta[s + 1])
        draw_weight(rng, weight_prior, scratch.sizes, block.weight[s + 1])
        for j in range(len(copies.parent)):
            if copies.parent[j] >= 0:
                yes = gamma(rng, copies.prior[0] + copies.tally[j, 0])
                no = gamma(rng, copies.prior[1] + copies.tally[j, 1])
                block.copied[s + 1, j] = yes / (yes + no)


# --- Labels of the items of one domain given its error rates.
#
# Exact for patterns, because the rates are at hand.


@compiled
def fill_theta(rows: FloatArray, layout: RowLayout, theta: FloatArray) -> None:
    """Fill θ[(voter, outcome), class] from the rows of each voter, ``rows[voter, row, cell]``."""
    outcomes, classes = layout.first.shape
    flat = rows.reshape(len(rows), len(layout.prior))
    for j in range(len(rows)):
        for o in range(outcomes):
            for c in range(classes):
                chance = layout.scale[o, c] * flat[j, layout.first[o, c]]
                if layout.second[o, c] >= 0:
                    chance *= flat[j, layout.second[o, c]]
                theta[j * outcomes + o, c] = chance


@compiled
def count_rows(counts: FloatArray, layout: RowLayout, stats: FloatArray) -> None:
    """Fill the counts of each voter's rows, ``stats[voter, row, cell]``, from those of cells."""
    outcomes, classes = layout.first.shape
    flat = stats.reshape(len(stats), len(layout.prior))
    for j in range(len(stats)):
        for i in range(len(layout.prior)):
            flat[j, i] = 0.0
        for o in range(outcomes):
            for c in range(classes):
                votes = counts[j * outcomes + o, c]
                flat[j, layout.first[o, c]] += votes
                if layout.second[o, c] >= 0:
                    flat[j, layout.second[o, c]] += votes


@compiled(part=True)
def draw_labels(
    rng: np.random.Generator,
    s: int,
    d: int,
    patterns: PatternArrays,
    priors: PooledPriors,
    state: PooledState,
    scratch: SweepScratch,
    block: PooledBlock,
    proba_sum: FloatArray,
) -> None:
    """Draw the labels of domain d in sweep s given its θ, and then the shares of its classes."""
    fill_cells(block.theta[s, d], scratch.table)
    block.value[s, d] = allocate(
        rng,
        patterns,
        priors.domain[d],
        priors.domain[d + 1],
        state.weight[d],
        scratch,
        block.counts[s, d],
        proba_sum,
    )
    draw_weight(rng, priors.weight, scratch.sizes, state.weight[d])


# --- A move between labellings: two classes trade places.
#
# The votes are as probable when two components of one difficulty swap their columns, so that only
# the priors tell the two labellings apart. Gibbs draws cross from one to the other through labels
# that fit neither, once in a lifetime; this move (Metropolis, Rosenbluth, Rosenbluth, Teller and
# Teller 1953) crosses at once.


@compiled(part=True)
def _log(value: float) -> float:
    return math.log(value) if value > LEAST else math.log(LEAST)


@compiled(part=True)
def swap_classes(
    rng: np.random.Generator,
    patterns: PatternArrays,
    layout: RowLayout,
    weight_prior: FloatArray,
    table: FloatArray,
    theta: FloatArray,
    weight: FloatArray,
) -> None:
    """Propose that two classes of one difficulty trade places, and do it or not.

    Voters who err at one rate have no such columns, and nothing happens to them. A prior that does
    not favour right votes cannot tell the labellings apart: chains then keep to the one they
    started in, in which voters are mostly right. Nor is there a move with gold labels: they say
    which labelling it is, and a model that is wrong must not turn all other items with them.
    """
    for p in range(len(patterns.gold)):
        if patterns.gold[p] >= 0:
            return
    outcomes, components = layout.first.shape
    if layout.first[0, components - 1] != (components - 1) * outcomes:
        return
    classes = patterns.group[components - 1] + 1
    levels = components // classes
    level = int(rng.random() * levels)
    first = int(rng.random() * classes)
    second = (first + 1 + int(rng.random() * (classes - 1))) % classes
    c, d = first * levels + level, second * levels + level
    if layout.prior[c * outcomes + first] == layout.prior[d * outcomes + first]:
        return
    ratio = (weight_prior[c] - weight_prior[d]) * (_log(weight[d]) - _log(weight[c]))
    for row in range(len(theta)):
        o = row % outcomes
        more = layout.prior[c * outcomes + o] - layout.prior[d * outcomes + o]
        if more != 0.0:
            ratio += more * (_log(theta[row, d]) - _log(theta[row, c]))
    if _log(rng.random()) >= ratio:
        return
    weight[c], weight[d] = weight[d], weight[c]
    for row in range(len(theta)):
        theta[row, c], theta[row, d] = theta[row, d], theta[row, c]
    for cell in range(table.shape[1]):
        table[c, cell], table[d, cell] = table[d, cell], table[c, cell]
