"""Two scores at once, in cells."""

from karat._frames import keeps_kind
from karat._validate import check_count, check_same_length
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
    check_same_length(names=names, scores=(first, second))
    for name, counts in zip(names, (first, second), strict=True):
        if not isinstance(counts, RocCounts) or counts.cells:
            raise DataError(f"the counts of {name!r} are no exact counts of source.roc_counts")
    label = source.chosen.one("label", None)
    columns = [source.chosen.one("score", name) for name in names]
    return joint_counts_of(
        source.frame, label, dict(zip(columns, (first, second), strict=True)), number
    )
