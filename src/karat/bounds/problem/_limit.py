"""The distance from an estimated mean to its one-sided confidence limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.bounds.problem._sample import Sample
from karat.bounds.problem._skew import skew_limit
from karat.limits.kernels import bernstein_reach, student_quantile

__all__ = ["Limit"]


@dataclass(frozen=True, slots=True)
class Limit:
    """Kind (``skew``, ``normal`` or ``bernstein``) and confidence of one-sided limits."""

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

    def approximate(
        self, sample: Sample, influence: FloatArray, side: int, worst: float | None = None
    ) -> float:
        """Return the distance from an estimate to its limit on one side, from its influence.

        ``worst`` is the influence of the worst item that could come; by default that of the worst
        prediction in a pattern that was seen.
        """
        if self.kind != "skew":
            return self.normal_distance(sample, influence)
        if self.confidence <= 0.5:
            return 0.0
        end = float(influence.max() if side > 0 else influence.min()) if worst is None else worst
        mean = sample.mean(influence)
        limit = self.skew(sample, [influence], lambda means: means[:, 0], [[end]], side)
        return max(side * (limit - mean), 0.0)

    def skew(
        self,
        sample: Sample,
        columns: Sequence[FloatArray],
        statistic: Callable[[FloatArray], FloatArray],
        worst: Sequence[Sequence[float]],
        side: int,
    ) -> float:
        """Return the limit of a statistic of means; infinite where one item or cluster is all."""
        if not np.isfinite(self.quantile(sample.effective)):
            return side * np.inf
        return skew_limit(sample, columns, statistic, worst, side=side, confidence=self.confidence)

    def distance(
        self, sample: Sample, values: FloatArray, span: float, side: int, worst: float
    ) -> float:
        """Return the distance from a mean to its limit on one side.

        ``span`` is the range of the values, and ``worst`` the value of the worst item.
        """
        if self.kind == "bernstein":
            return self._bernstein_distance(sample, values, span)
        return self.approximate(sample, values, side, worst)

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
