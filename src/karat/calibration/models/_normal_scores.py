"""Normal scores: ranks turned into quantiles of the normal law."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["NormalScores"]


class NormalScores:
    """Maps each column to ``Φ⁻¹(mid-rank / (N + 1))`` among the rows it was made from.

    Mid-ranks over N + 1 keep the extremes finite, whatever the ties. ``own`` are the scores of
    those rows themselves.
    """

    def __init__(self, h: FloatArray) -> None:
        from scipy.special import ndtri

        n, k = h.shape
        self.columns = np.empty((k, n))
        ranks = np.empty((n, k))
        for j in range(k):
            order = np.argsort(h[:, j])
            column = h[order, j]
            first = np.flatnonzero(np.concatenate([[True], column[1:] > column[:-1]]))
            size = np.diff(np.append(first, n))
            ranks[order, j] = np.repeat(first + (size + 1) / 2, size)
            self.columns[j] = column
        self.own = np.asarray(ndtri(ranks / (n + 1)))

    def __call__(self, h: FloatArray) -> FloatArray:
        from scipy.special import ndtri

        n = self.columns.shape[1]
        ranks = np.empty(h.shape)
        for j, column in enumerate(self.columns):
            below = np.searchsorted(column, h[:, j], side="left")
            upto = np.searchsorted(column, h[:, j], side="right")
            ranks[:, j] = (below + upto + 1) / 2
        return np.asarray(ndtri(np.clip(ranks, 0.5, n + 0.5) / (n + 1)))
