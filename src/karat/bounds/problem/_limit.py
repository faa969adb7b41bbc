"""The distance from an estimated mean to its one-sided confidence limit."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.bounds.problem._sample import Sample
from karat.limits.kernels import bernstein_reach, student_quantile

__all__ = ["Limit"]


@dataclass(frozen=True, slots=True)
class Limit:
    """Kind (``normal`` or ``bernstein``) and confidence of one-sided limits."""

    kind: str
    confidence: float

    def quantile(self, effective: float) -> float:
        """Student's quantile of the confidence; infinite where one item or cluster is all.

        A limit never lies inside the bounds: at a confidence of a half or less it is the bound.
        """
        return max(student_quantile(1.0 - self.confidence, effective - 1.0), 0.0)

    def normal_distance(self, sample: Sample, values: FloatArray) -> float:
        """Return the distance from the mean of ``values`` to its approximate limit."""
        quantile = self.quantile(sample.effective)
        return quantile * sample.moments(values).error if np.isfinite(quantile) else np.inf

    def distance(self, sample: Sample, values: FloatArray, span: float) -> float:
        """Return the distance from the mean to the limit; ``span`` is the range of the values."""
        if self.kind == "normal":
            return self.normal_distance(sample, values)
        return self._bernstein_distance(sample, values, span)

    def _bernstein_distance(self, sample: Sample, values: FloatArray, span: float) -> float:
        """Empirical Bernstein limits, one per fold; the folds share the error probability.

        The values of a fold are a function of the other folds, so they are independent only given
        those: each fold needs a limit of its own.
        """
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
