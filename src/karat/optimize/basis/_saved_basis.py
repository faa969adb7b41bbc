"""Values of basis functions as users pass them."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_score_columns, is_matrix, native_frame
from karat.exceptions import DataError, ShapeError

__all__ = ["check_basis_values", "read_basis"]


def read_basis(basis: Any, proba: Any, name: str) -> tuple[tuple[str, ...], FloatArray]:
    """Return names and values of saved basis functions; the constant if there are none."""
    n = len(proba) if hasattr(proba, "__len__") else len(np.asarray(proba))
    if basis is None:
        return ("constant",), np.ones((n, 1))
    if native_frame(basis, name) is None and not is_matrix(basis):
        basis = np.asarray(basis, dtype=float).reshape(-1, 1)
    columns = check_score_columns(basis, name, each="basis function")
    values = check_basis_values(np.column_stack(list(columns.values())), n, name)
    return tuple(columns), values


def check_basis_values(values: FloatArray, n: int, name: str) -> FloatArray:
    """Check values of basis functions: one row per item, within [0, 1]."""
    if values.ndim != 2 or len(values) != n:
        raise ShapeError(f"{name} has shape {values.shape}; expected ({n}, number of functions)")
    if values.min() < 0 or values.max() > 1:
        worst = values.min() if values.min() < 0 else values.max()
        raise DataError(f"{name} holds {worst:g}; expected numbers between 0 and 1. Rescale it")
    return values
