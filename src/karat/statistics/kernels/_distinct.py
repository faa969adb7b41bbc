"""Distinct rows of codes and distinct scores."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["distinct_rows", "distinct_votes", "recode", "tie_groups"]

# Up to this many cells a table of counts is cheaper than a sort.
_TABLE = 1 << 24


def distinct_rows(
    codes: IntArray, n_values: int, lowest: int = -1, *, table: int = _TABLE
) -> tuple[IntArray, IntArray]:
    """Return the id of each row and the first row of each id; ids follow the order of the rows.

    ``codes`` holds ``n_values`` numbers from ``lowest`` on. A row is read as a number in base
    ``n_values``, most significant column first; before the number would overflow it is replaced by
    its rank. Numbers are ranked by a table of at most ``table`` cells, and by a sort beyond that.
    """
    key: IntArray = np.zeros(len(codes), dtype=np.int64)
    span = 1
    for j in range(codes.shape[1]):
        if span > (np.iinfo(np.int64).max // n_values):
            key, _ = _rank(key, span, table)
            span = int(key.max()) + 1
        key *= n_values
        key += codes[:, j]
        key -= lowest
        span *= n_values
    return _rank(key, span, table)


def distinct_votes(
    codes: IntArray, k: int, *, complete: bool | None = None
) -> tuple[IntArray, IntArray]:
    """Return `distinct_rows` of votes for k classes, -1 (abstained) and -2 (not asked).

    ``complete`` says that there is no -2; by default the codes are looked through.
    """
    if complete is None:
        complete = not codes.size or int(codes.min()) >= -1
    return distinct_rows(codes, k + 1) if complete else distinct_rows(codes, k + 2, -2)


def recode(codes: IntArray, places: IntArray) -> IntArray:
    """Return votes with class c written as ``places[c]``; -1 and -2 stay as they are."""
    # A negative code counts from the end of the table.
    return np.asarray(np.append(places, [-2, -1])[codes])


def _rank(key: IntArray, span: int, table: int) -> tuple[IntArray, IntArray]:
    """Return the rank of each key among the distinct ones, and the first row of each rank."""
    if span > min(table, 16 * len(key)):  # a table much larger than the data costs more
        _, first, rank = np.unique(key, return_index=True, return_inverse=True)
        return rank, first
    first_of = np.full(span, -1, dtype=np.intp)
    first_of[key[::-1]] = np.arange(len(key) - 1, -1, -1)  # the first row is written last
    present = first_of >= 0
    rank_of = np.cumsum(present) - 1
    return rank_of[key], first_of[present]


def tie_groups(score: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the id of each score among the distinct ones, and these, ascending."""
    distinct, ids = np.unique(score, return_inverse=True)
    return ids, distinct
