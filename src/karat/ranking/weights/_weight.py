"""A weight on false-positive rates: what a point of the ROC curve is worth there."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from karat._frozen import Frozen
from karat._typing import FloatArray

__all__ = ["Weight", "gauss_rule"]


def gauss_rule(n: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss–Legendre nodes and shares on [0, 1], exact for polynomials of degree 2n − 1."""
    nodes, shares = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, shares / 2


class Weight(Frozen, ABC):
    """Base of the weights on false-positive rates.

    Users think of false-positive rates u; the formulas are shorter in the true-negative rate
    v = 1 − u, on which Maurer & Pontil (2020) put their weight W. ``cumulative(v)`` is
    ``K(v) = ∫₀ᵛ W``, of which areas and certificates are made.
    """

    __slots__ = ()
    _rule: ClassVar[tuple[FloatArray, FloatArray]] = gauss_rule(8)  # for K on each of its pieces

    @property
    @abstractmethod
    def area(self) -> float:
        """``‖W‖₁``."""

    @property
    @abstractmethod
    def sup(self) -> float:
        """``‖W‖_∞``."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """``‖W‖_Lip``."""

    @property
    @abstractmethod
    def variation(self) -> float:
        """Total variation."""

    @abstractmethod
    def density(self, v: FloatArray) -> FloatArray:
        """Return W at true-negative rates."""

    @abstractmethod
    def cumulative(self, v: FloatArray) -> FloatArray:
        """Return ``K(v) = ∫₀ᵛ W``."""

    def mean_cumulative(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return ``K̄(a, b) = ∫ₐᵇ K / (b − a)``, and ``K(b)`` where a = b."""
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        total = np.zeros(np.broadcast_shapes(a.shape, b.shape))
        for low, high in self._pieces():
            start, end = np.clip(a, low, high), np.clip(b, low, high)
            width = end - start
            for node, share in zip(*self._rule, strict=True):
                total += share * width * self.cumulative(start + node * width)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(b > a, total / (b - a), self.cumulative(b))

    def _pieces(self) -> list[tuple[float, float]]:
        """Return intervals of v on which K is smooth."""
        return [(0.0, 1.0)]

    @property
    def chance(self) -> float:
        """Area of a ranking by chance, ``∫ u W(1−u) du``."""
        return float(self.mean_cumulative(np.array(0.0), np.array(1.0)))

    @property
    @abstractmethod
    def title(self) -> str:
        """What the area is called, for summaries and axes."""

    def __call__(self, fpr: Any) -> FloatArray:
        """Return the weight at false-positive rates."""
        return self.density(1.0 - np.asarray(fpr, dtype=float))

    def __repr__(self) -> str:
        options = ", ".join(f"{k}={v!r}" for k, v in self.to_dict().items() if k != "kind")
        return f"{type(self).__name__}({options})"

    def to_dict(self) -> dict[str, Any]:
        """Return the kind of weight and its options."""
        return {"kind": type(self).__name__, **super().to_dict()}
