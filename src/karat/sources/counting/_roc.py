"""Positives and negatives per score: exactly up to ten million scores, in cells beyond."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, Column
from karat.exceptions import LabelError, ScoreError
from karat.sources.counting._grouped import check_weight_column, grouped
from karat.sources.engines import collect, engine_errors, engine_of
from karat.statistics import JointRocCounts, RocCounts, roc_counts, scan_roc_counts

__all__ = ["MOST_SCORES", "joint_counts_of", "roc_counts_of"]

_ONES, _ALL = "__karat_ones", "__karat_all"
MOST_SCORES = 10_000_000  # distinct scores that are counted one by one


def roc_counts_of(
    lazy: Any,
    label: str,
    score: str,
    *,
    by: str | None,
    weight: str | None,
    pos_label: Any,
    classes: Column | None,
    cells: int | None,
) -> dict[Any, RocCounts]:
    """Return the counts of each group by its name; all rows under None where there is no group."""
    _check_numbers(lazy, score)
    if cells is None and by is None and weight is None and _too_many(lazy, score):
        cells = 1 << 20
    if cells is not None:
        counted = scan_roc_counts(
            lazy.to_native(), label=label, score=score, pos_label=pos_label, cells=cells
        )
        return {None: counted}
    order = _classes(lazy, label, pos_label, classes)
    found = _by_score(lazy, label, score, by, weight, order[1].item())
    if by is None:
        return {None: _counted(found, score, order)}
    _refuse_nulls(found, by)
    return {
        name: _counted(found.filter(found[by] == name), score, order)
        for name in found[by].unique().sort().to_list()
    }


def _classes(lazy: Any, label: str, pos_label: Any, classes: Column | None) -> AnyArray:
    """Return the negative and the positive class, by the checks of `roc_counts`."""
    found = grouped(lazy, [label])
    labels = found.require(label, "label")
    return roc_counts(labels, np.zeros(len(labels)), pos_label=pos_label, classes=classes).classes


def _by_score(
    lazy: Any, label: str, score: str, by: str | None, weight: str | None, positive: Any
) -> Any:
    """Return rows and positives, or their weights, of each score (and group), ascending."""
    import narwhals as nw

    if weight is not None:
        check_weight_column(lazy, weight)
    with engine_errors(engine_of(lazy)):
        one = (nw.col(label) == positive).cast(nw.Int64)
        mass = nw.lit(1).cast(nw.Int64) if weight is None else nw.col(weight).cast(nw.Float64)
        # Cast before the groups are made: engines hash whole numbers and fractions differently.
        columns = [nw.col(score).cast(nw.Float64), (one * mass).alias(_ONES), mass.alias(_ALL)]
        keys = [score] if by is None else [score, by]
        table = lazy.select(*columns, *([] if by is None else [nw.col(by)]))
        sums = table.group_by(*keys).agg(nw.col(_ONES).sum(), nw.col(_ALL).sum())
        # Sums of whole numbers are of types of their own on DuckDB.
        kind = nw.Int64 if weight is None else nw.Float64
        return collect(sums.with_columns(nw.col(_ONES).cast(kind), nw.col(_ALL).cast(kind)))


def _refuse_nulls(found: Any, by: str) -> None:
    absent = found.filter(found[by].is_null())[_ALL].sum()
    if absent:
        raise LabelError(f"the group column {by!r} is missing in {absent:,.6g} rows; fill them in")


def _counted(found: Any, score: str, order: AnyArray) -> RocCounts:
    values, ones, rows = (found[name].to_numpy() for name in (score, _ONES, _ALL))
    broken = ~np.isfinite(values)
    if broken.any():
        raise ScoreError(
            f"the score column {score!r} is missing or not finite in {rows[broken].sum():,.6g} of "
            f"{rows.sum():,.6g} rows; drop them"
        )
    place = np.argsort(values)
    values = values[place]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))  # 0 and −0 are one score
    positives, every = (np.add.reduceat(x[place], starts) for x in (ones, rows))
    return RocCounts(
        scores=values[starts], positives=positives, negatives=every - positives, classes=order
    )


def _check_numbers(lazy: Any, score: str) -> None:
    kind = lazy.collect_schema()[score]
    if not kind.is_numeric():
        raise ScoreError(f"the score column {score!r} holds {kind}; expected numbers")


def _too_many(lazy: Any, score: str) -> bool:
    """Return whether a table has more distinct scores than are counted one by one."""
    import narwhals as nw

    (rows,) = collect(lazy.select(nw.len().alias("rows")))["rows"].to_list()
    if not rows:
        raise LabelError("the table has no rows; pass at least one")
    if rows <= MOST_SCORES:
        return False
    (distinct,) = collect(lazy.select(nw.col(score).n_unique().alias("n")))["n"].to_list()
    return bool(distinct > MOST_SCORES)


def joint_counts_of(
    lazy: Any, label: str, scores: dict[str, RocCounts], cells: int
) -> JointRocCounts:
    """Return the counts of two scores in cells that hold about equally many rows."""
    import narwhals as nw

    edges = [_edges(counts, cells) for counts in scores.values()]
    classes = next(iter(scores.values())).classes
    named = []
    for i, (name, at) in enumerate(zip(scores, edges, strict=True)):
        value = nw.col(name).cast(nw.Float64)
        steps = [(value >= float(edge)).cast(nw.Int64) for edge in at]
        named.append((nw.sum_horizontal(*steps) if steps else nw.lit(0)).alias(f"__cell_{i}"))
    found = grouped(lazy.select(nw.col(label), *named), [label, "__cell_0", "__cell_1"])
    counts = np.zeros((2, len(edges[0]) + 1, len(edges[1]) + 1), dtype=np.int64)
    code = (found.rows[label] == classes[1].item()).cast(int).to_numpy()
    place = tuple(found.rows[f"__cell_{i}"].to_numpy() for i in (0, 1))
    np.add.at(counts, (code, *place), found.counts)
    first, second = scores
    return JointRocCounts(
        counts=counts, first_edges=edges[0], second_edges=edges[1], names=(first, second),
        classes=classes,
    )  # fmt: skip


def _edges(counts: RocCounts, cells: int) -> Any:
    """Return scores at which cells begin, so that each class has about as many rows in each."""
    quantiles = np.arange(1, cells) / cells
    found = []
    for part in (counts.positives, counts.negatives):
        share = np.cumsum(part) / part.sum()
        found.append(counts.scores[np.searchsorted(share, quantiles)])
    return np.unique(np.concatenate(found))[1 if len(counts.scores) > 1 else 0 :]
