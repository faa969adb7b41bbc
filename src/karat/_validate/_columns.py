"""Read one column, or several, from whatever was passed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray
from karat.exceptions import ColumnError, DataError, EmptyDataError, LabelError, ShapeError

__all__ = ["named", "read_column", "read_columns", "shown"]

# The only dtype kinds that leave this module: boolean, signed, unsigned, float, text.
_KINDS = "biufU"


def shown(value: Any) -> str:
    """Return a value as a message shows it: no NumPy wrapper, no endless string."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def named(names: Sequence[Any], most: int = 8) -> str:
    """Return a short list of names for a message."""
    listed = ", ".join(shown(name) for name in names[:most])
    return f"[{listed}, ...] ({len(names)} in all)" if len(names) > most else f"[{listed}]"


def read_column(
    values: Any, name: str, *, null: int | None = None
) -> tuple[AnyArray, BoolArray | None]:
    """Return a non-empty one-dimensional array and a mask of missing values (None: none missing).

    Where the mask is true, the array holds an arbitrary value of its own type.
    """
    if isinstance(values, str | bytes):
        raise ColumnError(
            f"{name} is the text {shown(values)}; pass the column itself, "
            f"for example frame[{shown(values)}]"
        )
    if values is None or np.isscalar(values):
        raise ShapeError(f"{name} is {shown(values)}; pass one value per row")
    array, mask = _native_series(values, name)
    if array is None:
        array, mask = _plain_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ShapeError(
            f"{name} has shape {array.shape}; expected one value per row, shape (n,). "
            "Pass a single column"
        )
    if array.size == 0:
        raise EmptyDataError(f"{name} has no rows; pass at least one")
    return _settle(array, mask, name, null)


def read_columns(
    values: Any, name: str, *, null: int | None = None
) -> tuple[list[tuple[AnyArray, BoolArray | None]], list[str]]:
    """Return the columns of a matrix or frame, each as `read_column` does, and their names.

    In a column of objects the integer ``null`` counts as missing, so that text may stand beside it.
    """
    frame = _native_frame(values)
    if frame is not None:
        columns = [
            read_column(series, f"{name} column {str(series.name)!r}", null=null)
            for series in frame.iter_columns()  # by position: a pandas name may be an integer
        ]
        if not columns:
            raise ShapeError(f"{name} has no columns; pass at least one")
        return columns, [str(c) for c in frame.columns]
    array, mask = _plain_array(values, name)
    if array.ndim != 2:
        raise ShapeError(
            f"{name} has shape {array.shape}; expected one row per item and one column per "
            "labeler, shape (n, m)"
        )
    if array.shape[0] == 0:
        raise EmptyDataError(f"{name} has no rows; pass at least one")
    if array.shape[1] == 0:
        raise ShapeError(f"{name} has no columns; pass at least one")
    names = [str(j) for j in range(array.shape[1])]
    return [
        _settle(array[:, j], None if mask is None else mask[:, j], f"{name} column {j}", null)
        for j in range(array.shape[1])
    ], names


