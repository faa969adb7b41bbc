"""Normal scores: ranks turned into quantiles of the normal law."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["NormalScores"]


class NormalScores:
    """Maps each column to ``Φ⁻¹(mid-rank / (N + 1))`` among the rows it was made from.

    Mid-ranks over N + 1 keep the extremes finite, whatever the ties. ``own`` are the scores of
    those rows themselves. A row of weight w counts as w rows.
    """

    def __init__(self, h: FloatArray, weight: FloatArray | None = None) -> None:
        from scipy.special import ndtri

        n, k = h.shape
        self.columns = np.empty((k, n))
        self.below: FloatArray | None = None if weight is None else np.zeros((k, n + 1))
        self.total = float(n if weight is None else weight.sum())
        ranks = np.empty((k, n))
        columns = np.ascontiguousarray(h.T)
        for j in range(k):
            order = np.argsort(columns[j])
            self.columns[j] = column = columns[j, order]
            first = np.flatnonzero(np.concatenate([[True], column[1:] > column[:-1]]))
            ends = np.append(first, n)
            if weight is not None and self.below is not None:
                np.cumsum(weight[order], out=self.below[j, 1:])
                reach = self.below[j, ends]
            else:
                reach = ends.astype(float)
            middle = (reach[:-1] + reach[1:] + 1) / 2
            ranks[j, order] = middle if len(first) == n else np.repeat(middle, np.diff(ends))
        ranks /= self.total + 1
        self.own = np.ascontiguousarray(ndtri(ranks, out=ranks).T)

    def __call__(self, h: FloatArray) -> FloatArray:
        from scipy.special import ndtri

        ranks = np.empty(h.shape)
        for j, column in enumerate(self.columns):
            below = np.searchsorted(column, h[:, j], side="left")
            upto = np.searchsorted(column, h[:, j], side="right")
            if self.below is not None:
                below, upto = self.below[j, below], self.below[j, upto]
            ranks[:, j] = (below + upto + 1) / 2
        most = self.total + 0.5
        return np.asarray(ndtri(np.clip(ranks, 0.5, most) / (self.total + 1)))
