"""Labels of the items of one domain given its error rates, compiled by numba.

Exact for patterns, because the rates are at hand. Import only when needed.
"""

import numpy as np
from numba import njit

from karat._typing import FloatArray, IntArray
from karat.consensus._loops import _allocate, _gamma, cell_table
from karat.consensus._partition_loops import clear

__all__ = ["count_rows", "draw_labels", "fill_theta"]


@njit(cache=True, nogil=True, error_model="numpy")
def fill_theta(rows: FloatArray, symmetric: bool, classes: int, theta: FloatArray) -> None:
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
def count_rows(
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
def draw_labels(
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
