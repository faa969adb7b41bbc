"""Balanced accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat.metrics.base import Form, Metric
from karat.metrics.families._recalls import recalls

__all__ = ["BalancedAccuracy"]


@dataclass(frozen=True, slots=True, eq=False)
class BalancedAccuracy(Metric):
    """Mean recall over the classes that occur: ``mean_i C[i, i] / Σ_j C[i, j]``."""

    kind: ClassVar[str] = "balanced-accuracy"

    @property
    def form(self) -> Form:
        """What a solver may rely on: recalls are linear where P(Y) is fixed."""
        return "linear"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "balanced accuracy"

    def _values(self, confusions: FloatArray) -> FloatArray:
        found = recalls(confusions, self.title)
        with np.errstate(invalid="ignore"):  # an empty group has no class at all: NaN
            return np.asarray(np.nansum(found, axis=1) / np.sum(~np.isnan(found), axis=1))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        k = confusions.shape[-1]
        rows = confusions.sum(axis=2)[:, :, None]
        right = np.diagonal(confusions, axis1=1, axis2=2)[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((np.eye(k) - right / rows) / rows / k)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what balanced accuracy rewards."""
        return (
            "Balanced accuracy: the share of each class that is found, averaged over the classes; "
            "a rare class counts as much as a common one."
        )
