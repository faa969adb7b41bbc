"""One bound to find: the counts, what the label model says, and what q̂ guesses."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.bounds._kernels import best_duals, dual_values
from karat.bounds._sample import Sample
from karat.limits.kernels import bernstein_reach, student_quantile

__all__ = ["End", "Ends", "Limit", "Problem"]


class End(NamedTuple):
    """One end of an interval: the estimated bound, and its confidence limit further out."""

    value: float
    limit: float


class Ends(NamedTuple):
    """Both ends; ``sharp`` if some law with these margins attains them."""

    lower: End
    upper: End
    sharp: bool = True
    iterations: int = 0
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class Limit:
    """How far from an estimated mean its one-sided confidence limit is."""

    kind: str
    confidence: float

    def quantile(self, effective: float) -> float:
        """Student's quantile of the confidence; infinite where one item or cluster is all.

        A limit never lies inside the bounds: at a confidence of a half or less it is the bound.
        """
        return max(student_quantile(1.0 - self.confidence, effective - 1.0), 0.0)

    def normal(self, sample: Sample, values: FloatArray) -> float:
        """Return the distance from a mean to its approximate limit."""
        quantile = self.quantile(sample.effective)
        return quantile * sample.moments(values).error if np.isfinite(quantile) else np.inf

    def reach(self, sample: Sample, values: FloatArray, span: float) -> float:
        """Return the distance from the mean to the limit; ``span`` is the range of the values."""
        if self.kind == "normal":
            return self.normal(sample, values)
        return self._bernstein(sample, values, span)

    def _bernstein(self, sample: Sample, values: FloatArray, span: float) -> float:
        """Empirical Bernstein limits, each fold given the others; folds share the error."""
        delta = (1.0 - self.confidence) / len(sample.counts)
        total = 0.0
        for counts, value in zip(sample.counts, values, strict=True):
            n = float(counts.sum())
            if n < 2:
                return np.inf
            mean = np.sum(counts * value) / n
            variance = float(np.sum(counts * (value - mean) ** 2) / (n - 1))
            total += n * bernstein_reach(variance, n, span, delta)
        return total / sample.total


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
