"""Metrics that are a polynomial in the rates of errors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import factorial
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_count
from karat.exceptions import MetricError
from karat.metrics.base import Metric
from karat.metrics.coefficients import symmetric_tensor
from karat.metrics.rates import classes_for, error_rates, pulled_back
from karat.metrics.wording import class_names, error_names

__all__ = ["PolynomialMetric"]

_MOST = 6  # terms that a description lists


@dataclass(frozen=True, slots=True, eq=False, init=False)
class PolynomialMetric(Metric):
    """A polynomial of the error rates.

    ``φ(r) = Σ_n ⟨A_n, r ⊗ … ⊗ r⟩ / n!`` (Hiranandani 2021, eq. 6.26). The rates are
    ``r_ij = P(Ŷ=j | Y=i)`` for i ≠ j, row by row. Greater is better, so errors that cost have
    negative coefficients.

    Parameters
    ----------
    coefficients : sequence of d arrays
        Symmetric tensors of 1, 2, ..., d indices, each of size q = k² − k.
    order : int, optional
        d, to be checked against the number of tensors.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> cubic = PolynomialMetric([[-1, -2], [[0, 1], [1, 0]], [[[0, 0], [0, 0]], [[0, 0], [0, 6]]]])
    >>> round(cubic([[0.4, 0.1], [0.1, 0.4]]), 6)
    -0.552
    """

    coefficients: tuple[FloatArray, ...]
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "polynomial"

    def __init__(
        self, coefficients: Sequence[Any], order: int | None = None, name: str | None = None
    ) -> None:
        if isinstance(coefficients, str) or not len(coefficients):
            raise MetricError(
                f"coefficients is {coefficients!r}; expected a list of tensors of 1, 2, ... indices"
            )
        linear = symmetric_tensor(coefficients[0], "coefficients[0]")
        if linear.ndim != 1:
            raise MetricError(
                f"coefficients[0] has shape {linear.shape}; expected one number for each kind of "
                "error"
            )
        classes_for(len(linear), "coefficients[0]")
        tensors = [linear]
        for n, given in enumerate(coefficients[1:], start=2):
            tensor = symmetric_tensor(given, f"coefficients[{n - 1}]", len(linear))
            if tensor.ndim != n:
                raise MetricError(
                    f"coefficients[{n - 1}] has {tensor.ndim} indices; expected {n}, its degree"
                )
            tensors.append(tensor)
        if order is not None and check_count(order, "order") != len(tensors):
            raise MetricError(f"order is {order!r} and there are {len(tensors)} tensors")
        object.__setattr__(self, "coefficients", tuple(tensors))
        object.__setattr__(self, "name", None if name is None else str(name))

    @property
    def order(self) -> int:
        """The degree of the polynomial."""
        return len(self.coefficients)

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or f"polynomial metric of order {self.order}"

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return classes_for(len(self.coefficients[0]), "coefficients[0]")

    def _values(self, confusions: FloatArray) -> FloatArray:
        return self._of_rates(error_rates(confusions))

    def _of_rates(self, rates: FloatArray) -> FloatArray:
        """Return the values of rates (b, q)."""
        return np.asarray(
            sum(
                _contracted(tensor, rates, 0) / factorial(n)
                for n, tensor in enumerate(self.coefficients, start=1)
            )
        )

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        return pulled_back(self._slopes(error_rates(confusions)), confusions)

    def _slopes(self, rates: FloatArray) -> FloatArray:
        """Return the derivatives in the rates, (b, q)."""
        return np.asarray(
            sum(
                _contracted(tensor, rates, 1) / factorial(n - 1)
                for n, tensor in enumerate(self.coefficients, start=1)
            )
        )

    def normalized(self) -> "PolynomialMetric":
        """Return the positive multiple whose coefficients have the norm 1 together."""
        size = np.sqrt(sum(float(np.sum(t**2)) for t in self.coefficients))
        scale = 1.0 / size if size > 0 else 1.0
        return PolynomialMetric([t * scale for t in self.coefficients], name=self.name)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words the slope in each error rate at 0, and the size of the terms beyond it."""
        names = error_names(class_names(classes, self.n_classes))
        linear = self.coefficients[0]
        order = np.argsort(-np.abs(linear), kind="stable")[:_MOST]
        first = "; ".join(f"{linear[i]:+.4g} per unit of {names[i]}" for i in order)
        bends = [
            f"terms of degree {n} of norm {np.linalg.norm(t):.4g}"
            for n, t in enumerate(self.coefficients[1:], start=2)
            if t.any()
        ]
        tail = f"; and {', '.join(bends)}" if bends else ""
        head = f"{self.title[:1].upper()}{self.title[1:]}"
        return f"{head}, of the rates of errors, which start at 0: {first}{tail}."


def _contracted(tensor: FloatArray, rates: FloatArray, free: int) -> FloatArray:
    """Return the tensor with all but ``free`` of its indices summed against the rates (b, q)."""
    result = np.broadcast_to(tensor, (len(rates), *tensor.shape))
    while result.ndim - 1 > free:
        result = np.einsum("b...q,bq->b...", result, rates)
    return np.asarray(result)
