"""Labels of the items of one domain given its error rates, compiled by numba.

Exact for patterns, because the rates are at hand. Import only when needed.
"""

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray
from karat.consensus.sampling.loops._arrays import (
    PatternArrays,
    PooledBlock,
    PooledPriors,
    PooledState,
    RowLayout,
    SweepScratch,
)
from karat.consensus.sampling.loops._gibbs_loops import allocate, draw_weight, fill_cells

__all__ = ["count_rows", "draw_labels", "fill_theta"]


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
        rng, patterns, priors.domain[d], priors.domain[d + 1], state.weight[d], scratch,
        block.counts[s, d], proba_sum,
    )  # fmt: skip
    draw_weight(rng, priors.weight, scratch.sizes, state.weight[d])
