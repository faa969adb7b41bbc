"""Maximise a concave function that is infinitely steep at the edge of what is attainable.

A power mean of recalls is so where a class is never found. With ε of a mixture m of all rules
added, ``f_ε(x) = f((1−ε)x + εm)`` has slopes everywhere, is attained, and since f is concave its
maximum is at most ``ε (max f − f(m))`` below that of f.
"""

import numpy as np

from karat._typing import FloatArray
from karat.decisions.solvers._columns import Columns
from karat.decisions.solvers._corrective import Smooth, climb
from karat.decisions.solvers._polyhedral import Solution

__all__ = ["climb_inside", "is_steep"]

_INSIDE = 1e-9  # ε


def is_steep(function: Smooth, columns: Columns) -> bool:
    """Whether the slope is infinite at a rule that is not among the worst.

    A search never goes to the worst ones, so that it need not mind their slope.
    """
    n = min(map(len, columns.points))
    points = np.sum([some[:n] for some in columns.points], axis=0)
    values, slopes = function.values(points), function.slopes(points)
    steep = ~np.isfinite(slopes).all(axis=1)
    return bool(steep.any() and values[steep].max() > values.min())


def climb_inside(function: Smooth, columns: Columns, *, tol: float, max_rounds: int) -> Solution:
    """Maximise the function to a gap of ``tol``, with a little of every known rule in the mixture.

    That little is left out in the end unless the gap would exceed ``tol`` without it.
    """
    known = [len(points) for points in columns.points]
    middle = np.sum([points.mean(axis=0) for points in columns.points], axis=0)

    def inside(some: FloatArray) -> FloatArray:
        return np.asarray((1.0 - _INSIDE) * some + _INSIDE * middle)

    moved = Smooth(
        lambda some: function.values(inside(some)),
        lambda some: (1.0 - _INSIDE) * function.slopes(inside(some)),
    )
    found = climb(moved, columns, tol=tol, max_rounds=max_rounds)
    least = float(function.values(middle[None])[0])
    lost = _INSIDE / (1.0 - _INSIDE) * max(found.value + found.gap - least, 0.0)
    most = found.value + found.gap + lost
    value = float(function.values(found.point[None])[0])
    if most - value <= max(tol, found.gap + lost):
        return found._replace(value=value, gap=max(most - value, 0.0))
    shares = [(1.0 - _INSIDE) * share for share in found.shares]
    for share, n in zip(shares, known, strict=True):
        share[:n] += _INSIDE / n
    return found._replace(gap=most - found.value, shares=shares, point=inside(found.point))
