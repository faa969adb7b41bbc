"""What an item can add to the two sides of a ratio."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_number, refuse_option
from karat.exceptions import DataError

__all__ = ["check_kinds"]

Pair = tuple[float, float]


def check_kinds(
    top: FloatArray, bottom: FloatArray, success: Any, failure: Any
) -> tuple[Pair, Pair]:
    """Check ``success=`` and ``failure=``, and that every item is one of them, or nothing."""
    ends = _pair(success, "success"), _pair(failure, "failure")
    if min(ends[0]) <= 0 or ends[1][0] != 0 or ends[1][1] <= 0:
        refuse_option(
            (success, failure), "success, failure", "positive numbers, and 0 over a positive number"
        )
    _check_kinds(top, bottom, *ends)
    return ends


def _pair(value: Any, name: str) -> tuple[float, float]:
    if not isinstance(value, list | tuple | np.ndarray) or len(value) != 2:
        refuse_option(value, name, "two numbers: what it adds to numerator and denominator")
    return check_number(value[0], name), check_number(value[1], name)


def _check_kinds(
    top: FloatArray, bottom: FloatArray, success: tuple[float, float], failure: tuple[float, float]
) -> None:
    """Refuse items that are neither a success nor a failure nor nothing."""
    kinds = np.array([success, failure, (0.0, 0.0)])
    seen = np.stack([top, bottom], axis=1)
    strange = np.flatnonzero(~(seen[:, None] == kinds).all(axis=2).any(axis=1))
    if len(strange):
        row = int(strange[0])
        raise DataError(
            f"row {row} adds ({top[row]:g}, {bottom[row]:g}) to numerator and denominator; "
            f"expected {success} for a success, {failure} for a failure, or (0, 0). Pass success= "
            "and failure= as the ratio counts them"
        )
