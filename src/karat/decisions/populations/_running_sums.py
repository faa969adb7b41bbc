"""Cumulated masses whose rounding does not grow with the number of items."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["running_sums", "totals"]

_BLOCK = 256


def running_sums(masses: FloatArray) -> FloatArray:
    """Return the sums (n+1, rows) of the first 0, 1, … n rows of masses (n, rows) of at least 0.

    Ten million times the same mass, added one by one, is off by 1e-10: every addition is rounded
    the same way. So blocks are cumulated apart, and their totals in the same manner: three levels
    of 256 additions each for ten million items. No sum is less than the one before.
    """
    sums = np.zeros((len(masses) + 1, masses.shape[1]))
    for column, mass in zip(sums.T, masses.T, strict=True):
        column[1:] = _cumulated(np.ascontiguousarray(mass))
        np.maximum.accumulate(column, out=column)  # blocks may meet a digit too low
    return sums


def _cumulated(mass: FloatArray) -> FloatArray:
    n_blocks = len(mass) // _BLOCK
    if n_blocks < 2:
        return np.asarray(mass.cumsum())
    sums = np.empty_like(mass)
    whole = n_blocks * _BLOCK
    inside = sums[:whole].reshape(n_blocks, _BLOCK)
    np.cumsum(mass[:whole].reshape(n_blocks, _BLOCK), axis=1, out=inside)
    before = _cumulated(inside[:, -1].copy())
    inside[1:] += before[:-1, None]
    sums[whole:] = before[-1] + mass[whole:].cumsum()
    return sums


def totals(masses: FloatArray) -> FloatArray:
    """Return the sum of each column of masses (n, rows), rounded as little as sums of pairs are."""
    # NumPy adds in pairs along one dimension, and row by row along the first of two.
    return np.array([column.sum() for column in masses.T])
