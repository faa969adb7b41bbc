"""What every family of metrics offers: a prior over metrics, and what its metrics prefer.

Parameters are vectors in which each entry is half-normal (or normal, where it may be negative),
independently; a family reads a metric from them. Directions are then uniform over the sphere, or
its positive orthant.
"""

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.elicit.spaces import QuestionSpace
from karat.elicit.weights import WeightTable
from karat.metrics import MetricBase

__all__ = ["NAME", "TINY", "Family", "UnsignedFamily", "mean_direction", "unit"]


NAME = "elicited metric"
TINY = 1e-100  # added to what may be 0 before `unit`: its square is still above 0


class Family(Protocol):
    """A family of metrics over the coordinates of a space."""

    @property
    def space(self) -> QuestionSpace:
        """The space whose coordinates its metrics weigh."""

    @property
    def size(self) -> int:
        """Number of parameters."""

    @property
    def signed(self) -> BoolArray:
        """Which parameters may be negative; they are normal, the others half-normal."""

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        """Return the utility of each point for each metric: (n, points)."""

    def weights(self, parameters: FloatArray) -> FloatArray:
        """Return the weights that are reported: (n, w)."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each weight is, in words."""

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the parameters of the mean of metrics with given shares."""

    def metric(self, parameters: FloatArray) -> MetricBase:
        """Return the metric of one vector of parameters."""

    def table(self, parameters: FloatArray) -> WeightTable | None:
        """Return the weights of one metric as a table; None where there are few."""

    def gap_worth(self, parameters: FloatArray) -> tuple[str, FloatArray] | None:
        """Return in words what a gap between groups is worth, and how much; None without groups."""


def unit(vectors: FloatArray) -> FloatArray:
    """Scale vectors (..., q) to length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def mean_direction(directions: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the mean (q,) of the directions of vectors (n, q), with length 1."""
    return unit(shares @ unit(directions))


class UnsignedFamily(ABC):
    """A family of metrics without groups in which no parameter is negative."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of parameters."""

    @property
    def signed(self) -> BoolArray:
        return np.zeros(self.size, dtype=bool)

    def table(self, parameters: FloatArray) -> WeightTable | None:
        return None

    def gap_worth(self, parameters: FloatArray) -> tuple[str, FloatArray] | None:
        return None
