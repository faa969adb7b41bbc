"""Metrics that trade performance against absolute differences between groups."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import check_finite_matrix
from karat.exceptions import MetricError
from karat.metrics.base import Form, GroupMetric
from karat.metrics.coefficients import groups_for, read_cost, rescaled
from karat.metrics.wording import class_names, error_names

__all__ = ["FairMetric"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class FairMetric(GroupMetric):
    """Minus the cost of errors and of absolute differences between groups.

    ``φ = −(1−λ)·⟨cost, r⟩ − λ·Σ_{u<v} ⟨violation[uv], |rᵘ − rᵛ|⟩``, where r
    are the error rates ``P(Ŷ=j | Y=i)``, i ≠ j, row by row: of all items, and of each group.
    Hiranandani (2021), Definition 5.1, is a cost; here greater is better, so it has a minus.

    Parameters
    ----------
    cost : array (q,)
        Costs of the errors, at least 0; ``q = k² − k`` for k classes.
    violation : array (pairs, q)
        Costs of differences between groups, at least 0; pairs u < v in lexicographic order.
    tradeoff : float
        λ, between 0 (performance alone) and 1 (equality alone).
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = FairMetric([1, 1], [[0.5, 0.5]], 0.5)
    >>> two_groups = [[[0.2, 0.05], [0.05, 0.2]], [[0.15, 0.1], [0.05, 0.2]]]
    >>> round(metric(two_groups), 6)
    -0.3
    """

    cost: FloatArray
    violation: FloatArray
    tradeoff: float
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "fair"

    def __init__(
        self, cost: Column, violation: Frame, tradeoff: float, name: str | None = None
    ) -> None:
        costs = read_cost(cost)
        table = check_finite_matrix(violation, "violation")
        if table.ndim != 2 or table.shape[1] != len(costs):
            raise MetricError(
                f"violation has shape {table.shape}; expected (pairs of groups, {len(costs)})"
            )
        groups_for(len(table))
        if (table < 0).any():
            raise MetricError(f"violation holds {table.min():g}; expected costs of at least 0")
        self._fill(costs, table, tradeoff, name)

    @property
    def form(self) -> Form:
        """What a solver may rely on: absolute gaps between groups cost."""
        return "gaps"

    def _violations(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        sizes = np.sqrt(gaps**2 + rounded**2)  # |d|, with a slope at 0 if it is rounded
        return np.asarray(np.einsum("pq,bpq->b", self.violation, sizes))

    def _violation_slopes(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        if rounded > 0:
            return np.asarray(self.violation * gaps / np.sqrt(gaps**2 + rounded**2))
        return np.asarray(self.violation * np.sign(gaps))

    def normalized(self) -> "FairMetric":
        """Return the metric with ``‖cost‖ = 1`` and ``Σ‖violation[uv]‖ = 1`` (eq. 5.10)."""
        a = float(np.linalg.norm(self.cost))
        b = float(np.linalg.norm(self.violation, axis=1).sum())
        parts = rescaled(self.cost, self.violation, self.tradeoff, a, b)
        return FairMetric(*parts, name=self.name)

    def describe(
        self, classes: Sequence[Any] | None = None, groups: Sequence[Any] | None = None
    ) -> str:
        """Say in words what errors and differences between groups cost.

        ``classes`` and ``groups`` name the classes and the groups, in the order of the confusions;
        by default they are numbered from 0.
        """
        names = error_names(class_names(classes, self.n_classes))
        total = (1 - self.tradeoff) * self.cost
        gap = self.tradeoff * self.violation
        worst = int(np.argmax(total))
        head = f"{self.title[:1].upper()}{self.title[1:]} on {self.n_groups} groups"
        return (
            f"{head}: a point of {names[worst]} costs {total[worst]:.4g}; a point of difference "
            f"between two groups costs up to {gap.max():.4g}, {self._worst(gap, names, groups)}."
        )
