"""The weight of the plain AUC."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.ranking.weights._weight import Weight

__all__ = ["Uniform"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Uniform(Weight):
    """The same weight at every false-positive rate: the AUC.

    Examples
    --------
    >>> Uniform().area, Uniform().chance
    (1.0, 0.5)
    """

    @property
    def area(self) -> float:
        """``‖W‖₁``."""
        return 1.0

    @property
    def sup(self) -> float:
        """``‖W‖_∞``."""
        return 1.0

    @property
    def lipschitz(self) -> float:
        """``‖W‖_Lip``."""
        return 0.0

    @property
    def variation(self) -> float:
        """Total variation."""
        return 0.0

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        return np.ones_like(np.asarray(v, dtype=float))

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v) = v``."""
        return np.asarray(v, dtype=float)

    def mean_cumulative(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``K̄(a, b) = (a + b) / 2``."""
        return (np.asarray(a, dtype=float) + b) / 2

    @property
    def title(self) -> str:
        """What the area is called."""
        return "AUC"
