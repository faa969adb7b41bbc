"""Two scores at once, in cells."""

from collections.abc import Sequence

import numpy as np

from karat._frames import keeps_kind
from karat._validate import check_count, refuse_option
from karat.exceptions import DataError
from karat.sources._source import Source
from karat.sources.counting import joint_counts_of
from karat.statistics import JointRocCounts, RocCounts

__all__ = ["joint_roc_counts"]


@keeps_kind
def joint_roc_counts(
    source: Source,
    first: RocCounts,
    second: RocCounts,
    *,
    names: tuple[str, str],
    cells: int = 64,
) -> JointRocCounts:
    """Count two scores of a table at once, in cells of about equally many rows, in one scan.

    It is what a paired comparison needs beyond the counts of each score: how two models err
    together.

    Parameters
    ----------
    source : Source
        From `scan`, with a column of the role ``label``.
    first, second : RocCounts
        What ``source.roc_counts`` gave for each score.
    names : tuple of str
        The columns of the two scores.
    cells : int, default 64
        Cells for each class and score; more of them leave less to be bounded.

    Returns
    -------
    JointRocCounts
        For `karat.ranking.compare_auc_from_counts`.

    Examples
    --------
    >>> import polars as pl
    >>> from karat.sources import scan
    >>> table = pl.DataFrame({"y": [0, 1, 0, 1], "a": [1, 2, 3, 4], "b": [1, 3, 2, 4]})
    >>> data = scan(table).roles(label="y", score=["a", "b"])
    >>> counts = [data.roc_counts(name) for name in ("a", "b")]
    >>> joint_roc_counts(data, *counts, names=("a", "b"), cells=2).n
    4.0
    """
    number = check_count(cells, "cells")
    if not isinstance(source, Source):
        raise DataError(f"source is a {type(source).__name__}; expected a karat.scan")
    listed = list(names) if isinstance(names, Sequence) and not isinstance(names, str) else []
    if len(listed) != 2 or listed[0] == listed[1]:
        refuse_option(names, "names", "the columns of two scores, such as ('a', 'b')")
    source.chosen.refuse("weight", "joint counts are of rows; count both scores without weights")
    for name, counts in zip(listed, (first, second), strict=True):
        _check_counts(name, counts)
    if not np.array_equal(first.classes, second.classes):
        raise DataError(
            f"the counts of {listed[0]!r} have the classes {first.classes.tolist()} and those of "
            f"{listed[1]!r} {second.classes.tolist()}; count both with the same pos_label"
        )
    label = source.chosen.one("label", None)
    columns = [source.chosen.one("score", name) for name in listed]
    joint = joint_counts_of(
        source.frame, label, dict(zip(columns, (first, second), strict=True)), number
    )
    joint.check_margins({columns[0]: first, columns[1]: second})
    return joint


def _check_counts(name: str, counts: object) -> None:
    """Refuse counts of a score that are no exact counts of rows of both classes."""
    if not isinstance(counts, RocCounts) or counts.cells or counts.squares is not None:
        raise DataError(
            f"the counts of {name!r} are no exact counts of rows; expected source.roc_counts"
        )
    if not counts.totals.all():
        raise DataError(f"the counts of {name!r} hold one class only; expected rows of two")
