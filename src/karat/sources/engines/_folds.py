"""The fold of an item from its identifier: the same on every engine, in every order of the rows."""

from hashlib import md5
from typing import Any

import numpy as np

from karat._typing import AnyArray, IntArray
from karat.exceptions import ColumnError, DataError
from karat.sources.engines._collect import engine_of

__all__ = ["FOLDS", "fold_of", "with_folds"]

FOLDS = 5
# Two quadratic steps modulo a prime: whole numbers that every engine can square without overflow.
_PRIME = 2**31 - 1
_STEPS = ((48271, 11), (69621, 7))
_DIGITS = 8  # hexadecimal digits of the MD5 digest that count, where identifiers are text


def fold_of(ids: AnyArray, folds: int = FOLDS) -> IntArray:
    """Return the fold of each identifier, whole numbers or text, as `with_folds` computes it."""
    if ids.dtype.kind in "iu":
        return np.asarray(_mixed(ids.astype(np.int64)) % folds)
    return np.fromiter((_digest(str(text)) % folds for text in ids), np.int64, len(ids))


def _mixed(ids: IntArray) -> IntArray:
    """Return a number below the prime for each whole number."""
    x = ids % _PRIME
    for slope, shift in _STEPS:
        x = (x * (x + slope) + shift) % _PRIME
    return np.asarray(x)


def _digest(text: str) -> int:
    return int(md5(text.encode(), usedforsecurity=False).hexdigest()[:_DIGITS], 16)


def with_folds(lazy: Any, column: str, folds: int, name: str) -> Any:
    """Return the table with the fold of each row, by a hash of its identifier."""
    import narwhals as nw

    dtype = lazy.collect_schema()[column]
    if dtype.is_integer():
        return _of_numbers(lazy, column, folds, name)
    if not isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        raise ColumnError(
            f"the id column {column!r} holds {dtype}; expected whole numbers or text, whose hash "
            "gives the fold of an item"
        )
    return nw.from_native(_of_text(lazy, column, folds, name))


def _of_numbers(lazy: Any, column: str, folds: int, name: str) -> Any:
    """Return the table with `_mixed`, a column at a time: engines compute an expression anew."""
    import narwhals as nw

    rest, x = nw.col(column).cast(nw.Int64) % _PRIME, nw.col(name)
    table = lazy.with_columns(rest.alias(name))
    if engine_of(lazy) != "polars":  # other engines give a remainder the sign of the number
        table = table.with_columns(((x + _PRIME) % _PRIME).alias(name))
    for slope, shift in _STEPS:
        table = table.with_columns(((x * (x + slope) + shift) % _PRIME).alias(name))
    return table.with_columns((x % folds).alias(name))


def _of_text(lazy: Any, column: str, folds: int, name: str) -> Any:
    native, engine = lazy.to_native(), engine_of(lazy)
    if engine == "polars":
        return _polars(native, column, folds, name)
    quoted = column.replace('"', '""').replace("`", "``")
    if engine == "duckdb":
        number = f"cast('0x' || substr(md5(\"{quoted}\"), 1, {_DIGITS}) as bigint)"
        return native.select(f'*, {number} % {folds} as "{name}"')
    if engine == "pyspark":
        number = f"cast(conv(substr(md5(`{quoted}`), 1, {_DIGITS}), 16, 10) as bigint)"
        return native.selectExpr("*", f"{number} % {folds} as `{name}`")
    raise DataError(
        f"text identifiers cannot be hashed on {engine}; pass an id column of whole numbers"
    )


def _polars(native: Any, column: str, folds: int, name: str) -> Any:
    import polars as pl

    def hashed(batch: Any) -> Any:
        values = batch.cast(pl.String).to_list()
        found = [None if text is None else _digest(text) % folds for text in values]
        return pl.Series(found, dtype=pl.Int64)

    fold = pl.col(column).map_batches(hashed, return_dtype=pl.Int64, is_elementwise=True)
    return native.with_columns(fold.alias(name))
