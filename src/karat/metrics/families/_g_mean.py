"""Geometric mean of the recalls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat.metrics.base import Form, Metric
from karat.metrics.families._recalls import recalls

__all__ = ["GMean"]


@dataclass(frozen=True, slots=True, eq=False)
class GMean(Metric):
    """Geometric mean of the recalls, over the classes that occur.

    ``(Π_i C[i, i] / Σ_j C[i, j])^(1/k)`` (Hiranandani 2021, eq. 7.23).
    """

    kind: ClassVar[str] = "g-mean"

    @property
    def form(self) -> Form:
        """What a solver may rely on: a geometric mean is concave."""
        return "concave"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "G-mean"

    def _values(self, confusions: FloatArray) -> FloatArray:
        found = recalls(confusions, self.title)
        occurring = np.sum(~np.isnan(found), axis=1)
        mean = np.nanprod(found, axis=1) ** (1.0 / np.maximum(occurring, 1))
        return np.where(occurring > 0, mean, np.nan)  # an empty group has no class at all

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        rows = confusions.sum(axis=2)
        right = np.diagonal(confusions, axis1=1, axis2=2)
        n = np.maximum(np.sum(rows > 0, axis=1), 1)  # classes that do not occur are left out
        with np.errstate(divide="ignore", invalid="ignore"):
            recall = np.where(rows > 0, right / rows, 1.0)
            value = np.prod(recall, axis=1) ** (1.0 / n)
            slope = np.eye(confusions.shape[-1]) / right[:, :, None] - 1.0 / rows[:, :, None]
            slope = np.where(rows[:, :, None] > 0, slope, 0.0)
            return np.asarray((value / n)[:, None, None] * slope)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what the G-mean rewards."""
        return (
            "G-mean: the geometric mean of the share of each class that is found; it is 0 as soon "
            "as one class is never found."
        )
