"""Positives and negatives per score in one pass over the rows, in a table of hashes."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.exceptions import EmptyDataError, LabelError

__all__ = ["HashedScores", "add_rows", "hashed_scores"]

FEW = 200_000  # rows up to which NumPy sorts: importing numba takes longer
_SLOTS = 1 << 20
_MOST_ROWS = 2**31 - 1  # of which one count can hold all


class HashedScores(NamedTuple):
    """Rows at each score, how many of them have the second label, and the labels in any order."""

    scores: FloatArray
    seconds: IntArray
    rows: IntArray
    labels: IntArray


def hashed_scores(batches: Iterator[Any], label: str, score: str, most: int) -> HashedScores | None:
    """Count batches of whole labels and scores; None where there are more than ``most`` scores.

    Labels are at most three: more than two are refused elsewhere, and then counts are not used.
    """
    waiting: list[tuple[IntArray, IntArray]] = []
    table: IntArray = np.zeros((_SLOTS, 2), dtype=np.int64)
    state = np.zeros(5, dtype=np.int64)
    total = absent = 0
    for batch in batches:
        absent += batch[label].null_count()
        values = batch[score].to_numpy() + 0.0  # −0 becomes 0, and a null is NaN
        codes = (batch[label].fill_null(0) if absent else batch[label]).to_numpy()
        total += len(values)
        waiting.append((values.view(np.int64), codes.astype(np.int64, copy=False)))
        if total > _MOST_ROWS:
            return None
        if total > FEW:
            while waiting:
                table = add_rows(*waiting.pop(0), table, state)
            if state[0] > most:
                return None
    if not total:
        raise EmptyDataError("the table has no rows; pass at least one")
    if absent:
        raise LabelError(
            f"the label column {label!r} is missing in {absent:,} of {total:,} rows; drop them, or "
            "fill them in"
        )
    if waiting:
        return _sorted(*(np.concatenate(parts) for parts in zip(*waiting, strict=True)))
    used = table[table[:, 1] != 0]
    seconds, rows = used[:, 1] >> 32, used[:, 1] & 0xFFFFFFFF
    return HashedScores(used[:, 0].copy().view(np.float64), seconds, rows, state[2 : 2 + state[1]])


def add_rows(bits: IntArray, codes: IntArray, table: IntArray, state: IntArray) -> IntArray:
    """Return the table with more rows, twice as large where it was half full."""
    from karat.sources.counting._loops import count_scores, moved

    done = 0
    while (done := count_scores(bits, codes, table, state, done, _shift(table))) < len(bits):
        larger = np.zeros((2 * len(table), 2), dtype=np.int64)
        moved(table, larger, _shift(larger))
        table = larger
    return table


def _shift(table: IntArray) -> int:
    """Return the bits of a hash that are dropped: the upper ones are the slot."""
    return 65 - len(table).bit_length()


def _sorted(bits: IntArray, codes: IntArray) -> HashedScores:
    """Return the same of a few rows, by sorting."""
    labels = np.unique(codes)
    distinct, place = np.unique(bits, return_inverse=True)
    second = labels[1] if len(labels) > 1 else labels[0] + 1
    seconds = np.bincount(place[codes == second], minlength=len(distinct))
    rows = np.bincount(place, minlength=len(distinct))
    return HashedScores(
        distinct.view(np.float64), seconds.astype(np.int64), rows.astype(np.int64), labels
    )
