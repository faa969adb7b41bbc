"""Basis functions as users list them, fitted to rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat._validate import refuse_option
from karat.optimize.basis._basis import Basis
from karat.optimize.basis._column_basis import ColumnBasis
from karat.optimize.basis._constant import Constant
from karat.optimize.basis._function_basis import FunctionBasis

__all__ = ["FittedBasis", "candidates_of", "fit_basis"]


class FittedBasis:
    """The functions of several bases, ready to be applied to rows."""

    def __init__(self, parts: Sequence[Basis]) -> None:
        self.parts = tuple(parts)
        self.names = tuple(name for part in parts for name in part.names_)

    def values(self, X: Any) -> FloatArray:
        """Return the values, shape (n, number of functions)."""
        return np.column_stack([part.values(X) for part in self.parts])


def candidates_of(basis: Any) -> list[list[Any]]:
    """Return the candidate bases: one, or those of a list of lists."""
    if isinstance(basis, str | int | Basis) or callable(basis):
        return [[basis]]
    items = list(basis)
    if not items:
        refuse_option(basis, "basis", "at least one basis function, such as 'constant'")
    nested = [isinstance(item, list | tuple) for item in items]
    if all(nested):
        return [list(item) for item in items]
    if any(nested):
        refuse_option(basis, "basis", "a list of functions, or a list of lists to choose among")
    return [items]


def fit_basis(basis: Sequence[Any], X: Any, y: AnyArray) -> FittedBasis:
    """Return the functions that a list of names, functions and bases stands for."""
    if isinstance(basis, str | Basis) or callable(basis):
        basis = [basis]
    if not len(basis):
        refuse_option(basis, "basis", "at least one basis function, such as 'constant'")
    return FittedBasis([_as_basis(item).fitted(X, y) for item in basis])


def _as_basis(item: Any) -> Basis:
    if isinstance(item, Basis):
        return item
    if isinstance(item, str) and item == "constant":
        return Constant()
    if isinstance(item, str | int | np.integer) and not isinstance(item, bool):
        return ColumnBasis(item if isinstance(item, str) else int(item))
    if not callable(item):
        refuse_option(
            item,
            "a basis function",
            "'constant', the name or position of a column, a function of the rows, Clusters(...) "
            "or RadialBasis(...)",
        )
    return FunctionBasis(item)
