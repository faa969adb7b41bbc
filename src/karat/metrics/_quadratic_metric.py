"""Metrics that are quadratic in the rates of errors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat.exceptions import MetricError
from karat.metrics._polynomial_metric import PolynomialMetric
from karat.metrics.base import Form, Metric
from karat.metrics.coefficients import symmetric_tensor
from karat.metrics.rates import classes_for, error_rates, pulled_back

__all__ = ["QuadraticMetric"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class QuadraticMetric(Metric):
    """A quadratic function of the error rates.

    ``φ(r) = ⟨linear, r⟩ + ½·rᵀ·quadratic·r`` (Hiranandani 2021, Definition 6.3). The rates are
    ``r_ij = P(Ŷ=j | Y=i)`` for i ≠ j, row by row. Greater is better, so errors that cost have
    negative coefficients.

    Parameters
    ----------
    linear : array (q,)
        ``q = k² − k`` for k classes.
    quadratic : array (q, q)
        Symmetric.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = QuadraticMetric([-1, -2], [[-1, 0], [0, -1]])
    >>> round(metric([[0.4, 0.1], [0.1, 0.4]]), 6)
    -0.64
    """

    linear: FloatArray
    quadratic: FloatArray
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "quadratic"

    def __init__(self, linear: Column, quadratic: Frame, name: str | None = None) -> None:
        first = symmetric_tensor(linear, "linear")
        if first.ndim != 1:
            raise MetricError(f"linear has shape {first.shape}; expected (q,), one for each error")
        classes_for(len(first), "linear")
        second = symmetric_tensor(quadratic, "quadratic", len(first))
        if second.ndim != 2:
            raise MetricError(f"quadratic has shape {second.shape}; expected {(len(first),) * 2}")
        object.__setattr__(self, "linear", first)
        object.__setattr__(self, "quadratic", second)
        object.__setattr__(self, "name", None if name is None else str(name))

    @property
    def _polynomial(self) -> PolynomialMetric:
        return PolynomialMetric([self.linear, self.quadratic], name=self.title)

    @property
    def form(self) -> Form:
        """What a solver may rely on: concave if ``quadratic`` has no positive eigenvalue."""
        # Rounding of an eigenvalue is relative to the largest coefficient.
        steepest = float(np.linalg.eigvalsh(self.quadratic).max())
        size = max(1.0, float(np.abs(self.quadratic).max()))
        return "concave" if steepest <= 1e-9 * size else "smooth"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or "quadratic metric"

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return classes_for(len(self.linear), "linear")

    def _values(self, confusions: FloatArray) -> FloatArray:
        rates = error_rates(confusions)
        bend = np.einsum("bi,ij,bj->b", rates, self.quadratic, rates)
        return np.asarray(rates @ self.linear + 0.5 * bend)

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        slopes = self.linear + error_rates(confusions) @ self.quadratic
        return pulled_back(slopes, confusions)

    def normalized(self) -> "QuadraticMetric":
        """Return the positive multiple with ``‖linear‖² + ‖quadratic‖² = 1`` (Definition 6.3)."""
        size = float(np.sqrt(np.sum(self.linear**2) + np.sum(self.quadratic**2)))
        scale = 1.0 / size if size > 0 else 1.0
        return QuadraticMetric(self.linear * scale, self.quadratic * scale, name=self.name)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words the slope in each error rate at 0, and the size of the terms beyond it."""
        return self._polynomial.describe(classes)
