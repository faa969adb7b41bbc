"""Values of basis functions as users pass them."""

from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import check_score_columns, is_matrix, native_frame
from karat.exceptions import DataError
from karat.optimize._basis import Basis, check_basis

__all__ = ["candidates_of", "independent", "read_basis"]

# A function whose part that the others do not explain is below this share of it adds nothing.
_DEPENDENT = 1e-9


def candidates_of(basis: Any) -> list[list[Any]]:
    """Return the candidate bases: one, or those of a list of lists."""
    if isinstance(basis, str | int | Basis) or callable(basis):
        return [[basis]]
    items = list(basis)
    if not items:
        raise DataError("basis is empty; pass at least 'constant'")
    nested = [isinstance(item, list | tuple) for item in items]
    if all(nested):
        return [list(item) for item in items]
    if any(nested):
        raise DataError(
            "basis mixes functions and lists; pass a list of functions, or a list of lists to "
            "choose among"
        )
    return [items]


def read_basis(basis: Any, proba: Any, name: str) -> tuple[tuple[str, ...], FloatArray]:
    """Return names and values of saved basis functions; the constant if there are none."""
    n = len(proba) if hasattr(proba, "__len__") else len(np.asarray(proba))
    if basis is None:
        return ("constant",), np.ones((n, 1))
    if native_frame(basis, name) is None and not is_matrix(basis):
        basis = np.asarray(basis, dtype=float).reshape(-1, 1)
    columns = check_score_columns(basis, name, each="basis function")
    values = check_basis(np.column_stack(list(columns.values())), n, name)
    return tuple(columns), values


def independent(basis: FloatArray) -> IntArray:
    """Return which functions to keep: those that are no combination of earlier ones.

    Weights are a function of the row, and a combination of the others adds no function. So a
    constant and one indicator for each cluster may be passed together.
    """
    kept: list[int] = []
    directions: list[FloatArray] = []
    gram = basis.T @ basis
    # Gram–Schmidt in the coordinates of the functions, with the Gram matrix as inner product.
    for b in range(basis.shape[1]):
        rest = np.eye(basis.shape[1])[b]
        for _ in range(2):  # once more, for rounding
            for known in directions:
                rest = rest - (known @ gram @ rest) * known
        size = float(rest @ gram @ rest)
        if size > _DEPENDENT * gram[b, b]:
            kept.append(b)
            directions.append(rest / np.sqrt(size))
    return np.array(kept, dtype=np.intp)
