"""Polynomials of error rates: any weight of any sign."""

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.elicit.families._family import NAME, unit
from karat.elicit.families._monomials import Monomials
from karat.elicit.spaces import RateSpace
from karat.elicit.weights import WeightTable
from karat.metrics import MetricBase, PolynomialMetric, QuadraticMetric

__all__ = ["PolynomialFamily", "emphasised", "flattened"]


def emphasised(parameters: FloatArray, sparse: bool) -> FloatArray:
    """Return weights of parameters: with ``sparse`` cubes of normals, of which many are near 0."""
    return np.asarray(parameters * parameters**2 if sparse else parameters)


def flattened(weights: FloatArray, sparse: bool) -> FloatArray:
    """Return the parameters of weights: the inverse of `emphasised`."""
    return np.asarray(np.cbrt(weights) if sparse else weights)


class PolynomialFamily:
    """``Σ_n ⟨A_n, r^⊗n⟩ / n!`` of the error rates r, with weights of norm 1 together."""

    def __init__(self, space: RateSpace, monomials: Monomials, *, sparse: bool = False) -> None:
        self.space = space
        self.monomials = monomials
        self.sparse = sparse

    @property
    def size(self) -> int:
        return self.monomials.size

    @property
    def signed(self) -> BoolArray:
        return np.ones(self.size, dtype=bool)

    @property
    def names(self) -> tuple[str, ...]:
        return self.monomials.names(self.space.names)

    def _weights(self, parameters: FloatArray) -> FloatArray:
        return unit(emphasised(parameters, self.sparse))

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        return np.asarray(self._weights(parameters) @ self.monomials.values(points).T)

    def weights(self, parameters: FloatArray) -> FloatArray:
        return self.monomials.entries(self._weights(parameters))

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        return flattened(unit(shares @ self._weights(parameters)), self.sparse)

    def table(self, parameters: FloatArray) -> WeightTable | None:
        """Return the linear weights and the quadratic ones below them; None for higher orders."""
        if self.monomials.order != 2:
            return None
        linear, bend = self.monomials.tensors(self._weights(parameters))
        names = self.space.names
        return WeightTable(
            rows=("alone", *(f"with {name}" for name in names)),
            columns=names,
            values=np.vstack([linear, bend]),
        )

    def gap_worth(self, parameters: FloatArray) -> tuple[str, FloatArray] | None:
        return None

    def metric(self, parameters: FloatArray) -> MetricBase:
        tensors = self.monomials.tensors(self._weights(parameters))
        if self.monomials.order == 2:
            return QuadraticMetric(tensors[0], tensors[1], name=NAME)
        return PolynomialMetric(tensors, name=NAME)
