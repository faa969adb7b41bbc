"""One bound to find: counts of items, P(Y | z) of the label model, and q̂."""

from dataclasses import dataclass, replace

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.bounds.problem._sample import Sample
from karat.bounds.transport import best_duals, dual_values

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Counts by (fold, pattern, prediction), p = P(Y | z), and q̂ = P(Ŷ | z) from other folds.

    ``group`` is the group of each pattern where the metric compares groups; patterns of two groups
    are then two patterns, even if the votes are the same.
    """

    sample: Sample
    p: FloatArray
    q: FloatArray
    slack: float = 0.0
    prior: FloatArray | None = None
    group: IntArray | None = None

    def duals(self, gain: FloatArray) -> FloatArray:
        """Return the α that q̂ makes best for an upper bound of the gain."""
        return best_duals(gain, self.q, self.p, self.slack)

    def values(self, gain: FloatArray, side: int) -> FloatArray:
        """Return item values whose mean bounds ``E gain[Y, Ŷ]`` from above (1) or below (−1)."""
        alpha = self.duals(side * gain)
        return side * dual_values(side * gain, alpha, self.p, self.slack)

    @property
    def patterns(self) -> FloatArray:
        """Share of the items in each pattern."""
        return np.asarray(self.sample.counts.sum(axis=(0, 2)) / self.sample.total)

    @property
    def predicted(self) -> FloatArray:
        """``P(Ŷ=j)``."""
        return np.asarray(self.sample.counts.sum(axis=(0, 1)) / self.sample.total)

    @property
    def pooled(self) -> FloatArray:
        """``P(Ŷ | z)`` by pattern: the mean of q̂ over the folds."""
        return np.asarray(self.q.mean(axis=0))

    @property
    def truth(self) -> FloatArray:
        """``P(Y=i)``: given, or the mean of the label model."""
        return self.patterns @ self.p if self.prior is None else self.prior

    def truth_values(self) -> FloatArray:
        """Return each item's share in ``truth``: (1, pattern, 1, class), or constant if given."""
        own = self.p if self.prior is None else np.broadcast_to(self.prior, self.p.shape)
        return own[None, :, None, :]

    def one_vs_rest(self, k: int) -> "Problem":
        """Return the binary problem of class k against the rest."""

        def halves(a: FloatArray) -> FloatArray:
            return np.stack([a.sum(axis=-1) - a[..., k], a[..., k]], axis=-1)

        rows = self.sample.rows
        own = None if rows is None else replace(rows, predicted=(rows.predicted == k).astype(int))
        sample = Sample(halves(self.sample.counts), halves(self.sample.squares), own)
        prior = None if self.prior is None else halves(self.prior)
        return Problem(sample, halves(self.p), halves(self.q), self.slack, prior)
