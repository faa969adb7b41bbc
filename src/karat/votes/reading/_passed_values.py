"""Names of voters, domains and items, in the dtype in which they were passed."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from karat._typing import AnyArray, IntArray
from karat._validate import native_frame

__all__ = ["PassedValues"]


@dataclass(frozen=True, slots=True)
class PassedValues:
    """The distinct values of a column that was passed, one entry per code.

    ``values`` is a narwhals Series where the column came from a data frame library, so that a
    Categorical or an Int8 comes back as such, and a NumPy array otherwise.
    """

    values: Any

    @classmethod
    def of_column(cls, column: Any, codes: IntArray, n: int) -> Self:
        """Return the value of each of ``n`` codes; ``codes`` holds the code of each row."""
        row = np.zeros(n, dtype=np.int64)
        row[codes] = np.arange(len(codes))  # rows of one code hold the same value: any will do
        return cls.of_rows(column, row)

    @classmethod
    def of_rows(cls, column: Any, rows: IntArray) -> Self:
        """Return the values of a column in some of its rows."""
        series = _as_series(column)
        if series is not None:
            return cls(series[rows])
        return cls(np.asarray(column).reshape(-1)[rows])

    @classmethod
    def of_columns(cls, frame: Any) -> Self:
        """Return the column names of a narwhals frame; those of pandas may be no text."""
        native = frame.to_native()
        if frame.implementation.is_pandas():
            return cls(_as_series(native.columns.to_series()))
        return cls(np.array(frame.columns))

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[Any]:
        """Return the values as Python objects."""
        listed = self.values.to_list() if hasattr(self.values, "to_list") else self.values.tolist()
        return list(listed)

    def to_numpy(self) -> AnyArray:
        """Return the values as an array of NumPy."""
        return np.asarray(self.values)

    def take(self, positions: Any) -> Any:
        """Return the values at some positions: a narwhals Series or a NumPy array."""
        return self.values[np.asarray(positions, dtype=np.int64)]


def _as_series(column: Any) -> Any:
    """Return a narwhals Series of a column of a data frame library, None for anything else."""
    frame = native_frame(column, "the column")
    if frame is not None:  # a frame with one column passes for that column
        return next(frame.iter_columns())
    if isinstance(column, np.ndarray | list | tuple | range):
        return None
    import narwhals as nw

    if type(column).__module__.partition(".")[0] == "pyarrow" and hasattr(column, "to_pylist"):
        import pyarrow as pa

        column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    seen = nw.from_native(column, series_only=True, pass_through=True)
    return seen if isinstance(seen, nw.Series) else None
