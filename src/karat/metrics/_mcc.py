"""Matthews' correlation coefficient."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat.metrics._base import Metric, warn_undefined

__all__ = ["MCC", "mcc"]


@dataclass(frozen=True, slots=True, eq=False)
class MCC(Metric):
    """Correlation of truth and prediction (Gorodkin's form for more than two classes).

    With ``t`` the row sums, ``p`` the column sums and ``s`` the sum of all entries,
    ``φ = (s·Σ_i C[i, i] − t·p) / √((s² − p·p)(s² − t·t))``. Where one class takes all of the truth
    or all of the predictions the value is 0, with a warning.
    """

    kind: ClassVar[str] = "mcc"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "MCC"

    def _values(self, confusions: FloatArray) -> FloatArray:
        top, p_spread, t_spread = _parts(confusions)
        product = p_spread * t_spread
        # One class alone leaves a rounding error instead of 0.
        undefined = np.minimum(p_spread, t_spread) <= 1e-15
        if undefined.any():
            warn_undefined(self.title, undefined, "it is set to 0 there")
        return np.asarray(np.where(undefined, 0.0, top / np.sqrt(np.where(undefined, 1, product))))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        k = confusions.shape[-1]
        total = confusions.sum(axis=(1, 2))[:, None, None]
        right = np.trace(confusions, axis1=1, axis2=2)[:, None, None]
        t, p = confusions.sum(axis=2), confusions.sum(axis=1)
        top, p_spread, t_spread = (part[:, None, None] for part in _parts(confusions))
        d_top = np.eye(k) * total + right - p[:, :, None] - t[:, None, :]
        d_p_spread = 2 * total - 2 * p[:, None, :]
        d_t_spread = 2 * total - 2 * t[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = d_p_spread / p_spread + d_t_spread / t_spread
            return np.asarray((d_top - top * bend / 2) / np.sqrt(p_spread * t_spread))

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what MCC rewards."""
        return (
            "MCC: the correlation of truth and prediction; 1 is perfect, 0 is no better than "
            "guessing with the same shares."
        )


def _parts(confusions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return numerator, spread of the predictions and spread of the truth."""
    total = confusions.sum(axis=(1, 2))
    t, p = confusions.sum(axis=2), confusions.sum(axis=1)
    top = np.trace(confusions, axis1=1, axis2=2) * total - np.sum(t * p, axis=1)
    return top, total**2 - np.sum(p * p, axis=1), total**2 - np.sum(t * t, axis=1)


mcc = MCC()
"""Matthews' correlation coefficient, for any number of classes."""
