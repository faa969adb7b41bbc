"""Checks of what a metric of several groups is made of, and its scale."""

from math import isqrt
from typing import Any

import numpy as np

from karat._frozen import frozen_array
from karat._typing import FloatArray
from karat._validate import check_finite_matrix
from karat.exceptions import MetricError
from karat.metrics.rates import classes_for

__all__ = ["groups_for", "read_cost", "rescaled"]


def groups_for(pairs: int) -> int:
    """Return the number of groups that have so many pairs."""
    m = (1 + isqrt(1 + 8 * pairs)) // 2
    if pairs < 1 or m * (m - 1) // 2 != pairs:
        raise MetricError(
            f"violation has {pairs} rows; expected one for each pair of groups, m(m−1)/2 for m "
            "groups (1, 3, 6, ...), in the order (0,1), (0,2), ..., (1,2), ..."
        )
    return m


def read_cost(cost: Any) -> FloatArray:
    """Check the costs of the errors: one for each kind, none negative."""
    found = check_finite_matrix(cost, "cost")
    if found.ndim != 1:
        raise MetricError(f"cost has shape {found.shape}; expected (q,), one for each error")
    classes_for(len(found), "cost")
    if (found < 0).any():
        raise MetricError(f"cost holds {found.min():g}; expected costs of at least 0")
    return np.asarray(frozen_array(found))


def rescaled(
    cost: FloatArray, violation: FloatArray, tradeoff: float, a: float, b: float
) -> tuple[FloatArray, FloatArray, float]:
    """Return cost over a, violation over b, and the trade-off that keeps the metric up to scale."""
    left, right = (1 - tradeoff) * a, tradeoff * b
    share = right / (left + right) if left + right > 0 else tradeoff
    return (
        cost / a if a > 0 else cost,
        violation / b if b > 0 else violation,
        share,
    )
