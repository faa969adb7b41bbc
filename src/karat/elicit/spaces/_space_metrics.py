"""The metrics that weigh the coordinates of a space."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from karat._typing import FloatArray
from karat.metrics import LinearFractionalMetric, LinearMetric

__all__ = ["SpaceMetrics"]


class SpaceMetrics(ABC):
    """Metrics of confusions, made of weights of coordinates."""

    sign: ClassVar[int]

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    @abstractmethod
    def top(self) -> FloatArray:
        """The greatest value of each coordinate."""

    @abstractmethod
    def weights(self, directions: FloatArray) -> FloatArray:
        """Return the gains (..., k, k) whose expectation is ``⟨direction, coordinates⟩``."""

    def linear_metric(self, weights: FloatArray, name: str | None = None) -> LinearMetric:
        """Return the metric that gives each coordinate a weight of at least 0 (or costs it)."""
        return LinearMetric(self.weights(self.sign * weights), name=name)

    def ratio_metric(
        self, good: FloatArray, bad: FloatArray, name: str | None = None, *, turned: bool = False
    ) -> LinearFractionalMetric:
        """Return ``N / (N + M)`` with ``N = ⟨good, c⟩`` and ``M = ⟨bad, top − c⟩``.

        For errors (sign -1) it is ``-N / (N + M)``. Every linear-fractional metric that meets
        Assumption 3.2 (or 4.3, 4.4) ranks classifiers like one of these; ``turned`` gives the
        metric of someone for whom less of it is better.
        """
        k = self.n_classes
        numerator = self.weights(good)
        # M = ⟨bad, top⟩ − ⟨bad, c⟩, and confusions sum to 1
        denominator = numerator - self.weights(bad) + float(bad @ self.top) * np.ones((k, k))
        sign = -self.sign if turned else self.sign
        return LinearFractionalMetric(sign * numerator, denominator, name=name)
