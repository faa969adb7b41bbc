"""Class probabilities as users pass them to a classifier."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat._validate import check_probabilities, check_scores, is_matrix

__all__ = ["read_probabilities"]


def read_probabilities(proba: Any, classes: AnyArray) -> FloatArray:
    """Check class probabilities (n, k), or (n,) of the second of two classes."""
    if len(classes) == 2 and not is_matrix(proba):
        second = check_scores(proba, "proba")
        proba = np.column_stack([1.0 - second, second])
    return check_probabilities(proba, "proba", classes=classes)
