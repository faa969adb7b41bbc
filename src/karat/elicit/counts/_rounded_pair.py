"""Controlled rounding of two tables of two classes, by trying everything."""

from collections.abc import Iterator
from itertools import product
from math import ceil, floor, inf

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["rounded_pair"]

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
