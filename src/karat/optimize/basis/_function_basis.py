"""A function of the rows as a basis."""

from collections.abc import Callable, Sequence
from typing import Any

from karat._typing import AnyArray, FloatArray
from karat._validate import check_finite_matrix
from karat.optimize.basis._basis import Basis
from karat.optimize.basis._rows import n_rows
from karat.optimize.basis._saved_basis import check_basis_values

__all__ = ["FunctionBasis"]


class FunctionBasis(Basis):
    """A function that the user wrote."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        name = getattr(self.function, "__name__", "function")
        n = self.values(X).shape[1]
        return [name] if n == 1 else [f"{name} {i}" for i in range(n)]

    def values(self, X: Any) -> FloatArray:
        """Return what the function returns, checked."""
        values = check_finite_matrix(self.function(X), "the basis function's value")
        values = values[:, None] if values.ndim == 1 else values
        return check_basis_values(values, n_rows(X), "the basis function's value")
