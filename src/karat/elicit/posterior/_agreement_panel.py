"""The agreement of two metrics, counted on random pairs of classifiers."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit.families import Family
from karat.elicit.posterior._particle_posterior import scoring_stride
from karat.elicit.spaces import QuestionSpace

__all__ = ["AgreementPanel", "by_point"]


@dataclass(frozen=True, slots=True)
class AgreementPanel:
    """Random pairs of attainable classifiers, on which the agreement of metrics is counted."""

    points: FloatArray
    left: IntArray
    right: IntArray

    @classmethod
    def of(cls, space: QuestionSpace, n: int, rng: np.random.Generator) -> "AgreementPanel":
        """Draw n classifiers, and as many pairs of them."""
        points = space.coordinates(space.sample(n, rng=rng))
        left, right = rng.integers(0, n, (2, n))
        differ = np.abs(points[left] - points[right]).max(axis=1) > 1e-12
        return cls(points, left[differ], right[differ])

    def agreement(
        self, family: Family, estimate: FloatArray, parameters: FloatArray, shares: FloatArray
    ) -> float:
        """Return the share of pairs on which an estimate and a drawn metric prefer alike."""
        every = scoring_stride(len(shares))
        parameters, shares = parameters[::every], shares[::every] / shares[::every].sum()
        if not len(self.left):
            return 1.0  # all classifiers are the same: there is nothing to disagree on
        estimated = family.values(estimate[None], self.points)[0]
        drawn = by_point(family.values(parameters, self.points))
        prefers = estimated[self.left] > estimated[self.right]
        same = (drawn[self.left] > drawn[self.right]) == prefers[:, None]
        return float(same.mean(axis=0) @ shares)

    def typical_margin(self, family: Family, parameters: FloatArray) -> float:
        """Return the median difference that metrics see between the sides of a pair."""
        values = by_point(family.values(parameters, self.points))
        if not len(self.left):
            return 1.0
        return float(np.median(np.abs(values[self.left] - values[self.right])))


def by_point(values: FloatArray) -> FloatArray:
    """Return (points, particles) in memory order: rows are then fast to take."""
    return np.ascontiguousarray(values.T)
