"""The distinct combinations of some columns, with the number of rows of each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, BoolArray
from karat.exceptions import DataError, EmptyDataError, LabelError, WeightError
from karat.sources.engines import collect, engine_errors, engine_of, with_folds

__all__ = ["FOLD", "Grouped", "RowWeight", "check_weight_column", "grouped", "with_value"]

_COUNT, _SQUARE = "__karat_count", "__karat_square"
FOLD = "__karat_fold"
# Distinct rows that are taken to the driver: some gigabytes.
_MOST_ROWS = 50_000_000


class RowWeight(NamedTuple):
    """The column of weights, and whether they are importances or numbers of equal rows."""

    column: str
    important: bool = True


class Grouped(NamedTuple):
    """Distinct rows as a Polars frame, and how many rows, or how much weight, each stands for.

    ``squares`` are sums of squared weights, where these are importances.
    """

    rows: Any
    counts: AnyArray
    squares: AnyArray | None = None

    def column(self, name: str | None) -> Any:
        """Return a column of the distinct rows, None where there is none."""
        return None if name is None else self.rows[name]

    def absent(self, name: str) -> BoolArray:
        """Return which distinct rows have no value in a column: null, or NaN."""
        column = self.rows[name]
        found = np.asarray(column.is_null().to_numpy(), dtype=bool)
        if column.dtype.is_float():
            found = found | np.asarray(column.is_nan().fill_null(False).to_numpy(), dtype=bool)
        return found

    def require(self, name: str, what: str) -> Any:
        """Return a column that must have no nulls; the message counts the rows behind them."""
        column, absent = self.rows[name], self.absent(name)
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
    weight: RowWeight | None = None,
    fold_by: str | None = None,
    folds: int = 0,
) -> Grouped:
    """Return the distinct combinations of ``keys``, and of the fold of ``fold_by`` if it is given.

    With ``weight`` the weights of the rows are added up instead of counted, and their squares too.
    """
    import narwhals as nw

    by = list(dict.fromkeys(keys))
    beside = [*([weight.column] if weight else []), *([fold_by] if folds and fold_by else [])]
    with engine_errors(engine_of(lazy)):
        table = lazy.select(*dict.fromkeys([*keys, *beside]))
        if folds and fold_by is not None:
            table = with_folds(table, fold_by, folds, FOLD)
            by.append(FOLD)
        sums = [nw.len().alias(_COUNT)]
        if weight is not None:
            check_weight_column(lazy, weight)
            # Spark and DuckDB add decimals and whole numbers in types of their own.
            mass = nw.col(weight.column).cast(nw.Float64)
            table = table.with_columns((mass * mass).alias(_SQUARE), mass.alias(_COUNT))
            sums = [nw.col(_COUNT).sum(), nw.col(_SQUARE).sum()]
        found = collect(table.group_by(*by).agg(*sums))
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
    if weight is None or not weight.important:
        return Grouped(found.select(by), counts.astype(np.int64))
    return Grouped(found.select(by), counts.astype(np.float64), found[_SQUARE].to_numpy())


def check_weight_column(lazy: Any, weight: RowWeight) -> None:
    """Refuse weights that are no numbers, missing, negative or not finite, and parts of rows."""
    import narwhals as nw

    name = weight.column
    if not lazy.collect_schema()[name].is_numeric():
        raise WeightError(f"the weight column {name!r} holds no numbers")
    value = nw.col(name).cast(nw.Float64)
    wrong = (value.is_null() | ~value.is_finite() | (value < 0)).cast(nw.Int64).sum()
    parts = (value != value.floor()).cast(nw.Int64).sum()
    seen = collect(lazy.select(wrong.alias("bad"), parts.alias("parts"), value.sum().alias("all")))
    bad, fractions, total = seen.row(0)
    if bad:
        raise WeightError(
            f"the weight column {name!r} is missing, negative or not finite in {bad:,} rows"
        )
    if not total:
        raise WeightError(f"the weight column {name!r} is zero in every row; expected one above 0")
    if fractions and not weight.important:
        raise WeightError(
            f"the weight column {name!r} holds fractions in {fractions:,} rows and "
            "weighting='frequency' counts rows; pass whole numbers, or weighting='importance'"
        )


def with_value(lazy: Any, column: str) -> Any:
    """Return the rows that have a value in a column: neither null nor NaN."""
    import narwhals as nw

    value = nw.col(column)
    kept = ~value.is_null()
    if lazy.collect_schema()[column].is_float():
        kept = kept & ~value.is_nan()
    return lazy.filter(kept)
