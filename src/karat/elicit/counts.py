"""Confusions as whole numbers of cases, the way people are shown them.

``whole_counts`` rounds both sides of a question at once, so that every number is off by less than
one case and every total that people compare adds up; ``same_counts`` says whether two sides come
out alike, so that nobody is asked to choose between them.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import ceil, floor, inf

import numpy as np

from karat._typing import FloatArray, IntArray


def same_counts(first: FloatArray, second: FloatArray, out_of: int) -> bool:
    """Whether confusions (groups, k, k) have the same whole counts out of ``out_of`` each.

    Most pairs differ by more than rounding can hide, which is seen before anything is rounded.
    """
    one, other = as_cases(first, out_of), as_cases(second, out_of)
    if (np.ceil(one) < np.floor(other)).any() or (np.ceil(other) < np.floor(one)).any():
        return False
    rounded = (whole_counts(a, b) for a, b in zip(one, other, strict=True))
    return all(np.array_equal(a, b) for a, b in rounded)


# --- Controlled rounding of two confusions that share the totals of their true classes.

# How much ties between roundings are broken by: far below a difference that anyone would see, far
# above what the solver takes for equal.
_TIE_BREAK = 1e-4


def as_cases(confusions: FloatArray, out_of: int) -> FloatArray:
    """Return confusions (..., k, k) as numbers of cases out of ``out_of``, not yet rounded."""
    tables = np.maximum(confusions, 0.0)
    cases = tables * (out_of / tables.sum(axis=(-2, -1), keepdims=True))
    return np.asarray(_snapped(cases))


def whole_counts(first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray]:
    """Round two tables of cases (k, k) of the same total to whole numbers.

    Every cell, every row total and every column total becomes the whole number below or above it,
    and the overall total stays. Tables with the same row totals keep them the same. Of all such
    roundings it is the one with the least sum of squared changes; equal tables are rounded equally.

    The rounded cells and totals are a flow through the network ``columns of the first → its rows →
    rows of the second → its columns``, whose bounds are whole numbers and which the tables
    themselves satisfy: a whole flow exists (Cox and Ernst 1982 for one table), and the linear
    program has it as its vertex.
    """
    if np.abs(first.sum(axis=1) - second.sum(axis=1)).max() > _NEAR * max(first.sum(), 1.0):
        return _rounded(first, first)[0], _rounded(second, second)[0]
    return _rounded(first, second)


def _rounded(first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray]:
    if len(first) == 2:  # a program takes a hundred times as long, and people wait for it
        found = rounded_pair(first, second, *_network(2)[1][:4].tolist())
        if found is not None:
            return found
    return _by_program(first, second)


def _by_program(first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray]:
    from scipy.optimize import linprog

    k = len(first)
    cells = np.concatenate([first.ravel(), second.ravel()])
    below = np.floor(cells)
    if (below == cells).all():
        up = np.zeros(len(cells))
    else:
        rows = _snapped((first.sum(axis=1) + second.sum(axis=1)) / 2)
        columns = _snapped(np.concatenate([first.sum(axis=0), second.sum(axis=0)]))
        totals = np.concatenate([rows, columns])
        sums, cost = _network(k)
        known = np.concatenate([below, np.floor(totals)])
        wanted = np.zeros(len(sums))
        wanted[-1] = round(float(first.sum()))
        exact = np.concatenate([cells, totals])
        # Rounding a cell up changes its squared error by 1 − 2·(what is cut off otherwise).
        change = np.where(np.arange(len(exact)) < len(cells), 1.0 - 2.0 * (exact - known), 0.0)
        found = linprog(
            change + cost,
            A_eq=sums,
            b_eq=wanted - sums @ known,
            bounds=np.column_stack([np.zeros(len(exact)), np.ceil(exact) - known]),
            method="highs-ds",
        )
        up = np.rint(found.x[: len(cells)])
    whole = (below + up).astype(np.int64).reshape(2, k, k)
    return whole[0], whole[1]


@lru_cache(maxsize=16)
def _network(k: int) -> tuple[FloatArray, FloatArray]:
    """Return which sums of cells and totals must be 0 or the overall total, and the tie-break.

    Unknowns are the cells of the first table, those of the second, the k row totals that both
    share, the column totals of the first and those of the second.
    """
    size = k * k
    sums = np.zeros((4 * k + 1, 2 * size + 3 * k))
    for side in range(2):
        for i in range(k):
            row, column = sums[2 * k * side + i], sums[2 * k * side + k + i]
            row[side * size + k * i : side * size + k * (i + 1)] = 1.0
            row[2 * size + i] = -1.0
            column[side * size + i : (side + 1) * size : k] = 1.0
            column[2 * size + k * (1 + side) + i] = -1.0
    sums[-1, 2 * size : 2 * size + k] = 1.0
    # The same for both sides, so that equal tables come out equal.
    uneven = np.random.default_rng(k).random(size) * _TIE_BREAK
    cost = np.concatenate([uneven, uneven, np.zeros(3 * k)])
    sums.flags.writeable = cost.flags.writeable = False
    return sums, cost


def _snapped(values: FloatArray) -> FloatArray:
    """Return values of which those that are whole but for rounding are whole."""
    whole = np.rint(values)
    return np.asarray(np.where(np.abs(values - whole) <= _NEAR, whole, values))


# --- Controlled rounding of two tables of two classes, by trying everything.

_NEAR = 1e-6  # counts this near to a whole number are one
Table = tuple[int, int, int, int]


def rounded_pair(
    first: FloatArray, second: FloatArray, *uneven: float
) -> tuple[IntArray, IntArray] | None:
    """Return the rounding of two tables (2, 2) that the program finds; None if there is none.

    Given the totals of the true classes there are four ways to round a table at most: one cell of
    each row says the rest. ``uneven`` breaks ties between cells that are rounded up.
    """
    one, other = first.ravel().tolist(), second.ravel().tolist()
    total = round(sum(one))
    row = (one[0] + one[1] + other[0] + other[1]) / 2
    best, least = None, inf
    for top in _around(row):
        found = [
            min(_tables(cells, top, total - top, uneven), default=None) for cells in (one, other)
        ]
        if found[0] is None or found[1] is None or total - top not in _around(total - row):
            continue
        cost = found[0][0] + found[1][0]
        if cost < least:
            best, least = (found[0][1], found[1][1]), cost
    if best is None:
        return None
    return tuple(np.array(table, dtype=np.int64).reshape(2, 2) for table in best)  # type: ignore[return-value]


def _around(value: float) -> tuple[int, ...]:
    """Return the whole numbers below and above a number, or the one that it is."""
    near = round(value)
    return (near,) if abs(value - near) <= _NEAR else (floor(value), ceil(value))


def _tables(
    cells: list[float], top: int, bottom: int, uneven: tuple[float, ...]
) -> Iterator[tuple[float, Table]]:
    """Yield the roundings of a table with given row totals, with what each costs."""
    left, right = _around(cells[0] + cells[2]), _around(cells[1] + cells[3])
    choices = [_around(cell) for cell in cells]
    for a, c in product(choices[0], choices[2]):
        b, d = top - a, bottom - c
        if b not in choices[1] or d not in choices[3] or a + c not in left or b + d not in right:
            continue
        table = (a, b, c, d)
        cost = 0.0
        for whole, cell, extra in zip(table, cells, uneven, strict=True):
            cut = cell - floor(cell)
            if whole > cell and cut > 0:  # rounded up: see the program for what that changes
                cost += 1.0 - 2.0 * cut + extra
        yield cost, table
