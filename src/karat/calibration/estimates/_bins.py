"""The calibration of one label by itself, in bins of equally many rows."""

import numpy as np

from karat._typing import AnyArray, FloatArray

__all__ = ["binned", "binned_counts"]


def binned(
    y: FloatArray, h: FloatArray, bins: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return mean probability, frequency and share of each bin, and the debiased squared error.

    The squared difference of a bin of m rows is too large by the variance of its frequency, which
    ``o(1 − o)/(m − 1)`` estimates (A. Kumar, P. Liang, T. Ma, Verified uncertainty calibration,
    NeurIPS 2019).
    """
    edges = np.unique(np.quantile(h, np.linspace(0, 1, bins + 1)))
    return _of_bins(h, y, np.ones(len(y)), edges)


def binned_counts(
    h: FloatArray, ones: AnyArray, zeros: AnyArray, bins: int
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return the same as `binned` from the rows of either class at ascending probabilities."""
    rows = np.asarray(ones + zeros, dtype=np.float64)
    upto = np.cumsum(rows)
    # The quantiles of the rows: between two of them where their place is no whole number.
    place = np.linspace(0, 1, bins + 1) * (upto[-1] - 1)
    below, above = (h[np.searchsorted(upto, at, side="right")]
                    for at in (np.floor(place), np.ceil(place)))  # fmt: skip
    edges = np.unique(below + (above - below) * (place - np.floor(place)))
    return _of_bins(h, np.asarray(ones, dtype=np.float64), rows, edges)


def _of_bins(
    h: FloatArray, ones: FloatArray, rows: FloatArray, edges: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return mean probability, frequency, share and debiased error of bins between edges."""
    place = np.clip(np.searchsorted(edges, h, side="right") - 1, 0, max(len(edges) - 2, 0))
    size = np.bincount(place, rows)
    kept = size > 0
    size = size[kept]
    mean = np.bincount(place, h * rows)[kept] / size
    rate = np.bincount(place, ones)[kept] / size
    share = size / size.sum()
    chance = np.divide(rate * (1 - rate), size - 1, out=np.zeros_like(rate), where=size > 1)
    return mean, rate, share, float(share @ ((rate - mean) ** 2 - chance))
