"""Read one column, or several, from whatever was passed."""

from collections.abc import Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from decimal import Decimal
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray
from karat._validate._frames import native_frame, seen_by_narwhals
from karat.exceptions import ColumnError, DataError, EmptyDataError, LabelError, ShapeError

__all__ = ["all_finite", "named", "native_frame", "read_column", "read_columns", "shown"]

# The only dtype kinds that leave this module: boolean, signed, unsigned, float, text.
_KINDS = "biufU"


def shown(value: Any) -> str:
    """Return a value as a message shows it: no NumPy wrapper, no endless string, on one line."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = " ".join(text.split()) if "\n" in text else text  # arrays span several lines
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
    _refuse_what_is_no_column(values, name)
    array, mask = _native_series(values, name)
    if array is None:
        array, mask = _plain_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
        mask = mask if mask is None else mask.reshape(-1)
    if array.ndim != 1:
        raise ShapeError(
            f"{name} has shape {array.shape}; expected one value per row, shape (n,). "
            "Pass a single column"
        )
    if array.size == 0:
        raise EmptyDataError(f"{name} has no rows; pass at least one")
    return _plain_column(array, mask, name, null)


def read_columns(
    values: Any, name: str, *, null: int | None = None, each: str = "column"
) -> tuple[list[tuple[AnyArray, BoolArray | None]], list[Any]]:
    """Return the columns of a matrix or frame, each as `read_column` does, and their names.

    Names are as they were passed, which in pandas may be numbers; those of a matrix are its
    positions as text.
    The integer ``null`` may stand in a column of text, where it becomes text too. ``each`` says
    what a column stands for, for messages.
    """
    frame = native_frame(values, name)
    if frame is not None:
        columns = [
            read_column(series, f"{name} column {series.name!r}", null=null)
            for series in frame.iter_columns()  # by position: a pandas name may be an integer
        ]
        if not columns:
            raise ShapeError(f"{name} has no columns; pass at least one")
        return columns, list(frame.columns)
    _refuse_what_is_no_column(values, name)
    array, mask = _plain_array(values, name)
    if array.shape[0] == 0:
        raise EmptyDataError(f"{name} has no rows; pass at least one")
    if array.ndim != 2:
        raise ShapeError(
            f"{name} has shape {array.shape}; expected one row per item and one {each}, "
            "shape (n, m)"
        )
    if array.shape[1] == 0:
        raise ShapeError(f"{name} has no columns; pass at least one")
    return [
        _plain_column(array[:, j], None if mask is None else mask[:, j], f"{name} column {j}", null)
        for j in range(array.shape[1])
    ], [str(j) for j in range(array.shape[1])]


def _refuse_what_is_no_column(values: Any, name: str) -> None:
    """Refuse what NumPy would quietly turn into one object."""
    if isinstance(values, str | bytes):
        raise ColumnError(
            f"{name} is the text {shown(values)}; pass the values themselves, one per row, for "
            f"example frame[{shown(values)}]"
        )
    if values is None or np.isscalar(values):
        raise ShapeError(f"{name} is {shown(values)}; pass one value per row")
    if isinstance(values, Mapping | Set | Iterator | KeysView | ValuesView):
        raise ShapeError(
            f"{name} is a {type(values).__name__}; pass a list, an array or a column, whose order "
            "is that of the rows"
        )


def _plain_array(values: Any, name: str) -> tuple[AnyArray, BoolArray | None]:
    """Return what NumPy makes of ``values``; a list that mixes types stays a list of objects."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(values.data), np.ma.getmaskarray(values)
    if type(values) is np.ndarray:
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
    except Exception as error:  # a tensor on another device raises whatever it likes
        raise ShapeError(
            f"{name} is a {type(values).__name__} that NumPy cannot read ({error}); convert it "
            "to an array first, for example with .detach().cpu().numpy()"
        ) from error
    if array.ndim == 0:
        raise ShapeError(
            f"{name} is a {type(values).__name__}; pass a list, an array or a column with one "
            "value per row"
        )
    return array, None


