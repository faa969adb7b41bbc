"""The distinct combinations of some columns, with the number of rows of each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray
from karat.exceptions import DataError, EmptyDataError, LabelError, WeightError
from karat.sources.engines import collect, engine_errors, engine_of, with_folds

__all__ = ["FOLD", "Grouped", "check_weight_column", "grouped"]

_COUNT = "__karat_count"
FOLD = "__karat_fold"
# Distinct rows that are taken to the driver: some gigabytes.
_MOST_ROWS = 50_000_000


class Grouped(NamedTuple):
    """Distinct rows as a Polars frame, and how many rows, or how much weight, each stands for."""

    rows: Any
    counts: AnyArray

    def column(self, name: str | None) -> Any:
        """Return a column of the distinct rows, None where there is none."""
        return None if name is None else self.rows[name]

    def require(self, name: str, what: str) -> Any:
        """Return a column that must have no nulls; the message counts the rows behind them."""
        column = self.rows[name]
        absent = np.asarray(column.is_null().to_numpy(), dtype=bool)
        if column.dtype.is_float():
            absent |= np.asarray(column.is_nan().fill_null(False).to_numpy(), dtype=bool)
        if absent.any():
            raise LabelError(
                f"the {what} column {name!r} is missing in {self.counts[absent].sum():,.6g} of "
                f"{self.counts.sum():,.6g} rows; drop them, or fill them in"
            )
        return column


def grouped(
    lazy: Any,
    keys: Sequence[str],
    *,
    weight: str | None = None,
    fold_by: str | None = None,
    folds: int = 0,
) -> Grouped:
    """Return the distinct combinations of ``keys``, and of the fold of ``fold_by`` if it is given.

    With ``weight`` the weights of the rows are added up instead of counted.
    """
    import narwhals as nw

    by = list(dict.fromkeys(keys))
    beside = [name for name in (weight, fold_by if folds else None) if name is not None]
    with engine_errors(engine_of(lazy)):
        table = lazy.select(*dict.fromkeys([*keys, *beside]))
        if folds and fold_by is not None:
            table = with_folds(table, fold_by, folds, FOLD)
            by.append(FOLD)
        total = nw.len()
        if weight is not None:
            check_weight_column(lazy, weight)
            # Spark and DuckDB add decimals and whole numbers in types of their own.
            total = nw.col(weight).cast(nw.Float64).sum()
        found = collect(table.group_by(*by).agg(total.alias(_COUNT)))
    if not len(found):
        raise EmptyDataError("the table has no rows; pass at least one")
    if len(found) > _MOST_ROWS:
        raise DataError(
            f"{len(found):,} distinct combinations of {by[:8]} on {engine_of(lazy)}; at most "
            f"{_MOST_ROWS:,} are counted in memory. Use fewer labelers, or count the groups apart"
        )
    if FOLD in by and found[FOLD].null_count():
        raise LabelError(f"the id column {fold_by!r} has nulls; give every row an identifier")
    found = found.sort(by, nulls_last=True)  # engines return groups in no fixed order
    counts = found[_COUNT].to_numpy()
    return Grouped(found.drop(_COUNT), counts.astype(np.int64 if weight is None else np.float64))


def check_weight_column(lazy: Any, weight: str) -> None:
    """Refuse weights that are no numbers, missing, negative or not finite."""
    import narwhals as nw

    if not lazy.collect_schema()[weight].is_numeric():
        raise WeightError(f"the weight column {weight!r} holds no numbers")
    value = nw.col(weight).cast(nw.Float64)
    wrong = (value.is_null() | ~value.is_finite() | (value < 0)).cast(nw.Int64).sum()
    (bad,) = collect(lazy.select(wrong.alias("bad")))["bad"].to_list()
    if bad:
        raise WeightError(
            f"the weight column {weight!r} is missing, negative or not finite in {bad:,} rows"
        )
