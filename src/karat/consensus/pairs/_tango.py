"""Limits of the difference of two shares that one sample gives."""

import numpy as np

from karat._typing import FloatArray
from karat.limits.kernels import normal_quantile

__all__ = ["tango_limits"]

_HALVINGS = 50


def tango_limits(
    plus: FloatArray, minus: FloatArray, n: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return limits of p₊ − p₋ by the score test, on arrays of counts that need not be whole.

    T. Tango, Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design, Statistics in Medicine 17 (1998). Without items the limits are -1 and 1.
    """
    high = _upper(plus, minus, n, delta)
    low = -_upper(minus, plus, n, delta)
    return np.where(n > 0, low, -1.0), np.where(n > 0, high, 1.0)


def _upper(plus: FloatArray, minus: FloatArray, n: FloatArray, delta: float) -> FloatArray:
    """Return the greatest difference that the score test does not reject."""
    z = normal_quantile(delta)
    size = np.maximum(n, 1e-12)
    low, high = (plus - minus) / size, np.ones(np.shape(n))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inner = (plus + minus) * (1 - middle) - 2 * middle * (size - plus)
        root = np.sqrt(np.maximum(inner**2 + 8 * size * minus * middle * (1 - middle), 0.0))
        share = np.clip((inner + root) / (4 * size), np.maximum(0.0, -middle), (1 - middle) / 2)
        variance = size * np.maximum(2 * share + middle - middle**2, 1e-15)
        kept = size * middle - (plus - minus) <= z * np.sqrt(variance)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return np.asarray(low)