def _plain_column(
    array: AnyArray, mask: BoolArray | None, name: str, null: int | None
) -> tuple[AnyArray, BoolArray | None]:
    """Give a column one of the plain dtypes and mark its missing values."""
    if array.dtype.kind in "ST":
        array = array.astype(object)
    if array.dtype.kind == "O":
        array, mask = _plain_objects(array, mask, name, null)
    if array.dtype.kind not in _KINDS:
        raise DataError(
            f"{name} has dtype {array.dtype}; expected integers, booleans, floats or text. "
            "Convert it first"
        )
    if array.dtype.kind == "u":
        if array.size and array.max() > np.iinfo(np.int64).max:
            row = int(array.argmax())
            raise LabelError(
                f"{name} row {row} holds {shown(array[row])}, which is beyond 2^63; pass such "
                "identifiers as text"
            )
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and not all_finite(array):
        missing = np.isnan(array)
        if missing.any():
            mask = missing if mask is None else mask | missing
    return array, mask if mask is not None and mask.any() else None


def all_finite(array: AnyArray) -> bool:
    """Whether no entry is NaN or infinite; a sum that says no may be wrong, and is then redone."""
    with np.errstate(all="ignore"):
        total = array.sum()  # one pass with no memory, where isfinite needs two and a mask
    return bool(np.isfinite(total)) or bool(np.isfinite(array).all())


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def _plain_objects(
    array: AnyArray, mask: BoolArray | None, name: str, null: int | None
) -> tuple[AnyArray, BoolArray | None]:
    types = set(map(type, array))
    if mask is None and types <= {str, type(None)} and str in types:  # common, so in fast passes
        absent: BoolArray = np.asarray(array == None, dtype=bool)  # noqa: E711
        return np.where(absent, "", array).astype(str), absent
    missing = np.fromiter((_is_missing(v) for v in array), dtype=bool, count=len(array))
    if mask is not None:
        missing |= mask
    array = _null_like_the_rest(array, missing, null)
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
    kept = np.array([_converted(v) for v in array[present].tolist()])
    if kept.dtype.kind == "O":
        raise LabelError(f"{name} holds an integer beyond 2^63; pass such identifiers as text")
    plain = np.zeros(len(array), dtype=kept.dtype)
    plain[present] = kept
    return plain, missing


def _null_like_the_rest(array: AnyArray, missing: BoolArray, null: int | None) -> AnyArray:
    """Return the column with ``null`` as text if the other values are text."""
    if null is None:
        return array
    stands = [not m and _kind(v) == "n" and v == null for v, m in zip(array, missing, strict=True)]
    is_null = np.array(stands, dtype=bool)
    others = np.flatnonzero(~(missing | is_null))
    if not is_null.any() or others.size == 0 or _kind(array[others[0]]) != "U":
        return array
    changed = array.copy()
    changed[is_null] = str(null)
    return changed


def _kind(value: Any) -> str:
    if isinstance(value, str | bytes):
        return "U"
    if isinstance(value, bool | np.bool_):
        return "b"
    if isinstance(value, int | float | np.integer | np.floating | Decimal):
        return "n"
    return "?"


def _converted(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return float(value) if isinstance(value, Decimal) else value


def _native_series(values: Any, name: str) -> tuple[AnyArray | None, BoolArray | None]:
    """Return array and mask of a series, or of the only column of a frame; else (None, None)."""
    frame = native_frame(values, name)
    if frame is None:
        series = seen_by_narwhals(values, name)
        if series is None:
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
    null = series.is_null()
    mask = np.asarray(null.to_numpy(), dtype=bool)
    if not mask.any():
        return _series_array(series), None
    # Drop the nulls before the conversion: with them, integers would become floats.
    kept = _series_array(series.filter(~null))
    if kept.dtype.kind == "O" and set(map(type, kept)) == {str}:
        kept = kept.astype(str)  # so that the column is known to be text
    array = np.zeros(len(mask), dtype=kept.dtype)
    array[~mask] = kept
    return array, mask


def _series_array(series: Any) -> AnyArray:
    native = series.to_native()
    if "dictionary" in str(getattr(native, "type", "")):  # PyArrow hands out codes, not values
        native = native.cast(native.type.value_type)
        return np.asarray(native.to_numpy())
    return np.asarray(series.to_numpy())
