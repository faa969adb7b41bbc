"""Two scores at once, in cells of about equally many rows."""

from typing import Any

import numpy as np

from karat._typing import AnyArray
from karat.exceptions import DataError
from karat.sources.counting._grouped import grouped
from karat.statistics import JointRocCounts, RocCounts

__all__ = ["joint_counts_of"]


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
    labels = found.require(label, "label")
    other = [value for value in labels.unique().to_list() if value not in classes.tolist()]
    if other:
        raise DataError(
            f"the label column {label!r} holds {other[0]!r}, and the counts of each score have the "
            f"classes {classes.tolist()}; count the same rows"
        )
    counts = np.zeros((2, len(edges[0]) + 1, len(edges[1]) + 1), dtype=np.int64)
    code = (labels == classes[1].item()).cast(int).to_numpy()
    place = tuple(found.rows[f"__cell_{i}"].to_numpy() for i in (0, 1))
    np.add.at(counts, (code, *place), found.counts)
    first, second = scores
    return JointRocCounts(
        counts=counts, first_edges=edges[0], second_edges=edges[1], names=(first, second),
        classes=classes,
    )  # fmt: skip


def _edges(counts: RocCounts, cells: int) -> AnyArray:
    """Return scores at which cells begin, so that each class has about as many rows in each."""
    quantiles = np.arange(1, cells) / cells
    found = []
    for part in (counts.positives, counts.negatives):
        share = np.cumsum(part) / part.sum()
        found.append(counts.scores[np.searchsorted(share, quantiles)])
    return np.unique(np.concatenate(found))[1 if len(counts.scores) > 1 else 0 :]
