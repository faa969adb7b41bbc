"""Rates of each kind of error: the off-diagonal entries of a confusion, given the truth.

Metrics of error rates list the q = k² − k kinds of error row by row (truth, then prediction). The
functions here turn confusions into such rates, rates back into matrices, and derivatives in the
rates into derivatives in the confusion.
"""

from math import isqrt

import numpy as np

from karat._sentences import Argument, Expected
from karat._typing import FloatArray, IntArray
from karat.exceptions import MetricError


def classes_for(q: int, name: str) -> int:
    """Return k such that k classes have q kinds of error, ``q = k² − k``."""
    k = (1 + isqrt(1 + 4 * q)) // 2
    if q < 2 or k * k - k != q:
        raise MetricError(
            Argument.of(name),
            f" has {q} entries; expected ",
            Expected(
                "one for each kind of error, k² − k for k classes (2, 6, 12, ...), row "
                "by row: truth, then prediction"
            ),
        )
    return k


def off_diagonal(k: int) -> tuple[IntArray, IntArray]:
    """Return rows and columns of the off-diagonal entries, row by row."""
    rows, columns = np.nonzero(~np.eye(k, dtype=bool))
    return rows, columns


def with_zero_diagonal(errors: FloatArray) -> FloatArray:
    """Return errors (..., q), row by row, as matrices (..., k, k) with a diagonal of 0."""
    k = classes_for(errors.shape[-1], "errors")
    rows, columns = off_diagonal(k)
    full = np.zeros((*errors.shape[:-1], k, k))
    full[..., rows, columns] = errors
    return full


def error_rates(confusions: FloatArray) -> FloatArray:
    """Return ``P(Ŷ=j | Y=i)``, i ≠ j, row by row, of confusions (..., k, k); NaN without i."""
    k = confusions.shape[-1]
    truth = confusions.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = confusions / np.where(truth > 0, truth, np.nan)
    rows, columns = off_diagonal(k)
    return np.asarray(rates[..., rows, columns])


def pulled_back(slopes: FloatArray, confusions: FloatArray) -> FloatArray:
    """Return gradients in the confusions (..., k, k) of a function of the error rates.

    With ``r_ij = C_ij / S_i``, ``∂r_ij/∂C_il = (1(j=l) − r_ij) / S_i``.
    """
    full = with_zero_diagonal(slopes)
    truth = confusions.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = confusions / truth
        return np.asarray((full - (full * rates).sum(axis=-1, keepdims=True)) / truth)
