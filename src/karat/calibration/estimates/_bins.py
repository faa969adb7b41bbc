"""The calibration of one label by itself, in bins of equally many rows."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["binned"]


def binned(
    y: FloatArray, h: FloatArray, bins: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return mean probability, frequency and share of each bin, and the debiased squared error.

    The squared difference of a bin of m rows is too large by the variance of its frequency, which
    ``o(1 − o)/(m − 1)`` estimates (A. Kumar, P. Liang, T. Ma, Verified uncertainty calibration,
    NeurIPS 2019).
    """
    edges = np.unique(np.quantile(h, np.linspace(0, 1, bins + 1)))
    place = np.clip(np.searchsorted(edges, h, side="right") - 1, 0, max(len(edges) - 2, 0))
    size = np.bincount(place).astype(float)
    kept = size > 0
    size = size[kept]
    mean = np.bincount(place, h)[kept] / size
    rate = np.bincount(place, y)[kept] / size
    share = size / len(y)
    chance = np.divide(rate * (1 - rate), size - 1, out=np.zeros_like(rate), where=size > 1)
    return mean, rate, share, float(share @ ((rate - mean) ** 2 - chance))
