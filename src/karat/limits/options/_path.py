"""Limits at every look as a result that holds its estimates."""

import warnings

import numpy as np

from karat._callers import caller_level
from karat._typing import FloatArray
from karat.exceptions import KaratWarning
from karat.limits.kernels import holding
from karat.limits.result import AnytimeLimits

__all__ = ["path_result"]

_ROUNDING = 1e-9  # of the whole range of values


def path_result(
    of: str,
    estimates: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    span: tuple[float, float],
    *,
    confidence: float,
    n_total: int | None = None,
) -> AnytimeLimits:
    """Return limits that hold their estimates, with a warning where they had to be widened."""
    lowers, uppers = holding(estimates, *ends)
    apart = np.maximum(ends[0] - lowers, uppers - ends[1])
    if (far := np.flatnonzero(apart > _ROUNDING * (span[1] - span[0]))).size:
        at = int(far[0])
        warnings.warn(
            f"the {of} of the first {at + 1:,} rows, {estimates[at]:.4g}, lies outside of the "
            f"limits that earlier rows gave, {ends[0][at]:.4g} to {ends[1][at]:.4g}. Rows in "
            "random order seldom do so, except at a low confidence: these may be sorted, or have "
            "changed over time, and then no limits hold. The limits were widened; pass the rows in "
            "random order",
            KaratWarning,
            stacklevel=caller_level(),
        )
    return AnytimeLimits(
        of=of,
        estimates=estimates,
        lowers=lowers,
        uppers=uppers,
        confidence=confidence,
        n_total=n_total,
    )
