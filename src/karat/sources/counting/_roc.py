"""Positives and negatives per score: exactly up to ten million scores, in cells beyond."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray
from karat.exceptions import LabelError, ScoreError
from karat.sources.counting._grouped import Grouped, RowWeight, check_weight_column, grouped
from karat.sources.counting._hashed import hashed_scores
from karat.sources.engines import about_distinct, batches, collect, engine_errors, engine_of
from karat.statistics import RocCounts, roc_counts, scan_roc_counts

__all__ = ["MOST_SCORES", "roc_counts_of"]

_ONES, _ALL, _SQUARE = "__karat_ones", "__karat_all", "__karat_square"
_SQUARE_ONES = "__karat_square_ones"
MOST_SCORES = 10_000_000  # distinct scores that are counted one by one


def roc_counts_of(
    lazy: Any,
    label: str,
    score: str,
    *,
    by: str | None,
    weight: RowWeight | None,
    pos_label: Any,
    classes: Column | None,
    cells: int | None,
) -> dict[Any, RocCounts]:
    """Return the counts of each group by its name; all rows under None where there is no group."""
    _check_numbers(lazy, score)
    if cells is None and by is None and weight is None:
        counted = _in_batches(lazy, label, score, pos_label, classes)
        if counted is not None:
            return {None: counted}
    found = grouped(lazy, [label])
    if cells is None and by is None and weight is None and _too_many(lazy, found, score):
        cells = 1 << 20
    if cells is not None:
        counted = scan_roc_counts(
            lazy.to_native(), label=label, score=score, pos_label=pos_label, cells=cells
        )
        return {None: counted}
    order = _order(found.require(label, "label"), pos_label, classes)
    sums = _by_score(lazy, label, score, by, weight, order[1].item())
    if by is None:
        return {None: _counted(sums, score, order)}
    _refuse_nulls(sums, by)
    return {
        name: _counted(sums.filter(sums[by] == name), score, order)
        for name in sums[by].unique().sort().to_list()
    }


def _order(labels: Any, pos_label: Any, classes: Column | None) -> AnyArray:
    """Return the negative and the positive class, by the checks of `roc_counts`."""
    return roc_counts(labels, np.zeros(len(labels)), pos_label=pos_label, classes=classes).classes


def _in_batches(
    lazy: Any, label: str, score: str, pos_label: Any, classes: Column | None
) -> RocCounts | None:
    """Return the counts of rows that are in this process, in one pass; None where that cannot be.

    Labels that are whole numbers or truth values are told apart in the same pass.
    """
    import narwhals as nw

    kind = lazy.collect_schema()[label]
    if not (kind.is_integer() or kind == nw.Boolean) or kind == nw.UInt64:
        return None
    value = nw.col(label).cast(nw.Int64), nw.col(score).cast(nw.Float64)
    rows = batches(lazy.select(*value))
    found = None if rows is None else hashed_scores(rows, label, score, MOST_SCORES)
    if found is None:
        return None
    labels = found.labels.astype(bool) if kind == nw.Boolean else found.labels
    order = _order(labels, pos_label, classes)
    ones = found.seconds
    if len(labels) == 1 or labels[1] != order[1]:
        ones = found.rows - ones if labels[0] == order[1] else np.zeros_like(found.rows)
    return _sorted(found.scores, ones, found.rows, score, order, None)


def _by_score(
    lazy: Any, label: str, score: str, by: str | None, weight: RowWeight | None, positive: Any
) -> Any:
    """Return rows and positives, or their weights, of each score (and group), ascending."""
    import narwhals as nw

    if weight is not None:
        check_weight_column(lazy, weight)
    with engine_errors(engine_of(lazy)):
        # Cast before the groups are made: engines hash whole numbers and fractions differently.
        columns = [nw.col(score).cast(nw.Float64)]
        one = nw.col(label) == positive
        kind: Any = nw.Int64
        if weight is None:
            columns.append(one.cast(nw.Int64).alias(_ONES))
            sums = [nw.col(_ONES).sum(), nw.len().alias(_ALL)]
        else:
            kind, mass = nw.Float64, nw.col(weight.column).cast(nw.Float64)
            ones = one.cast(nw.Float64) * mass
            columns += [ones.alias(_ONES), mass.alias(_ALL)]
            sums = [nw.col(_ONES).sum(), nw.col(_ALL).sum()]
            if weight.important:
                columns += [(ones * mass).alias(_SQUARE_ONES), (mass * mass).alias(_SQUARE)]
                sums += [nw.col(_SQUARE_ONES).sum(), nw.col(_SQUARE).sum()]
        keys = [score] if by is None else [score, by]
        table = lazy.select(*columns, *([] if by is None else [nw.col(by)]))
        # Sums of whole numbers are of types of their own on DuckDB.
        return collect(
            table.group_by(*keys)
            .agg(*sums)
            .with_columns(nw.col(_ONES).cast(kind), nw.col(_ALL).cast(kind))
        )


def _refuse_nulls(found: Any, by: str) -> None:
    absent = found.filter(found[by].is_null())[_ALL].sum()
    if absent:
        raise LabelError(f"the group column {by!r} is missing in {absent:,.6g} rows; fill them in")


def _counted(found: Any, score: str, order: AnyArray) -> RocCounts:
    values, ones, rows = (found[name].to_numpy() for name in (score, _ONES, _ALL))
    squares = None
    if _SQUARE in found.columns:
        of_ones, every = float(found[_SQUARE_ONES].sum()), float(found[_SQUARE].sum())
        squares = np.array([max(every - of_ones, 0.0), of_ones])
    return _sorted(values, ones, rows, score, order, squares)


def _sorted(
    values: FloatArray,
    ones: AnyArray,
    rows: AnyArray,
    score: str,
    order: AnyArray,
    squares: FloatArray | None,
) -> RocCounts:
    """Return the counts in the order of the scores; refuse scores that are none."""
    broken = ~np.isfinite(values)
    if broken.any():
        raise ScoreError(
            f"the score column {score!r} is missing or not finite in {rows[broken].sum():,.6g} of "
            f"{rows.sum():,.6g} rows; drop them"
        )
    place = np.argsort(values)
    values, ones, rows = values[place], ones[place], rows[place]
    if len(values) > 1 and (values[1:] == values[:-1]).any():  # 0 and −0 are one score
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
        values = values[starts]
        ones, rows = (np.add.reduceat(x, starts) for x in (ones, rows))
    if squares is None and rows.dtype.kind == "f":  # frequencies
        ones, rows = (np.rint(x).astype(np.int64) for x in (ones, rows))
    return RocCounts(
        scores=values, positives=ones, negatives=rows - ones, classes=order, squares=squares
    )


def _check_numbers(lazy: Any, score: str) -> None:
    kind = lazy.collect_schema()[score]
    if not kind.is_numeric():
        raise ScoreError(f"the score column {score!r} holds {kind}; expected numbers")


def _too_many(lazy: Any, found: Grouped, score: str) -> bool:
    """Return whether a table has more distinct scores than are counted one by one."""
    return bool(found.counts.sum() > MOST_SCORES) and about_distinct(lazy, score) > MOST_SCORES
