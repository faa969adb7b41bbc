"""What every basis is: a description of functions, and the functions that rows make of it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from karat._typing import AnyArray, FloatArray

__all__ = ["Basis"]


class Basis(ABC):
    """One or more functions of a row with values in [0, 1].

    A basis is a description; `fitted` returns the functions that some rows make of it.
    """

    names_: tuple[str, ...]

    def fitted(self, X: Any, y: AnyArray) -> Self:
        """Return the functions, as the rows X with the labels y make them."""
        other = copy(self)
        other.names_ = tuple(other._learn(X, y))
        return other

    @abstractmethod
    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        """Keep what the functions need; return their names."""

    @abstractmethod
    def values(self, X: Any) -> FloatArray:
        """Return the values of the fitted functions, shape (n, number of functions)."""

    def _settings(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if not k.endswith("_")}

    def __repr__(self) -> str:
        settings = ", ".join(f"{k}={v!r}" for k, v in self._settings().items())
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Basis):
            return False
        # Not by the text: that of a long array of centers leaves most of it out.
        mine, others = self._settings(), other._settings()
        return all(np.array_equal(mine[k], others[k]) for k in mine)

    def __hash__(self) -> int:
        return hash(repr(self))
