"""Metrics that trade performance against squared differences between groups."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from karat._typing import Column, FloatArray
from karat._validate import check_finite_matrix
from karat.exceptions import MetricError
from karat.metrics.base import Form, GroupMetric
from karat.metrics.coefficients import groups_for, read_cost, rescaled
from karat.metrics.wording import class_names, error_names

__all__ = ["FairQuadraticMetric"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class FairQuadraticMetric(GroupMetric):
    """Minus the cost of errors and of squared differences between groups.

    ``φ = −(1−λ)·⟨cost, r⟩ − λ·½·Σ_{u<v} (rᵘ−rᵛ)ᵀ·violation[uv]·(rᵘ−rᵛ)``, where r
    are the error rates ``P(Ŷ=j | Y=i)``, i ≠ j, row by row: of all items, and of each group.
    Hiranandani (2021), Definition 6.4, is a cost; here greater is better, so it has a minus.

    Parameters
    ----------
    cost : array (q,)
        Costs of the errors, at least 0; ``q = k² − k`` for k classes.
    violation : array (pairs, q, q)
        Positive semidefinite matrices; pairs u < v in lexicographic order.
    tradeoff : float
        λ, between 0 (performance alone) and 1 (equality alone).
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = FairQuadraticMetric([1, 1], [[[2, 0], [0, 2]]], 0.5)
    >>> two_groups = [[[0.2, 0.05], [0.05, 0.2]], [[0.15, 0.1], [0.05, 0.2]]]
    >>> round(metric(two_groups), 6)
    -0.27
    """

    cost: FloatArray
    violation: FloatArray
    tradeoff: float
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "fair-quadratic"

    def __init__(
        self, cost: Column, violation: Any, tradeoff: float, name: str | None = None
    ) -> None:
        costs = read_cost(cost)
        table = check_finite_matrix(violation, "violation")
        q = len(costs)
        if table.ndim != 3 or table.shape[1:] != (q, q):
            raise MetricError(
                f"violation has shape {table.shape}; expected (pairs of groups, {q}, {q})"
            )
        groups_for(len(table))
        if not np.allclose(table, np.swapaxes(table, 1, 2), rtol=1e-9, atol=1e-12):
            raise MetricError("violation is not symmetric; pass (B + B.T) / 2 for each pair")
        least = float(np.linalg.eigvalsh(table).min())
        if least < -1e-9 * max(1.0, float(np.abs(table).max())):
            raise MetricError(
                f"violation has the eigenvalue {least:.4g}; expected positive semidefinite "
                "matrices, so that no difference between groups is rewarded"
            )
        self._fill(costs, table, tradeoff, name)

    @property
    def form(self) -> Form:
        """What a solver may rely on: squared gaps between groups cost."""
        return "concave"

    def _violations(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        return np.asarray(0.5 * np.einsum("bpi,pij,bpj->b", gaps, self.violation, gaps))

    def _violation_slopes(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        return np.asarray(np.einsum("pij,bpj->bpi", self.violation, gaps))

    def normalized(self) -> "FairQuadraticMetric":
        """Return the metric with ``‖cost‖ = 1`` and ``½·Σ‖violation[uv]‖_F = 1``."""
        a = float(np.linalg.norm(self.cost))
        b = 0.5 * float(np.linalg.norm(self.violation, axis=(1, 2)).sum())
        parts = rescaled(self.cost, self.violation, self.tradeoff, a, b)
        return FairQuadraticMetric(*parts, name=self.name)

    def describe(
        self, classes: Sequence[Any] | None = None, groups: Sequence[Any] | None = None
    ) -> str:
        """Say in words what errors and differences between groups cost.

        ``classes`` and ``groups`` name the classes and the groups, in the order of the confusions;
        by default they are numbered from 0.
        """
        names = error_names(class_names(classes, self.n_classes))
        total = (1 - self.tradeoff) * self.cost
        bend = 0.5 * self.tradeoff * np.diagonal(self.violation, axis1=1, axis2=2)
        worst = int(np.argmax(total))
        head = f"{self.title[:1].upper()}{self.title[1:]} on {self.n_groups} groups"
        return (
            f"{head}: a point of {names[worst]} costs {total[worst]:.4g}; the square of a "
            f"difference between two groups costs up to {bend.max():.4g}, "
            f"{self._worst(bend, names, groups)}."
        )
