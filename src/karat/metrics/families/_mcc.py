"""Matthews' correlation coefficient."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat.metrics.base import Metric, warn_undefined

__all__ = ["MCC"]


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
        undefined = np.minimum(p_spread, t_spread) <= 0
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
    """Return numerator, spread of the predictions and spread of the truth.

    Written as sums of products of unlike classes, which lose no digits where one class is rare:
    s² − p·p is Σ_i p_i (s − p_i), and the numerator is Σ_{i≠j} (C_ii C_jj − C_ij C_ji) plus the
    other products of a diagonal entry and one that shares neither its row nor its column.
    """
    t, p = confusions.sum(axis=2), confusions.sum(axis=1)
    right = np.diagonal(confusions, axis1=1, axis2=2)
    wrong = confusions - right[:, :, None] * np.eye(confusions.shape[-1])
    missed, called = wrong.sum(axis=2), wrong.sum(axis=1)
    # s·Σ C_ii − Σ t_i p_i, with t_i p_i = (C_ii + missed_i)(C_ii + called_i) and
    # s − C_ii − missed_i − called_i = the mass outside row and column i.
    outside = _others(right) + wrong.sum(axis=(1, 2))[:, None] - missed - called
    top = np.sum(right * outside, axis=1) - np.sum(missed * called, axis=1)
    return top, np.sum(p * _others(p), axis=1), np.sum(t * _others(t), axis=1)


def _others(values: FloatArray) -> FloatArray:
    """Return, for each class, the sum over the other classes, without a subtraction."""
    k = values.shape[-1]
    before = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)[:, : k - 1]], 1)
    after = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(before + np.concatenate([after[:, 1:], np.zeros((len(values), 1))], 1))
