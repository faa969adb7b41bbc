"""The curvature of a quadratic metric from ratios of the entries of slopes, as published."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["curvature_of_ratios"]

_STEEPEST = 1e6  # takes the place of a ratio without limit, as before anything is known


def curvature_of_ratios(slopes: list[FloatArray], step: float) -> FloatArray:
    """Return B (n, q, q) in units in which the gradient d at the center has norm 1.

    ``slopes`` are those at the center, a step along each axis, and a step back along the first.
    With ``F_ij`` the ratio of entry i to the first at axis j (0 at the center, − back along the
    first), equation 6.18 of Hiranandani 2021 without its slips is

    ``B_ij = [F_ij (1 + F_j1) − F_ij F_j0 − F_i0 + F_ij F_j1 t] d_1 / step``,
    ``t = (F⁻_21 + F_21 − 2 F_20) / (F⁻_21 − F_21)``.
    """
    n, q = slopes[0].shape
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [np.clip(np.nan_to_num(f / f[:, :1]), -_STEEPEST, _STEEPEST) for f in slopes]
        center, first, back = ratios[0], ratios[1], ratios[-1]
        spread = back[:, 1] - first[:, 1]
        t = np.nan_to_num((back[:, 1] + first[:, 1] - 2 * center[:, 1]) / spread)
        t = np.clip(t, -_STEEPEST, _STEEPEST)
    bend = np.empty((n, q, q))
    for j in range(q):
        along = 1.0 + first[:, j] - center[:, j] + first[:, j] * t
        bend[:, :, j] = ratios[1 + j] * along[:, None] - center
    lower = np.tril(bend)  # j ≤ i, as in equation 6.16
    whole = lower + np.tril(bend, -1).swapaxes(1, 2)
    return np.asarray(whole * slopes[0][:, :1, None] / step)
