"""Violations that are quadratic in the gaps between groups."""

from functools import cached_property

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit.families._fair_family import FairFamily
from karat.elicit.families._family import NAME
from karat.elicit.spaces import JointRates
from karat.metrics import FairQuadraticMetric, GroupMetric

__all__ = ["SquaredGaps"]


class SquaredGaps(FairFamily):
    """``v = ½ Σ_{u<v} dᵀB^{uv}d``, ``d = r^u − r^v``, with B positive semi-definite.

    Hiranandani 2021, Definition 6.4. Parameters are a square root F of each ``B = FFᵀ``, or its
    diagonal.
    """

    def __init__(self, space: JointRates, *, diagonal: bool = False, **options: object) -> None:
        self.diagonal = diagonal
        super().__init__(space, **options)  # type: ignore[arg-type]

    @property
    def per_pair(self) -> int:  # type: ignore[override]
        return self.space.q if self.diagonal else self.space.q**2

    @property
    def signed_violation(self) -> bool:
        return not self.diagonal

    @property
    def violation_names(self) -> tuple[str, ...]:
        names = self.space.space.names
        rows, columns = self._triangle
        return tuple(f"{names[i]} × {names[j]}" for i, j in zip(rows, columns, strict=True))

    @cached_property
    def _triangle(self) -> tuple[IntArray, IntArray]:
        q = self.space.q
        return (np.arange(q), np.arange(q)) if self.diagonal else np.triu_indices(q)

    def features(self, gaps: FloatArray) -> FloatArray:
        outer = 0.5 * gaps[..., :, None] * gaps[..., None, :]
        return outer.reshape(*gaps.shape[:-1], -1)

    def violation_of(self, parameters: FloatArray) -> FloatArray:
        q = self.space.q
        if self.diagonal:
            whole = parameters[..., :, None] ** 2 * np.eye(q)
        else:
            root = parameters.reshape(*parameters.shape[:-1], q, q)
            whole = root @ root.swapaxes(-1, -2)
        return np.asarray(whole.reshape(*parameters.shape[:-1], q * q))

    def _condensed(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the upper triangles of B, or their diagonals."""
        if self.diagonal:
            weights = parameters**2
            return weights, 0.5 * np.linalg.norm(weights, axis=2).sum(axis=1)
        whole = self.violation_of(parameters)
        rows, columns = self._triangle
        squares = np.einsum("npf,npf->np", whole, whole)
        norm = 0.5 * np.sqrt(squares).sum(axis=1)
        return np.take(whole, rows * self.space.q + columns, axis=2), norm

    def _condensed_features(self, gaps: FloatArray) -> FloatArray:
        rows, columns = self._triangle
        half = np.where(rows == columns, 0.5, 1.0)  # B has what is off its diagonal twice
        return np.asarray(half * gaps[..., rows] * gaps[..., columns])

    def parameters_of_violation(self, violation: FloatArray) -> FloatArray:
        q = self.space.q
        whole = violation.reshape(*violation.shape[:-1], q, q)
        if self.diagonal:
            return np.asarray(np.sqrt(np.maximum(np.einsum("...ii->...i", whole), 0.0)))
        values, vectors = np.linalg.eigh((whole + whole.swapaxes(-1, -2)) / 2)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
        return np.asarray(root.reshape(violation.shape))

    def nearest_violation(self, violation: FloatArray) -> FloatArray:
        if self.diagonal:
            return super().nearest_violation(violation)
        q = self.space.q
        whole = violation.reshape(*violation.shape[:-1], q, q)
        values, vectors = np.linalg.eigh((whole + whole.swapaxes(-1, -2)) / 2)
        kept = (vectors * np.maximum(values, 0.0)[..., None, :]) @ vectors.swapaxes(-1, -2)
        return np.asarray(kept.reshape(violation.shape))

    def _norm(self, violation: FloatArray) -> FloatArray:
        return np.asarray(0.5 * np.linalg.norm(violation, axis=2).sum(axis=1))

    def _reported(self, violation: FloatArray) -> FloatArray:
        q = self.space.q
        rows, columns = self._triangle
        return np.asarray(violation.reshape(*violation.shape[:-1], q, q)[..., rows, columns])

    def fair_metric(self, cost: FloatArray, violation: FloatArray, tradeoff: float) -> GroupMetric:
        q = self.space.q
        return FairQuadraticMetric(cost, violation.reshape(-1, q, q), tradeoff, name=NAME)

    def points_per_gap(self, violation: FloatArray) -> tuple[FloatArray, str]:
        # ½ dᵀBd with every gap 0.1, in points of 0.01
        return (
            0.5 * 0.1**2 * violation.sum(axis=(1, 2)) / 0.01,
            "a gap of ten points of error rate between groups",
        )
