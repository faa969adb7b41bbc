"""A weight that falls with the false-positive rate as a power."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_number
from karat.ranking.weights._weight import Weight

__all__ = ["Power"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Power(Weight):
    """The weight ``(1 − FPR)**exponent``: early false positives matter more, with no cut.

    Parameters
    ----------
    exponent : float
        At least 0; 0 is the AUC, and larger values look at smaller rates.

    Examples
    --------
    >>> Power(9).area
    0.1
    """

    exponent: float

    def __post_init__(self) -> None:
        """Check the exponent."""
        object.__setattr__(self, "exponent", check_number(self.exponent, "exponent", at_least=0.0))

    @property
    def area(self) -> float:
        """``‖W‖₁``."""
        return 1.0 / (self.exponent + 1.0)

    @property
    def sup(self) -> float:
        """``‖W‖_∞``."""
        return 1.0

    @property
    def lipschitz(self) -> float:
        """``‖W‖_Lip``; infinite for exponents between 0 and 1."""
        return self.exponent if self.exponent == 0 or self.exponent >= 1 else float("inf")

    @property
    def variation(self) -> float:
        """Total variation."""
        return 1.0 if self.exponent else 0.0

    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""
        return np.asarray(v, dtype=float) ** self.exponent

    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v)``."""
        return np.asarray(v, dtype=float) ** (self.exponent + 1.0) * self.area

    def mean_cumulative(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``K̄(a, b)``; the closed form loses digits where a is near b."""
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        p = self.exponent + 2.0
        start, end = a**p, b**p
        with np.errstate(invalid="ignore", divide="ignore"):
            exact = self.area / p * (end - start) / (b - a)
        # Where the power no more than doubles, the quadrature of the base is exact to rounding.
        return np.where(start < end / 2, exact, Weight.mean_cumulative(self, a, b))

    @property
    def title(self) -> str:
        """What the area is called."""
        return f"AUC with the weight (1 − FPR)^{self.exponent:g}"
