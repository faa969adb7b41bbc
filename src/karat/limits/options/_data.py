"""Checks of counts, ranges and bounded values."""

from typing import Any

import numpy as np

from karat._typing import Column, FloatArray
from karat._validate import check_number, check_scores, refuse_option
from karat.exceptions import DataError

__all__ = ["bounded_values", "check_range", "check_trials"]


def check_trials(successes: Any, n: Any) -> tuple[float, float]:
    """Check a count of successes among n trials; neither has to be a whole number."""
    trials = check_number(n, "n", at_least=0.0)
    count = check_number(successes, "successes", at_least=0.0)
    if count > trials:
        raise DataError(
            f"successes is {successes!r} and n is {n!r}; expected at most n successes. Pass the "
            "number of successes first, then the number of trials"
        )
    return count, trials


def check_range(low: Any, high: Any) -> tuple[float, float]:
    """Check the range that values are known to lie in."""
    least, most = check_number(low, "low"), check_number(high, "high")
    if least >= most:
        refuse_option(low, "low", f"a number below high={most:g}: the range of what items can be")
    return least, most


def bounded_values(values: Column, name: str, low: float, high: float) -> FloatArray:
    """Check values that must lie in a range."""
    x = check_scores(values, name)
    outside = np.flatnonzero((x < low) | (x > high))
    if len(outside):
        raise DataError(
            f"{name} row {outside[0]} is {x[outside[0]]:g}; expected numbers between low={low:g} "
            f"and high={high:g}. Pass the range that no item can leave, not that of the sample"
        )
    return x
