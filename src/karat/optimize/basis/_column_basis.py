"""The values of a column as basis functions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat.exceptions import DataError
from karat.optimize.basis._basis import Basis
from karat.optimize.basis._rows import column_of, indicators

__all__ = ["ColumnBasis"]

# A column with more values than this is a number or an identifier, not a set of clusters.
_MOST_VALUES = 50


class ColumnBasis(Basis):
    """One indicator for each value of a column: hard clusters (Hiranandani 2021, eq. 7.8).

    Parameters
    ----------
    name : str or int
        The column of a frame, or the position of a column of an array.
    """

    def __init__(self, name: str | int) -> None:
        self.name = name

    def _learn(self, X: Any, y: AnyArray) -> Sequence[str]:
        self.known_ = np.unique(column_of(X, self.name))
        if len(self.known_) > _MOST_VALUES:
            raise DataError(
                f"the basis column {self.name!r} has {len(self.known_)} distinct values; expected "
                f"at most {_MOST_VALUES}. Bin it, or use Clusters or RadialBasis"
            )
        return [f"{self.name}={value}" for value in self.known_.tolist()]

    def values(self, X: Any) -> FloatArray:
        """Return one indicator for each value; all are 0 in a row whose value is new.

        Where every other basis function is 0 too, the most probable class is predicted.
        """
        return indicators(column_of(X, self.name), self.known_)
