"""Positives and negatives in cells of scores, from tables too large to read."""

from pathlib import Path
from typing import Any

import numpy as np

from karat._extras import require
from karat._frames import keeps_kind
from karat._validate import binary_order, check_count
from karat.exceptions import ColumnError, DataError, LabelError, ScoreError
from karat.statistics.result import RocCounts

__all__ = ["scan_roc_counts"]


@keeps_kind
def scan_roc_counts(
    source: Any, *, label: str, score: str, pos_label: Any = None, cells: int = 1 << 20
) -> RocCounts:
    """Count positives and negatives in equal cells of the scores, in two passes over a table.

    The table is never in memory: the data-frame engine reads it and only the counts come back. What
    the cells hide is bounded, not ignored: pass the counts to
    `karat.ranking.weighted_auc_from_counts`.

    Parameters
    ----------
    source : path, or lazy frame
        Parquet files (a path may hold ``*``), or a lazy frame of polars, DuckDB or another engine
        that narwhals knows. A frame in memory works too.
    label, score : str
        The columns; labels of two classes, and finite scores.
    pos_label : label, optional
        The positive class; by default the larger label.
    cells : int, default 2**20
        Number of cells between the least and the greatest score.

    Returns
    -------
    RocCounts
        ``scores`` are the lower ends of the cells that are not empty.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.LazyFrame({"y": [0, 1, 0, 1], "s": [0.0, 0.4, 0.5, 1.0]})
    >>> counts = scan_roc_counts(table, label="y", score="s", cells=2)
    >>> counts.scores.tolist(), counts.positives.tolist(), counts.negatives.tolist()
    ([0.0, 0.5], [1, 1], [1, 1])
    """
    import narwhals as nw

    number = check_count(cells, "cells")
    table, options = _lazy(source)
    names = table.collect_schema().names()
    for column in (label, score):
        if column not in names:
            raise ColumnError(f"there is no column {column!r}; there are {names}")
    table = table.select(label, score)
    low, high = _range(nw, table, label, score, options)
    classes = _classes(nw, table, label, pos_label, options)
    width = high - low if high > low else 1.0
    cell = ((nw.col(score).cast(nw.Float64) - low) / width * number).floor()
    counted = _collected(
        table.select(
            cell.clip(0, number - 1).cast(nw.Int64).alias("cell"),
            (nw.col(label) == classes[1]).cast(nw.Int64).alias("one"),
        )
        .group_by("cell")
        .agg(nw.col("one").sum().alias("ones"), nw.len().alias("rows")),
        options,
    ).sort("cell")
    ones, rows = (counted[c].to_numpy().astype(np.int64) for c in ("ones", "rows"))
    starts = low + counted["cell"].to_numpy() * (width / number)
    return RocCounts(
        scores=starts,
        positives=ones,
        negatives=rows - ones,
        classes=np.asarray(classes),
        cells=True,
    )


def _lazy(source: Any) -> tuple[Any, dict[str, Any]]:
    """Return a lazy frame, and how it is collected."""
    import narwhals as nw

    if isinstance(source, str | Path):
        polars = require("polars", purpose="scanning a file")
        path = str(source)
        try:
            source = polars.scan_parquet(source)
            source.collect_schema()
        except Exception as error:  # the readers raise many kinds of error for a broken file
            raise DataError(f"{path!r} cannot be scanned as Parquet: {error}") from error
    seen = nw.from_native(source, pass_through=True)
    if not isinstance(seen, nw.DataFrame | nw.LazyFrame):
        raise DataError(
            f"source is a {type(source).__name__}; expected a path of Parquet files or a lazy frame"
        )
    lazy = seen.lazy()
    streams = lazy.implementation.is_polars()
    return lazy, {"engine": "streaming"} if streams else {}


def _collected(lazy: Any, options: dict[str, Any]) -> Any:
    return lazy.collect(**options)


def _range(
    nw: Any, table: Any, label: str, score: str, options: dict[str, Any]
) -> tuple[float, float]:
    """Return the least and the greatest score; refuse what is missing or not finite."""
    kind = table.collect_schema()[score]
    if not kind.is_numeric():
        raise ScoreError(f"column {score!r} holds {kind}; expected numbers")
    value = nw.col(score).cast(nw.Float64)
    seen = _collected(
        table.select(
            value.min().alias("low"),
            value.max().alias("high"),
            # Spark sums no booleans.
            (value.is_null() | ~value.is_finite()).cast(nw.Int64).sum().alias("broken"),
            nw.col(label).is_null().cast(nw.Int64).sum().alias("unlabelled"),
            nw.len().alias("rows"),
        ),
        options,
    )
    low, high, broken, unlabelled, rows = (seen[c].to_list()[0] for c in seen.columns)
    if not rows:
        raise DataError("the table has no rows")
    if unlabelled:
        raise LabelError(f"column {label!r} is missing in {unlabelled:,} rows; drop them first")
    if broken or low is None:
        raise ScoreError(f"column {score!r} is missing or not finite in {broken:,} rows")
    return float(low), float(high)


def _classes(nw: Any, table: Any, label: str, pos_label: Any, options: dict[str, Any]) -> list[Any]:
    """Return the two classes, the positive one last."""
    found = _collected(table.select(nw.col(label)).unique().head(3), options)[label].to_list()
    if len(found) != 2:
        what = "one class only" if len(found) == 1 else "more than two classes"
        raise LabelError(f"column {label!r} holds {what}, such as {sorted(found)}; expected two")
    return list(binary_order(np.array(sorted(found)), pos_label, name=label).tolist())
