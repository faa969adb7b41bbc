"""The share of each class that is found."""

import numpy as np

from karat._typing import FloatArray
from karat.metrics.base import warn_undefined

__all__ = ["recalls"]


def recalls(confusions: FloatArray, title: str) -> FloatArray:
    """Return the recall of each class, NaN (with a warning) for one that does not occur."""
    rows = confusions.sum(axis=2)
    absent = rows == 0
    if absent.any():
        warn_undefined(title, absent.any(axis=1), "classes that do not occur are left out")
    return np.diagonal(confusions, axis1=1, axis2=2) / np.where(absent, np.nan, rows)
