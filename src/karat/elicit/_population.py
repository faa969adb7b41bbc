"""What a classifier can be measured on: class probabilities to decide by, masses to count."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["Population", "compressed"]

# Confusions of random classifiers are computed for this many entries at a time, to stay in cache.
_BLOCK = 2_000_000


class Population(NamedTuple):
    """Items, or cells of items that no classifier tells apart.

    ``proba[n, i] = P(Y=i | item)`` is what a classifier decides by; ``mass[n, i] = P(item, Y=i)``
    is what is counted. A law known exactly has mass = weight × proba; a sample has its labels.
    """

    proba: FloatArray
    mass: FloatArray

    @property
    def prior(self) -> FloatArray:
        """``P(Y=i)``."""
        return np.asarray(self.mass.sum(axis=0))

    def confusion(self, decisions: IntArray) -> FloatArray:
        """Return ``C[i, j] = P(Y=i, Ŷ=j)`` for one class number per item."""
        k = self.proba.shape[1]
        table = np.zeros((k, k))
        np.add.at(table.T, decisions, self.mass)
        return table

    def optimal(self, weights: FloatArray) -> FloatArray:
        """Return the confusions of ``argmax_j Σ_i proba_i · weights[b, i, j]``: (b, k, k)."""
        k = self.proba.shape[1]
        tables = np.empty((len(weights), k, k))
        step = max(1, _BLOCK // (len(self.proba) * k))
        for start in range(0, len(weights), step):
            block = weights[start : start + step]
            flat = block.transpose(1, 0, 2).reshape(k, -1)
            gain = (self.proba @ flat).reshape(len(self.proba), len(block), k)
            decided = k - 1 - gain[:, :, ::-1].argmax(axis=2)  # ties go to the later class
            for j in range(k):
                tables[start : start + step, :, j] = (decided == j).T.astype(float) @ self.mass
        return tables


def compressed(population: Population, most: int = 25_000) -> Population:
    """Join items of nearly the same odds, to keep programs over many items fast.

    A classifier that decides by the cell is still a classifier, so confusions stay exact. Odds are
    rounded, and not probabilities, so that rare classes keep their order; with many classes more
    than ``most`` cells may be left. Two classes need no joining, as sorting them is cheap.
    """
    k = population.proba.shape[1]
    if len(population.proba) <= most or k == 2:
        return population
    logs = np.log(np.clip(population.proba, 1e-9, None))
    for step in (0.01, 0.05, 0.2):
        _, cell = np.unique(np.round(logs / step), axis=0, return_inverse=True)
        cell = cell.ravel()
        n_cells = int(cell.max()) + 1
        if n_cells <= most:
            break
    size = np.bincount(cell, minlength=n_cells)
    proba = [np.bincount(cell, population.proba[:, i], n_cells) / size for i in range(k)]
    masses = [np.bincount(cell, population.mass[:, i], n_cells) for i in range(k)]
    return Population(np.column_stack(proba), np.column_stack(masses).astype(float))
