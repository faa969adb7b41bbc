"""Metrics that are a power mean of the recalls."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from karat._frozen import frozen_array
from karat._typing import Column, FloatArray
from karat._validate import check_finite_matrix, check_flag, check_number
from karat.exceptions import MetricError
from karat.metrics.base import Form, Metric, warn_undefined
from karat.metrics.families import power_mean, power_mean_slopes
from karat.metrics.wording import class_names, describe_power_mean

__all__ = ["PowerMeanMetric"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class PowerMeanMetric(Metric):
    """A weighted power mean of the recalls.

    ``φ(C) = (Σ_i a_i r_i^ρ)^(1/ρ)`` with ``r_i = C[i, i] / Σ_j C[i, j]``, the share of class i that
    is found. ρ = 1 is the weighted mean, ρ = 0 the geometric mean ``Π_i r_i^a_i`` (with equal
    weights the G-mean), ρ = −1 the harmonic mean; the lower ρ, the more a class counts that is
    found seldom, and the limit of ρ → −∞ is the class that is found least. The metric grows with
    every recall that has a weight, and is concave for ρ ≤ 1.

    For ρ ≤ 0 the value is 0 where a class with a weight is never found. A class that does not
    occur is left out, with a warning.

    Parameters
    ----------
    weights : array (k,)
        What each class weighs, at least 0; they are scaled to sum to 1.
    power : float
        ρ, a finite number.
    decreasing : bool, default False
        Whether less is better: the value is then minus the mean.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = PowerMeanMetric([1, 1], -1)  # harmonic mean of both recalls
    >>> round(metric([[0.4, 0.1], [0.3, 0.2]]), 6)
    0.533333
    >>> metric.weights
    array([0.5, 0.5])
    """

    weights: FloatArray
    power: float
    decreasing: bool
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "power-mean"

    def __init__(
        self,
        weights: Column,
        power: float,
        *,
        decreasing: bool = False,
        name: str | None = None,
    ) -> None:
        object.__setattr__(self, "weights", _shares(weights))
        object.__setattr__(self, "power", check_number(power, "power"))
        object.__setattr__(self, "decreasing", check_flag(decreasing, "decreasing"))
        object.__setattr__(self, "name", None if name is None else str(name))

    @property
    def form(self) -> Form:
        """What a solver may rely on: linear for ρ = 1, concave below, and neither beyond.

        Recalls are linear where P(Y) is fixed. Minus the mean is concave where the mean is convex.
        """
        if self.power == 1.0:
            return "linear"
        return "concave" if (self.power < 1.0) != self.decreasing else "smooth"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or "power mean of recalls"

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return len(self.weights)

    @property
    def _sign(self) -> float:
        return -1.0 if self.decreasing else 1.0

    def _recalls(self, confusions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the recalls (b, k) and what each weighs, 0 where the class does not occur."""
        rows = confusions.sum(axis=2)
        right = np.maximum(np.diagonal(confusions, axis1=1, axis2=2), 0.0)  # rounding below 0
        weights = np.where(rows > 0, self.weights, 0.0)
        absent = ~(rows > 0).all(axis=1)
        weights[absent] = _over(weights[absent], weights[absent].sum(axis=1, keepdims=True))
        return np.where(rows > 0, _over(right, rows), 1.0), weights

    def _values(self, confusions: FloatArray) -> FloatArray:
        recalls, weights = self._recalls(confusions)
        rows = confusions.sum(axis=2)
        lacking = ((rows == 0) & (self.weights > 0)).any(axis=1)
        none = (weights == 0).all(axis=1)
        for where, convention in (
            (lacking & ~none, "classes that do not occur are left out"),
            (lacking & none, "it is set to 0 there"),
        ):
            if where.any():
                warn_undefined(self.title, where, convention)
        means = self._sign * power_mean(recalls, weights, self.power)
        return np.where(np.isnan(rows).any(axis=1), np.nan, means)  # NaN for an empty group

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        recalls, weights = self._recalls(confusions)
        rows = confusions.sum(axis=2)
        slopes = self._sign * _over(power_mean_slopes(recalls, weights, self.power), rows)
        # ∂r_i/∂C_ij = (1(i=j) − r_i) / Σ_l C_il
        with np.errstate(invalid="ignore"):  # an infinite slope
            inside = slopes[:, :, None] * (np.eye(self.n_classes) - recalls[:, :, None])
        return np.asarray(np.where(rows[:, :, None] > 0, inside, 0.0))

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what each class weighs, and how far a class that is found seldom counts."""
        names = class_names(classes, self.n_classes)
        return describe_power_mean(
            self.title, self.weights, self.power, names, decreasing=self.decreasing
        )


def _shares(weights: Column) -> FloatArray:
    """Check weights of at least 0, and scale them to sum to 1."""
    given = check_finite_matrix(weights, "weights")
    if given.ndim != 1 or len(given) < 2:
        raise MetricError(f"weights has shape {given.shape}; expected one weight per class")
    if (given < 0).any():
        raise MetricError(
            f"weights holds {given.min():g}; expected weights of at least 0 (decreasing=True makes "
            "a metric of which less is better)"
        )
    if not given.any():
        raise MetricError("all weights are 0; expected one above 0 at least")
    scaled = given / given.max()  # the sum of very great weights would overflow
    total = float(scaled.sum())
    # Weights that sum to 1 stay as they are, so that a saved metric is read back to the last digit.
    kept = abs(float(given.sum()) - 1.0) <= 1e-12
    return np.asarray(frozen_array(given if kept else scaled / total))


def _over(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return a ratio, 0 where the denominator is."""
    return np.asarray(np.divide(above, below, out=np.zeros(above.shape), where=below != 0))
