"""Rates of each kind of error: the off-diagonal entries of a confusion, given the truth.

Metrics of error rates list the q = k² − k kinds of error row by row (truth, then prediction). The
functions here turn confusions into such rates, rates back into matrices, and derivatives in the
rates into derivatives in the confusion.
"""

from karat.metrics.rates._off_diagonal import (
    classes_for,
    error_rates,
    off_diagonal,
    pulled_back,
    with_zero_diagonal,
)

__all__ = [
    "classes_for",
    "error_rates",
    "off_diagonal",
    "pulled_back",
    "with_zero_diagonal",
]
