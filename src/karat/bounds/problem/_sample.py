"""The items of a bound, split into folds and reduced to counts."""

from dataclasses import dataclass

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat.limits.kernels import (
    Moments,
    cluster_moments,
    cluster_number,
    effective_number,
    weighted_moments,
)

__all__ = ["Rows", "Sample", "split_counts", "split_rows"]


@dataclass(frozen=True, slots=True)
class Rows:
    """One entry per item; kept only where items of a cluster are dependent."""

    ids: IntArray
    predicted: IntArray
    folds: IntArray
    weight: FloatArray
    cluster: IntArray


@dataclass(frozen=True, slots=True)
class Sample:
    """Sums of the weights of (fold, pattern, prediction), and of their squares."""

    counts: FloatArray
    squares: FloatArray
    rows: Rows | None = None

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.counts.sum())

    @property
    def effective(self) -> float:
        """Kish's effective number of items, or of clusters where that is smaller."""
        kish = effective_number(self.total, float(self.squares.sum()))
        if self.rows is None:
            return kish
        return min(kish, cluster_number(self.rows.weight, self.rows.cluster))

    def mean(self, values: FloatArray) -> float:
        """Return the mean of item values given by (fold, pattern, prediction)."""
        return float(np.sum(self.counts * values) / self.total)

    def moments(self, values: FloatArray) -> Moments:
        """Return mean and standard error; by cluster where there are clusters."""
        if self.rows is None:
            return weighted_moments(values, self.counts, self.squares)
        r = self.rows
        return cluster_moments(values[r.folds, r.ids, r.predicted], r.weight, r.cluster)


def split_counts(counts: AnyArray, folds: int, rng: np.random.Generator) -> Sample:
    """Split counts of (pattern, prediction) at random into folds.

    Items of one cell are exchangeable, so a multinomial draw of the count is the same as drawing
    the fold of each item.
    """
    if folds == 1:
        weights = counts[None].astype(np.float64)
    else:
        drawn = rng.multinomial(counts.astype(np.int64), np.full(folds, 1.0 / folds))
        weights = np.moveaxis(drawn.astype(np.float64), -1, 0)
    return Sample(counts=weights, squares=weights)


def split_rows(
    ids: IntArray,
    predicted: IntArray,
    shape: tuple[int, int],
    weight: FloatArray | None,
    cluster: IntArray | None,
    folds: int,
    rng: np.random.Generator,
) -> Sample:
    """Split items, whole clusters together, and count them."""
    n = len(ids)
    units = np.arange(n) if cluster is None else cluster
    fold_of = rng.permutation(np.arange(int(units.max()) + 1) % folds)
    fold = fold_of[units]
    weight = np.ones(n) if weight is None else weight
    index = (fold * shape[0] + ids) * shape[1] + predicted
    cells = (folds, *shape)
    counts, squares = (
        np.bincount(index, weights=w, minlength=int(np.prod(cells))).reshape(cells).astype(float)
        for w in (weight, weight**2)
    )
    rows = None if cluster is None else Rows(ids, predicted, fold, weight, cluster)
    return Sample(counts=counts, squares=squares, rows=rows)
