"""Follow the slope of any smooth function over mixtures."""

import numpy as np

from karat._typing import FloatArray
from karat.decisions.solvers._columns import Columns
from karat.decisions.solvers._corrective import Smooth
from karat.decisions.solvers._polyhedral import Solution

__all__ = ["follow"]

# Lengths of a step, as shares of the way to the rule: fine where the first steps are short.
_TRIED = np.concatenate([np.geomspace(1e-4, 0.1, 13), np.linspace(0.125, 1.0, 15)])
# Where there is no slope (a class that is never predicted), one is taken this far inside.
_INSIDE = (0.0, 1e-3, 0.1, 0.5)


def follow(
    function: Smooth, columns: Columns, *, tol: float = 1e-9, max_rounds: int = 400
) -> Solution:
    """Go from the best single rule to the rule that the slope points at, as far as is best.

    Frank & Wolfe (1956). The gap is of the linear approximation: it bounds what can be gained only
    if the function is concave.
    """
    shares = _best_corner(function, columns)
    values: list[float] = []
    gaps: list[float] = []
    for done in range(1, max_rounds + 1):
        point = np.sum([s @ p for s, p in zip(shares, columns.points, strict=True)], axis=0)
        value, slope = float(function.values(point[None])[0]), _slope(function, columns, point)
        (reached,), _ = columns.look(slope[None])
        values.append(value)
        gaps.append(max(float(reached - slope @ point), 0.0))
        if gaps[-1] <= tol or done == max_rounds:
            break
        shares = [
            np.append(s, np.zeros(len(p) - len(s)))
            for s, p in zip(shares, columns.points, strict=True)
        ]
        corner = [
            np.eye(len(p))[i] for p, i in zip(columns.points, columns.best(slope), strict=True)
        ]
        end = np.sum([s @ p for s, p in zip(corner, columns.points, strict=True)], axis=0)
        found = function.values(point + _TRIED[:, None] * (end - point))
        step = float(_TRIED[int(np.nanargmax(found))])
        if not np.nanmax(found) > value + 1e-15:
            break
        shares = [(1 - step) * s + step * c for s, c in zip(shares, corner, strict=True)]
    return Solution(values[-1], gaps[-1], shares, point, np.empty(0), slope, values, gaps)


def _best_corner(function: Smooth, columns: Columns) -> list[FloatArray]:
    """Return the shares of the known rule of greatest value, the same column in every block."""
    n = min(len(p) for p in columns.points)
    corners = np.sum([p[:n] for p in columns.points], axis=0)
    best = int(np.nanargmax(function.values(corners)))
    return [np.eye(len(p))[best] for p in columns.points]


def _slope(function: Smooth, columns: Columns, point: FloatArray) -> FloatArray:
    middle = np.sum([p.mean(axis=0) for p in columns.points], axis=0)
    for inside in _INSIDE:
        slope = function.slopes(((1 - inside) * point + inside * middle)[None])[0]
        if np.isfinite(slope).all():
            return np.asarray(slope)
    return np.zeros(len(point))
