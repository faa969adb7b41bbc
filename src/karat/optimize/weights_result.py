"""What being right on each class is worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._columns import crossed
from karat._result import Result
from karat._typing import AnyArray, FloatArray

__all__ = ["ClassWeights"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClassWeights(Result):
    """What being right on each class is worth, as elicited (Hiranandani 2021, Figure 7.2a).

    Attributes
    ----------
    weights : array (L, k) or (L, k, k)
        Coefficients of the basis functions; with off-diagonal entries ``weights[l, i, j]`` is for
        (truth i, prediction j). Scaled so that the mean absolute weight is 1.
    classes : array (k,)
        The classes.
    basis : tuple of L str
        The basis functions.
    """

    weights: FloatArray
    classes: AnyArray
    basis: tuple[str, ...]

    def summary(self) -> str:
        """Return the answer in one sentence."""
        if self.weights.ndim == 3:
            return (
                f"weights of {len(self.classes)}×{len(self.classes)} confusions with "
                f"{len(self.basis)} basis functions"
            )
        first = self.weights[0]
        high, low = int(np.argmax(first)), int(np.argmin(first))
        return (
            f"with the basis function {self.basis[0]!r}, class {self.classes[high]} has the "
            f"greatest weight ({first[high]:.3g}) and class {self.classes[low]} the least "
            f"({first[low]:.3g})"
        )

    def _columns(self) -> dict[str, Any]:
        axes = {"basis": self.basis, "truth": self.classes, "prediction": self.classes}
        if self.weights.ndim == 2:
            axes = {"basis": self.basis, "class": self.classes}
        return crossed(axes, weight=self.weights)

    def _table(self) -> list[tuple[str, str]]:
        if self.weights.ndim == 3:
            return []
        return [
            (str(c), ", ".join(f"{w:.3g}" for w in column))
            for c, column in zip(self.classes.tolist(), self.weights.T, strict=True)
        ]
