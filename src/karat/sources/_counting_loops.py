"""Counting scores in a table of hashes, compiled by numba; import only when there are many."""

import numpy as np

from karat._compiled import compiled
from karat._typing import IntArray


@compiled
def count_scores(
    bits: IntArray, label: IntArray, table: IntArray, state: IntArray, first: int, shift: int
) -> int:
    """Add rows to a table (slots, 2) of the bits of a score and its counts, from row ``first`` on.

    A count holds the rows in its lower 32 bits and those of the second label above. ``state`` is
    the number of scores, of labels, and the labels, of which there are at most three. The slot of a
    score is what ``shift`` leaves of its hash. Returns the row at which the table is half full, or
    the number of rows.
    """
    last, right = np.uint64(len(table) - 1), np.uint64(shift)
    most, used, known = len(table) // 2, state[0], state[1]
    zero, one, two = state[2], state[3], state[4]
    row = first
    while row < len(bits) and used < most:
        key, own, second = bits[row], label[row], np.int64(0)
        if known < 3 and not (
            (known > 0 and own == zero) or (known > 1 and own == one)
        ):  # a label that was not seen yet
            if known == 0:
                zero = own
            elif known == 1:
                one = own
            else:
                two = own
            known += 1
        if known > 1 and own == one:
            second = np.int64(1) << np.int64(32)
        # One line of the cache for each row: the bits and both counts lie side by side.
        place = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> right
        while table[place, 1] != 0 and table[place, 0] != key:
            place = (place + np.uint64(1)) & last
        if table[place, 1] == 0:
            table[place, 0] = key
            used += 1
        table[place, 1] += 1 + second
        row += 1
    state[0], state[1], state[2], state[3], state[4] = used, known, zero, one, two
    return row


@compiled
def count_cells(
    bits: IntArray, kind: IntArray, table: IntArray, state: IntArray, first: int, shift: int
) -> int:
    """Add rows to a table (slots, 2 + kinds): the bits of a score, its rows, those of each kind.

    ``state`` is the number of scores; see `count_scores` for the rest.
    """
    last, right = np.uint64(len(table) - 1), np.uint64(shift)
    most, used = len(table) // 2, state[0]
    row = first
    while row < len(bits) and used < most:
        key = bits[row]
        place = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> right
        while table[place, 1] != 0 and table[place, 0] != key:
            place = (place + np.uint64(1)) & last
        if table[place, 1] == 0:
            table[place, 0] = key
            used += 1
        table[place, 1] += 1
        table[place, 2 + kind[row]] += 1
        row += 1
    state[0] = used
    return row


@compiled
def moved(table: IntArray, larger: IntArray, shift: int) -> None:
    """Put the scores of a table into a larger one."""
    last, right = np.uint64(len(larger) - 1), np.uint64(shift)
    for i in range(len(table)):
        if table[i, 1] == 0:
            continue
        place = (np.uint64(table[i, 0]) * np.uint64(0x9E3779B97F4A7C15)) >> right
        while larger[place, 1] != 0:
            place = (place + np.uint64(1)) & last
        larger[place] = table[i]
