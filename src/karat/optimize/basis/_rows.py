"""The rows X as bases read them: their number, a column, numbers on a common scale."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat._validate import check_finite_matrix, named, native_frame, read_column, refuse_lazy
from karat.exceptions import ColumnError, DataError

__all__ = ["Scale", "column_of", "indicators", "n_rows"]


@dataclass(frozen=True, slots=True)
class Scale:
    """Columns less their mean, over their deviation."""

    mean: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, X: Any) -> Self:
        """Return the scale of rows; a column that does not vary is only centered."""
        rows = _numbers_of(X)
        spread = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def __call__(self, X: Any) -> FloatArray:
        """Return rows on this scale."""
        return np.asarray((_numbers_of(X) - self.mean) / self.spread)


def n_rows(X: Any) -> int:
    """Return the number of rows."""
    refuse_lazy(X=X)
    shape = getattr(X, "shape", None) or np.asarray(X).shape
    return int(shape[0])


def column_of(X: Any, name: str | int) -> AnyArray:
    """Return a column of an array or a frame, by its name or position."""
    frame = native_frame(X, "X")
    if frame is None:
        array = np.asarray(X)
        if isinstance(name, str) or array.ndim != 2 or not -array.shape[1] <= name < array.shape[1]:
            raise ColumnError(
                f"the basis names the column {name!r} and X is an array of shape {array.shape}; "
                "pass a frame, or the position of the column"
            )
        column: Any = array[:, name]
    else:
        columns = list(frame.columns)
        n = len(columns)
        at = name if isinstance(name, int) else columns.index(name) if name in columns else n
        if not -n <= at < n:
            raise ColumnError(f"the basis names the column {name!r} and X has {named(columns)}")
        # By position: a pandas name may be an integer.
        column = list(frame.iter_columns())[at].to_native()
    values, missing = read_column(column, f"the basis column {name!r}")
    if missing is not None:
        row = int(np.flatnonzero(missing)[0])
        raise DataError(
            f"the basis column {name!r} is missing in row {row} ({int(missing.sum())} such rows); "
            "fill it in, for example with a value of its own"
        )
    return values


def indicators(values: AnyArray, known: AnyArray) -> FloatArray:
    """Return one column for each known value, 1 where a row has it."""
    return np.asarray(values[:, None] == known, dtype=np.float64)


def _numbers_of(X: Any) -> FloatArray:
    try:
        return check_finite_matrix(X, "X")
    except DataError as error:
        raise DataError(
            f"clusters and radial functions need rows of finite numbers: {error}"
        ) from error
