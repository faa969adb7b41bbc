"""Positives and negatives per score: exactly up to ten million scores, in cells beyond."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import Column
from karat.exceptions import LabelError, ScoreError
from karat.sources.counting._grouped import Grouped, grouped
from karat.sources.engines import collect
from karat.statistics import JointRocCounts, RocCounts, roc_counts, scan_roc_counts

__all__ = ["MOST_SCORES", "joint_counts_of", "roc_counts_of"]

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
    keys = [label, score] if by is None else [label, score, by]
    found = grouped(lazy, keys, weight=weight)
    if classes is None:
        seen = found.require(label, "label").unique().sort()
        if len(seen) == 2:
            classes = seen.to_list()  # a group of one class has both classes too
    if by is None:
        return {None: _counted(found, label, score, pos_label, classes)}
    groups = found.require(by, "group")
    parts = {}
    for name in groups.unique().sort().to_list():
        here = (groups == name).to_numpy()
        part = Grouped(found.rows.filter(here), found.counts[here])
        parts[name] = _counted(part, label, score, pos_label, classes)
    return parts


def _counted(
    found: Grouped, label: str, score: str, pos_label: Any, classes: Column | None
) -> RocCounts:
    values = found.rows[score].to_numpy()
    broken = ~np.isfinite(np.asarray(values, dtype=np.float64))
    if broken.any():
        raise ScoreError(
            f"the score column {score!r} is missing or not finite in "
            f"{found.counts[broken].sum():,.6g} of {found.counts.sum():,.6g} rows; drop them"
        )
    counted = roc_counts(
        found.require(label, "label"), values, sample_weight=found.counts, pos_label=pos_label,
        classes=classes,
    )  # fmt: skip
    if not np.issubdtype(found.counts.dtype, np.integer):
        return counted
    return replace(
        counted,
        positives=np.rint(counted.positives).astype(np.int64),
        negatives=np.rint(counted.negatives).astype(np.int64),
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
