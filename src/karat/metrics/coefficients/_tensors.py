"""Checks of matrices and tensors of coefficients."""

from itertools import permutations
from typing import Any

import numpy as np

from karat._frozen import frozen_array
from karat._typing import FloatArray
from karat._validate import check_finite_matrix
from karat.exceptions import MetricError

__all__ = ["square_matrix", "symmetric_tensor"]


def square_matrix(values: Any, name: str) -> FloatArray:
    """Check a k×k matrix of finite numbers, k at least 2."""
    matrix = check_finite_matrix(values, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise MetricError(
            f"{name} has shape {matrix.shape}; expected k×k with k at least 2 "
            "(rows are the truth, columns the prediction)"
        )
    return np.asarray(frozen_array(matrix))


def symmetric_tensor(values: Any, name: str, q: int | None = None) -> FloatArray:
    """Check a tensor that is the same in every order of its indices."""
    tensor = check_finite_matrix(values, name)
    if q is not None and tensor.shape != (q,) * tensor.ndim:
        raise MetricError(
            f"{name} has shape {tensor.shape}; expected {(q,) * max(tensor.ndim, 1)}: one index "
            "for each kind of error"
        )
    for order in permutations(range(tensor.ndim)):
        if not np.allclose(tensor, tensor.transpose(order), rtol=1e-9, atol=1e-12):
            raise MetricError(
                f"{name} is not symmetric; pass its mean over all orders of the indices, for a "
                "matrix (B + B.T) / 2, which has the same value"
            )
    return np.asarray(frozen_array(tensor))
