"""Maximise a smooth concave function over mixtures: Newton steps over the rules found so far.

Frank–Wolfe in its fully corrective form (simplicial decomposition; von Hohenbalken 1977): each
round adds the best rule for the current slope, and then finds the best shares of all rules. The
slope at the current mixture bounds what any classifier could still gain.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.decisions.solvers._columns import Columns
from karat.decisions.solvers._polyhedral import Solution

__all__ = ["Smooth", "climb"]

_MOST_STEPS = 200  # Newton steps in one round
# How far toward each rule slopes are compared to learn how they bend: exact for quadratics.
_REACH = 1e-3
_SHARES = 1e-13  # a smaller share is rounding, and would keep a rule in the mixture


class Smooth(NamedTuple):
    """A function of points (b, d): its values (b,) and its slopes (b, d)."""

    values: Callable[[FloatArray], FloatArray]
    slopes: Callable[[FloatArray], FloatArray]


def climb(
    function: Smooth, columns: Columns, *, tol: float = 1e-9, max_rounds: int = 200
) -> Solution:
    """Maximise the function to a gap of ``tol``; ``columns`` grows by what is found."""
    shares = _first_shares(function, columns)
    values: list[float] = []
    gaps: list[float] = []
    for done in range(1, max_rounds + 1):
        point = _mixed(columns, shares)
        slope = function.slopes(point[None])[0]
        (reached,), grown = columns.look(slope[None])
        values.append(float(function.values(point[None])[0]))
        gaps.append(max(float(reached - slope @ point), 0.0))
        still = len(values) > 1 and not grown and values[-1] - values[-2] <= 1e-15
        if gaps[-1] <= tol or still or done == max_rounds:
            break
        shares = [
            np.append(s, np.zeros(len(p) - len(s)))
            for s, p in zip(shares, columns.points, strict=True)
        ]
        _correct(function, columns, shares, tol)
    return Solution(values[-1], gaps[-1], shares, point, np.empty(0), slope, values, gaps)


def _first_shares(function: Smooth, columns: Columns) -> list[FloatArray]:
    """Return one rule for each block: the best at the slope in the middle of the known ones.

    Where that rule has no slope (a class that it never predicts), a little of all is mixed in.
    """
    middle = [np.full(len(p), 1.0 / len(p)) for p in columns.points]
    picked = columns.best(function.slopes(_mixed(columns, middle)[None])[0])
    corner = [np.eye(len(p))[i] for p, i in zip(columns.points, picked, strict=True)]
    for inside in (0.0, 0.01, 0.1, 1.0):
        shares = [(1 - inside) * c + inside * m for c, m in zip(corner, middle, strict=True)]
        if np.isfinite(function.slopes(_mixed(columns, shares)[None])).all():
            break
    return shares


def _mixed(columns: Columns, shares: list[FloatArray]) -> FloatArray:
    parts = [s @ p[: len(s)] for s, p in zip(shares, columns.points, strict=True)]
    return np.asarray(np.sum(parts, axis=0))


def _correct(function: Smooth, columns: Columns, shares: list[FloatArray], tol: float) -> None:
    """Find the best shares of the known rules, in place.

    Rules with a share, and in each block the best one for the slope, are moved by Newton steps
    that keep the sum of shares of each block; a rule whose share reaches 0 leaves.
    """
    block = np.repeat(np.arange(columns.n_blocks), [len(s) for s in shares])
    points = np.concatenate(columns.points)
    share = np.concatenate(shares)
    moving = share > 0
    for _ in range(_MOST_STEPS):
        at = share @ points
        slope = function.slopes(at[None])[0]
        worth = points @ slope
        joining = _best_of_each(worth, block)
        moving[joining] = True
        gap = float(worth[joining].sum() - share @ worth)
        if gap <= 0.1 * tol:
            break
        if not _step(function, points, block, share, moving, at, worth):
            break
    ends = np.cumsum([len(s) for s in shares])[:-1]
    shares[:] = np.split(share, ends)


def _best_of_each(worth: FloatArray, block: IntArray) -> IntArray:
    starts = np.flatnonzero(np.append(True, np.diff(block) > 0))
    ends = np.append(starts[1:], len(block))
    return np.array([a + int(np.argmax(worth[a:b])) for a, b in zip(starts, ends, strict=True)])


def _step(
    function: Smooth,
    points: FloatArray,
    block: IntArray,
    share: FloatArray,
    moving: BoolArray,
    at: FloatArray,
    worth: FloatArray,
) -> bool:
    """Make one Newton step, as far as no share falls below 0; whether anything was gained."""
    centers = np.zeros((int(block[-1]) + 1, points.shape[1]))
    np.add.at(centers, block, share[:, None] * points)
    while True:
        some = np.flatnonzero(moving)
        ways = points[some] - centers[block[some]]  # from a block's mixture to each of its rules
        way = _newton(function, ways, block[some], at, worth[some])
        stuck = (share[some] == 0) & (way < 0)
        if not stuck.any():
            break
        moving[some[stuck]] = False
    if not _moved(function, points, share, some, way, at, float(way @ worth[some])):
        everyone, way = np.arange(len(share)), _exchange(block, share, worth)
        if not _moved(function, points, share, everyone, way, at, float(way @ worth)):
            return False
    share[share < _SHARES] = 0.0
    share /= np.bincount(block, share)[block]
    moving[:] = share > 0
    return True


def _moved(
    function: Smooth,
    points: FloatArray,
    share: FloatArray,
    some: IntArray,
    way: FloatArray,
    at: FloatArray,
    rise: float,
) -> bool:
    """Go along a way as far as no share falls below 0 and enough is gained; whether any was."""
    if not rise > 0:
        return False
    falling = way < -1e-16
    longest = np.min(share[some][falling] / -way[falling]) if falling.any() else np.inf
    before, length = float(function.values(at[None])[0]), min(1.0, float(longest))
    direction = way @ points[some]
    for _ in range(50):
        gained = float(function.values((at + length * direction)[None])[0]) - before
        if gained >= 0.25 * length * rise and gained > 0:
            share[some] += length * way
            return True
        length /= 2
    return False


def _exchange(block: IntArray, share: FloatArray, worth: FloatArray) -> FloatArray:
    """Return the way from the worst rule with a share to the best one, in the block of most gain.

    Where the function bends too much for its quadratic approximation, this still gains.
    """
    best, way = 0.0, np.zeros(len(share))
    for b in np.unique(block):
        own = np.flatnonzero(block == b)
        held = own[share[own] > 0]
        top, low = own[np.argmax(worth[own])], held[np.argmin(worth[held])]
        if worth[top] - worth[low] > best:
            best, way = worth[top] - worth[low], np.zeros(len(share))
            way[top], way[low] = share[low], -share[low]
    return way


def _newton(
    function: Smooth, ways: FloatArray, block: IntArray, at: FloatArray, worth: FloatArray
) -> FloatArray:
    """Return the change of shares that maximises the function's quadratic approximation."""
    rise = function.slopes(at + _REACH * ways) - function.slopes(at[None])
    bend = -(rise @ ways.T) / _REACH
    bend = (bend + bend.T) / 2
    n, blocks = len(ways), np.unique(block)
    sums = (block == blocks[:, None]).astype(float)
    # A little curvature in every direction: along a flat one the step is a thousand times the
    # slope, which leads to where a share is 0. It vanishes with the slope.
    slope = worth - (sums.T @ ((sums @ worth) / sums.sum(axis=1)))
    ridge = max(1e-3 * float(np.abs(slope).max()), 1e-13 * float(np.diag(bend).max()), 1e-300)
    system = np.block(
        [[bend + ridge * np.eye(n), sums.T], [sums, np.zeros((len(blocks), len(blocks)))]]
    )
    right = np.concatenate([slope, np.zeros(len(blocks))])
    return np.asarray(np.linalg.solve(system, right)[:n])
