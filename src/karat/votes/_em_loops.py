"""The expectation step over lists of cells, compiled by numba; import only when needed."""

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray

_SCALE_AFTER = 16  # factors of at least 1e-12 that are multiplied before the product is scaled


@compiled
def pattern_posterior(
    start: IntArray,
    cell: IntArray,
    gold: IntArray,
    group: IntArray,
    cells: FloatArray,
    weight: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return log P(votes) and P(component | votes) of every pattern.

    A pattern with a gold label keeps the components of that class. Products are scaled to sum 1
    after every few votes and the logarithms of the scales add up, which is as safe as adding
    logarithms and takes one of them where that takes many.
    """
    patterns, components = len(start) - 1, len(weight)
    value = np.zeros(patterns)
    proba = np.empty((patterns, components))
    for p in range(patterns):
        for c in range(components):
            proba[p, c] = weight[c] if gold[p] < 0 or group[c] == gold[p] else 0.0
        first = start[p]
        while True:
            last = min(first + _SCALE_AFTER, start[p + 1])
            total = 0.0
            for c in range(components):
                product = proba[p, c]
                for v in range(first, last):
                    product *= cells[c, cell[v]]
                proba[p, c] = product
                total += product
            for c in range(components):
                proba[p, c] /= total
            value[p] += np.log(total)
            first = last
            if first >= start[p + 1]:
                break
    return value, proba


@compiled
def cell_totals(start: IntArray, cell: IntArray, mass: FloatArray, rows: int) -> FloatArray:
    """Return the mass (patterns, c) of each cell: (cells, c)."""
    totals = np.zeros((rows, mass.shape[1]))
    for p in range(len(mass)):
        for v in range(start[p], start[p + 1]):
            for c in range(mass.shape[1]):
                totals[cell[v], c] += mass[p, c]
    return totals
