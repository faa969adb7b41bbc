"""The constant function."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat.optimize.basis._basis import Basis
from karat.optimize.basis._rows import n_rows

__all__ = ["Constant"]


class Constant(Basis):
    """The function 1: the weight of a class is the same in every row."""

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        return ["constant"]

    def values(self, X: Any) -> FloatArray:
        """Return ones."""
        return np.ones((n_rows(X), 1))
