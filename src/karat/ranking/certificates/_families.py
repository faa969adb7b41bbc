"""Classes of models over which a bound on areas holds uniformly."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._frozen import Frozen
from karat._validate import check_count, check_finite_matrix, check_number
from karat.exceptions import DataError

__all__ = ["Family", "FiniteFamily", "GaussianComplexity", "LinearScores"]


@dataclass(frozen=True, slots=True, eq=False)
class FiniteFamily(Frozen):
    """``size`` models that were all fixed before the rows were seen."""

    size: int

    def __post_init__(self) -> None:
        """Check the number of models."""
        object.__setattr__(self, "size", check_count(self.size, "size"))


@dataclass(frozen=True, slots=True, eq=False)
class LinearScores(Frozen):
    """All scores ``w·x`` of ``dim`` features, for every w."""

    dim: int

    def __post_init__(self) -> None:
        """Check the number of features."""
        object.__setattr__(self, "dim", check_count(self.dim, "dim"))


@dataclass(frozen=True, slots=True, eq=False)
class GaussianComplexity(Frozen):
    """Scores whose class has the expected Gaussian complexity ``value`` on n rows.

    ``value = E sup_h Σ γᵢ h(xᵢ)``, with γ independent standard normal variables. `of_linear` and
    `of_kernel` bound it for given rows, which stand in for the expectation over rows that Theorem 3
    of Maurer & Pontil (2020) asks for.
    """

    value: float

    def __post_init__(self) -> None:
        """Check the complexity."""
        object.__setattr__(self, "value", check_number(self.value, "value", at_least=0.0))

    @classmethod
    def of_linear(cls, X: Any, *, radius: float) -> "GaussianComplexity":
        """Return the bound ``radius · √Σ|xᵢ|²`` for scores w·x with ``|w| ≤ radius``.

        Parameters
        ----------
        X : array (n, features)
            The rows.
        radius : float
            The norm of w is at most this.
        """
        rows = check_finite_matrix(X, "X")
        return cls(check_number(radius, "radius", at_least=0.0) * float(np.linalg.norm(rows)))

    @classmethod
    def of_kernel(cls, diagonal: Any, *, radius: float) -> "GaussianComplexity":
        """Return the bound ``radius · √Σ k(xᵢ, xᵢ)`` for a ball of a kernel's space.

        Parameters
        ----------
        diagonal : array (n,)
            The kernel of each row with itself.
        radius : float
            The norm in the space is at most this.
        """
        values = check_finite_matrix(diagonal, "diagonal")
        if (values < 0).any():
            raise DataError("diagonal holds a negative number; a kernel has none there")
        return cls(check_number(radius, "radius", at_least=0.0) * math.sqrt(float(values.sum())))


Family = FiniteFamily | LinearScores | GaussianComplexity
