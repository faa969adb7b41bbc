"""Violations that are linear in the gaps between groups."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families._fair_family import FairFamily
from karat.elicit.families._family import NAME
from karat.metrics import FairMetric, GroupMetric

__all__ = ["LinearGaps"]


class LinearGaps(FairFamily):
    """``v = Σ_{u<v} ⟨b^{uv}, |r^u − r^v|⟩`` with ``Σ ‖b^{uv}‖₂ = 1`` (Hiranandani 2021, 5.1)."""

    @property
    def per_pair(self) -> int:  # type: ignore[override]
        return self.space.q

    @property
    def signed_violation(self) -> bool:
        return False

    @property
    def violation_names(self) -> tuple[str, ...]:
        return self.space.space.names

    def features(self, gaps: FloatArray) -> FloatArray:
        return np.abs(gaps)

    def violation_of(self, parameters: FloatArray) -> FloatArray:
        return parameters

    def parameters_of_violation(self, violation: FloatArray) -> FloatArray:
        return np.maximum(violation, 0.0)

    def _norm(self, violation: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(violation, axis=2).sum(axis=1))

    def fair_metric(self, cost: FloatArray, violation: FloatArray, tradeoff: float) -> GroupMetric:
        return FairMetric(cost, violation, tradeoff, name=NAME)

    def points_per_gap(self, violation: FloatArray) -> tuple[FloatArray, str]:
        return (
            violation.sum(axis=(1, 2)),
            "one point of error-rate gap between groups",
        )
