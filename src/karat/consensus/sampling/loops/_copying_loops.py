"""Gibbs sweeps with voters who copy others, compiled by numba; import only when needed.

Apart from `gibbs`, because most panels need only that one, and compiling takes seconds.
"""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray
from karat.consensus.sampling.loops._arrays import (
    CopyArrays,
    PatternArrays,
    RowLayout,
    SweepBlock,
    SweepScratch,
)
from karat.consensus.sampling.loops._gibbs_loops import (
    LEAST,
    allocate,
    draw_theta,
    draw_weight,
    fill_cells,
)
from karat.consensus.sampling.loops._random_loops import binomial, gamma
from karat.consensus.sampling.loops._swap_loops import swap_classes

__all__ = ["gibbs_copying"]


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
        swap_classes(
            rng, patterns, layout, weight_prior, scratch.table, theta, block.weight[s]
        )  # fmt: skip
        block.value[s] = allocate(
            rng, patterns, 0, len(patterns.items), block.weight[s], scratch, block.counts[s],
            proba_sum,
        )  # fmt: skip
        _own_votes(rng, theta, copied, block.counts[s], copies)
        draw_theta(rng, layout, copies.own, scratch.rows, block.theta[s + 1])
        draw_weight(rng, weight_prior, scratch.sizes, block.weight[s + 1])
        for j in range(len(copies.parent)):
            if copies.parent[j] >= 0:
                yes = gamma(rng, copies.prior[0] + copies.tally[j, 0])
                no = gamma(rng, copies.prior[1] + copies.tally[j, 1])
                block.copied[s + 1, j] = yes / (yes + no)
