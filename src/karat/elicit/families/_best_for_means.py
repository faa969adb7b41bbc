"""Classifiers that are best for random power means of the recalls."""

from functools import cached_property

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_rng
from karat.elicit.spaces import AnyClassifier

__all__ = ["BestForMeans"]

_VERTICES = 1000  # extreme classifiers that the others are mixtures of
_STEPS = 60  # Frank–Wolfe steps to the best mixture
_LEAST_RECALL = 1e-4  # of the slope: a class that is not found yet has a finite one


class BestForMeans(AnyClassifier):
    """Classifiers that are best for random linear metrics, and for random means of the recalls.

    The former may never find some class, and to whoever wants every class to be found they are all
    alike: nothing can be learned from them. The latter are mixtures that find every class.
    """

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions (n, k, k), of either kind by turns."""
        generator = check_rng(rng)
        tables = self.space.sample(n, rng=generator)
        tables[1::2] = self._best(n // 2, generator)
        return tables

    @cached_property
    def _vertices(self) -> FloatArray:
        return self.space.sample(_VERTICES, rng=np.random.default_rng(0))

    def _best(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return the best mixtures of extreme classifiers for n random means, by Frank–Wolfe."""
        weights = np.abs(rng.normal(size=(n, self.dim)))
        weights /= weights.sum(axis=1, keepdims=True)
        powers = 1.0 - np.abs(rng.normal(scale=1.5, size=(n, 1)))
        recalls = self.coordinates(self._vertices) / self.space.top
        tables = np.repeat(self.guess[None], n, axis=0)
        points = np.full((n, self.dim), 1.0 / self.space.n_classes)
        for step in range(_STEPS):
            slopes = weights * np.maximum(points, _LEAST_RECALL) ** (powers - 1.0)
            best, share = np.argmax(slopes @ recalls.T, axis=1), 2.0 / (step + 3.0)
            points += share * (recalls[best] - points)
            tables += share * (self._vertices[best] - tables)
        return tables