def _plain_array(values: Any, name: str) -> tuple[AnyArray, BoolArray | None]:
    """Return what NumPy makes of ``values``; a list that mixes types stays a list of objects."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(values.data), np.ma.getmaskarray(values)
    if isinstance(values, np.ndarray):
        return values, None
    try:
        array = np.asarray(values)
        if array.dtype.kind in "US" and isinstance(values, list | tuple):
            # NumPy turns [1, "a"] into text; keep the objects so that the mix is noticed.
            array = np.asarray(values, dtype=object)
    except ValueError as error:
        raise ShapeError(
            f"{name} has rows of different lengths; pass a rectangular array"
        ) from error
    return array, None


def _settle(
    array: AnyArray, mask: BoolArray | None, name: str, null: int | None
) -> tuple[AnyArray, BoolArray | None]:
    """Give a column one of the plain dtypes and mark its missing values."""
    if array.dtype.kind == "O":
        array, mask = _settle_objects(array, mask, name, null)
    elif array.dtype.kind in "ST":
        array = array.astype(str)
    if array.dtype.kind not in _KINDS:
        raise DataError(
            f"{name} has dtype {array.dtype}; expected integers, booleans, floats or text. "
            "Convert it first"
        )
    if array.dtype.kind == "f":
        missing = np.isnan(array)
        if missing.any():
            mask = missing if mask is None else mask | missing
    return array, mask if mask is not None and mask.any() else None


def _is_missing(value: Any, null: int | None) -> bool:
    if null is not None and isinstance(value, int | np.integer) and value == null:
        return True
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def _settle_objects(
    array: AnyArray, mask: BoolArray | None, name: str, null: int | None
) -> tuple[AnyArray, BoolArray]:
    missing = np.fromiter((_is_missing(v, null) for v in array), dtype=bool, count=len(array))
    if mask is not None:
        missing |= mask
    present = np.flatnonzero(~missing)
    if present.size == 0:
        return np.zeros(len(array)), missing
    kinds = np.fromiter((_kind(array[i]) for i in present), dtype="U1", count=present.size)
    odd = np.flatnonzero(kinds != kinds[0])
    if odd.size:
        first, other = array[present[0]], array[present[odd[0]]]
        raise LabelError(
            f"{name} mixes types: row {present[0]} holds {shown(first)} "
            f"({type(first).__name__}) and row {present[odd[0]]} holds {shown(other)} "
            f"({type(other).__name__}); convert the column to one type"
        )
    if kinds[0] == "?":
        first = array[present[0]]
        raise DataError(
            f"{name} row {present[0]} holds {shown(first)} ({type(first).__name__}); expected "
            "integers, booleans, floats or text"
        )
    kept = np.array(array[present].tolist())
    settled = np.zeros(len(array), dtype=kept.dtype)
    settled[present] = kept
    return settled, missing


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "U"
    if isinstance(value, bool | np.bool_):
        return "b"
    if isinstance(value, int | float | np.integer | np.floating):
        return "n"
    return "?"


def _narwhals(values: Any) -> Any:
    """Return ``values`` as narwhals sees it: a Series, a frame, or unchanged."""
    if isinstance(values, np.ndarray | list | tuple | range):
        return values
    import narwhals as nw

    return nw.from_native(values, allow_series=True, pass_through=True)


def _native_frame(values: Any) -> Any:
    """Return a narwhals DataFrame if ``values`` is a frame (a lazy one is collected), else None."""
    seen = _narwhals(values)
    if seen is values:
        return None
    import narwhals as nw

    if isinstance(seen, nw.LazyFrame):
        return seen.collect()
    return seen if isinstance(seen, nw.DataFrame) else None


def _native_series(values: Any, name: str) -> tuple[AnyArray | None, BoolArray | None]:
    """Return array and mask of a series, or of the only column of a frame; else (None, None)."""
    frame = _native_frame(values)
    if frame is None:
        series = _narwhals(values)
        if series is values:
            return None, None
    elif len(frame.columns) == 1:
        series = next(frame.iter_columns())
    else:
        raise ColumnError(
            f"{name} is a frame with the columns {named(frame.columns)}; expected one column. "
            f"Pass it by name, for example frame[{shown(frame.columns[0])}]"
            if len(frame.columns)
            else f"{name} is a frame with no columns; expected one column"
        )
    mask = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if not mask.any():
        return _series_array(series), None
    # Drop the nulls before the conversion: with them, integers would become floats.
    kept = _series_array(series.filter((~mask).tolist()))
    array = np.zeros(len(mask), dtype=kept.dtype)
    array[~mask] = kept
    return array, mask


def _series_array(series: Any) -> AnyArray:
    import narwhals as nw

    native = series.to_native()
    if isinstance(series.dtype, nw.Categorical | nw.Enum) and hasattr(native, "combine_chunks"):
        series = series.cast(nw.String)  # PyArrow cannot hand a dictionary column to NumPy
    return np.asarray(series.to_numpy())
