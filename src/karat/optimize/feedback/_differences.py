"""Slopes of a metric from its values at probes."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["no_difference", "slopes_of"]

# Relative to the metric; a smaller rise is rounding of sums over many rows.
_ROUNDING = 1e-12


def slopes_of(values: FloatArray, value: float, epsilon: float) -> FloatArray:
    """Return slopes from a value to others ε away, 0 where the rise may be rounding."""
    rise = values - value
    return np.asarray(np.where(np.abs(rise) > _ROUNDING * abs(value), rise / epsilon, 0.0))


def no_difference(n_probes: int, epsilon: float) -> str:
    """Return the error message where the metric has the same value at all probes."""
    return (
        f"the metric has the same value at all {n_probes} probes, {epsilon:g} away from the "
        "current classifier, so there is no slope to follow; pass a larger epsilon if the metric "
        "is rounded, or check that it depends on the shares"
    )
