"""Maximise a concave function made of planes over mixtures: a linear program, column by column."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.decisions.solvers._columns import Columns

__all__ = ["Program", "Solution", "solve"]


class Program(NamedTuple):
    """Maximise ``⟨linear, x⟩ + ⟨price, z⟩`` over attainable x and helpers z.

    Subject to ``above_x·x + above_z·z ≤ limit`` and ``same_x·x + same_z·z = target``. Helpers are
    at least 0, or any number if ``free``.
    """

    linear: FloatArray
    price: FloatArray
    above_x: FloatArray | None = None
    above_z: FloatArray | None = None
    limit: FloatArray | None = None
    same_x: FloatArray | None = None
    same_z: FloatArray | None = None
    target: FloatArray | None = None
    free: bool = False
    most: float = np.inf  # a value that cannot be exceeded, if one is known


class Solution(NamedTuple):
    """Where the program is greatest over the columns, and how much more there can be.

    ``slope`` is the direction whose greatest value over all that is attainable proves the gap, and
    ``prices`` are the multipliers of the inequalities that it was made with.
    """

    value: float
    gap: float
    shares: list[FloatArray]  # of each block's columns
    point: FloatArray
    helpers: FloatArray
    slope: FloatArray
    values: list[float]
    gaps: list[float]
    prices: FloatArray | None = None


class _Prices(NamedTuple):
    """Multipliers of the two kinds of constraints."""

    above: FloatArray
    same: FloatArray


def solve(
    program: Program,
    columns: Columns,
    *,
    tol: float = 1e-9,
    share: float = 0.0,
    max_rounds: int = 200,
) -> Solution:
    """Solve the program to a gap of ``tol + share·|value|``; ``columns`` grows by what is found.

    Each round solves it over the known columns, which gives a value that is attained, and asks for
    the best columns at the prices of the constraints, which bounds every value (weak duality).
    Prices swing from round to round, so columns are also looked for at their running average,
    which proves as much as any other prices do (stabilisation; Wentges 1997).
    """
    steady: _Prices | None = None
    bound, values, gaps = program.most, [], []
    slope, proof = program.linear, None
    for _ in range(max_rounds):
        value, shares, helpers, prices = _over_columns(program, columns)
        values.append(value)
        steady = prices if steady is None else _between(steady, prices)
        tried = [prices, _between(steady, prices), steady]
        slopes = np.stack([_slope(program, p) for p in tried])
        reached, grown = columns.look(slopes)
        bounds = [r + _constant(program, p) for r, p in zip(reached, tried, strict=True)]
        at = int(np.argmin(bounds))
        if bounds[at] < bound:
            bound, slope, proof = bounds[at], slopes[at], tried[at].above
        gaps.append(max(bound - value, 0.0))
        if gaps[-1] <= tol + share * abs(value) or not grown:
            break
    point = np.sum([s @ p[: len(s)] for s, p in zip(shares, columns.points, strict=True)], axis=0)
    return Solution(value, gaps[-1], shares, point, helpers, slope, values, gaps, proof)


def _between(a: _Prices, b: _Prices) -> _Prices:
    return _Prices((a.above + b.above) / 2, (a.same + b.same) / 2)


def _slope(program: Program, prices: _Prices) -> FloatArray:
    """Return what one unit of each coordinate of x is worth at the prices."""
    slope = program.linear.copy()
    if program.above_x is not None:
        slope -= prices.above @ program.above_x
    if program.same_x is not None:
        slope -= prices.same @ program.same_x
    return slope


def _constant(program: Program, prices: _Prices) -> float:
    """Return the part of the bound that does not depend on x."""
    total = 0.0
    if program.limit is not None:
        total += float(prices.above @ program.limit)
    if program.target is not None:
        total += float(prices.same @ program.target)
    return total


def _over_columns(
    program: Program, columns: Columns
) -> tuple[float, list[FloatArray], FloatArray, _Prices]:
    from scipy.optimize import linprog

    sizes = [len(points) for points in columns.points]
    everything = np.concatenate(columns.points)
    n, z = len(everything), len(program.price)
    once = np.zeros((len(sizes), n + z))
    once[np.repeat(np.arange(len(sizes)), sizes), np.arange(n)] = 1.0
    same, target = once, np.ones(len(sizes))
    if program.same_x is not None and program.same_z is not None and program.target is not None:
        same = np.vstack([np.hstack([program.same_x @ everything.T, program.same_z]), once])
        target = np.concatenate([program.target, target])
    above = None
    if program.above_x is not None and program.above_z is not None:
        above = np.hstack([program.above_x @ everything.T, program.above_z])
    found = linprog(
        -np.concatenate([everything @ program.linear, program.price]),
        A_ub=above, b_ub=program.limit, A_eq=same, b_eq=target,
        bounds=[(0, None)] * n + [(None if program.free else 0, None)] * z,
        method="highs",
    )  # fmt: skip
    if found.status != 0:
        raise ArithmeticError(f"a linear program over {n} classifiers failed: {found.message}")
    ends = np.cumsum(sizes)[:-1]
    shares = [np.maximum(part, 0.0) for part in np.split(found.x[:n], ends)]
    shares = [part / part.sum() for part in shares]
    n_same = len(target) - len(sizes)
    prices = _Prices(np.maximum(-found.ineqlin.marginals, 0.0), -found.eqlin.marginals[:n_same])
    return -float(found.fun), shares, np.asarray(found.x[n:]), prices
