"""Maximise a function over mixtures of classifiers, to a gap that is proven.

All solvers work on `Columns`: the classifiers found so far, with an oracle that finds the best one
for any linear gain. `solution_of` chooses the solver by the form of a metric: `best_ratio` for
ratios (Dinkelbach), `climb` for smooth concave functions (Frank–Wolfe with corrections), `solve`
for linear programs by column generation, a line search for all others. `nearest` and `farthest`
write a point as a mixture, and find how far the boundary is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.exceptions import MetricError, UndefinedMetricWarning
from karat.metrics import FairMetric, LinearFractionalMetric
from karat.metrics.base import MetricBase
from karat.metrics.rates import off_diagonal


def solution_of(
    metric: MetricBase, columns: Columns, *, tol: float, max_rounds: int = 400
) -> Solution:
    """Maximise a metric over mixtures of the columns, by the solver that its form allows."""
    function = _flat(metric, columns)
    if metric.form == "gaps":
        return solve(fair_program(metric, columns), columns, tol=tol, max_rounds=max_rounds)
    if metric.form == "ratio":
        return best_ratio(metric, columns, tol=tol, max_rounds=max_rounds)
    if metric.form == "linear":
        return _best_linear(function, columns)
    if metric.form == "concave":
        ascend = climb_inside if is_steep(function, columns) else climb
        return ascend(function, columns, tol=tol, max_rounds=max_rounds)
    return follow(function, columns, tol=tol, max_rounds=max_rounds)


def _best_linear(function: Smooth, columns: Columns) -> Solution:
    """Return the best rule of each block for the slope, which is the same everywhere."""
    middle = np.sum([points.mean(axis=0) for points in columns.points], axis=0)
    slope = function.slopes(middle[None])[0]
    columns.look(slope[None])
    shares = [np.eye(len(p))[i] for p, i in zip(columns.points, columns.best(slope), strict=True)]
    point = np.sum([s @ p for s, p in zip(shares, columns.points, strict=True)], axis=0)
    value = float(function.values(point[None])[0])
    return Solution(value, 0.0, shares, point, np.empty(0), slope, [value], [0.0])


def confusion_shape(metric: MetricBase, k: int) -> tuple[int, ...]:
    """Return the shape of the confusions of k classes that a metric takes."""
    return (k, k) if metric.n_groups is None else (metric.n_groups, k, k)


def _flat(metric: MetricBase, columns: Columns) -> Smooth:
    """Return the metric as a function of confusions that are written as rows."""
    groups = 1 if metric.n_groups is None else metric.n_groups
    shape = confusion_shape(metric, int(np.sqrt(columns.dim // groups)))
    first = np.sum([points[0] for points in columns.points], axis=0)
    if metric.n_groups is not None:
        metric._values(first.reshape(1, *shape))  # says so where a group lacks a class

    def values(points: FloatArray) -> FloatArray:
        with warnings.catch_warnings():  # conventions at the edge need no warning in a search
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            return metric._values(points.reshape(-1, *shape))

    # A class that does not occur has no slope, and makes no difference.
    absent = (first.reshape(shape).sum(axis=-1, keepdims=True) == 0) & np.ones(shape, dtype=bool)

    def slopes(points: FloatArray) -> FloatArray:
        found = metric._gradients(points.reshape(-1, *shape))
        return np.where(absent, 0.0, found).reshape(len(points), -1)

    return Smooth(values, slopes)


def fair_program(metric: MetricBase, columns: Columns) -> Program:
    """Return ``−(1−λ)⟨cost, r⟩ − λ⟨violation, |gaps|⟩`` over confusions (groups, k, k) as rows.

    A helper z is the size of each gap, ``−z ≤ gap ≤ z``. P(G, Y) is the same for every classifier,
    so rates and gaps are linear in the confusions.
    """
    assert isinstance(metric, FairMetric)
    m, k = metric.n_groups, metric.n_classes
    truth = sum(points[0] for points in columns.points).reshape(m, k, k).sum(axis=2)
    rows, predicted = off_diagonal(k)
    q = len(rows)
    rates = np.zeros((m, q, m, k, k))  # rates[g, e]: the row whose product is that error rate
    overall = np.zeros((q, m, k, k))
    for e, (i, j) in enumerate(zip(rows, predicted, strict=True)):
        overall[e, :, i, j] = 1.0 / truth[:, i].sum()
        for g in range(m):
            rates[g, e, g, i, j] = 1.0 / truth[g, i]
    gaps = np.concatenate([rates[u] - rates[v] for u, v in metric._pairs()]).reshape(-1, m * k * k)
    sizes = -np.eye(len(gaps))
    return Program(
        linear=-(1 - metric.tradeoff) * metric.cost @ overall.reshape(q, -1),
        price=-metric.tradeoff * metric.violation.ravel(),
        above_x=np.vstack([gaps, -gaps]),
        above_z=np.vstack([sizes, sizes]),
        limit=np.zeros(2 * len(gaps)),
    )


# --- Follow the slope of any smooth function over mixtures.

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


# --- A point as a mixture of extreme ones: feasibility, and distance to the boundary.


class Nearest(NamedTuple):
    """The classifiers of a mixture, their shares, and its distance from the point it was for."""

    makers: FloatArray
    shares: FloatArray
    missing: float


def nearest(target: FloatArray, columns: Columns, tol: float = 1e-9) -> Nearest:
    """Return the mixture nearest to ``target`` in the sum of absolute differences.

    ``columns`` has one block, and grows by what is found.
    """
    dim = len(target)
    program = Program(
        np.zeros(dim),
        -np.ones(2 * dim),
        same_x=np.eye(dim),
        same_z=np.hstack([np.eye(dim), -np.eye(dim)]),
        target=target,
        most=0.0,
    )
    found = solve(program, columns, tol=tol)
    (shares,) = found.shares
    used = np.flatnonzero(shares > 1e-12)
    return Nearest(columns.makers[0][used], shares[used] / shares[used].sum(), -found.value)


def farthest(
    center: FloatArray, along: FloatArray, columns: Columns, *, share: float = 0.05
) -> float:
    """Return t such that ``center + t·along`` is attained, the greatest but for a ``share`` of it.

    Hiranandani (2021), Algorithm B.1, line 4. The mixture proves that t is attained; the
    supporting hyperplane that is its dual proves that no t greater by more than the share is.
    """
    program = Program(
        np.zeros(len(center)),
        np.ones(1),
        same_x=np.eye(len(center)),
        same_z=-along[:, None],
        target=center,
    )
    try:
        found = solve(program, columns, tol=1e-15, share=share)
    except ArithmeticError:  # the center itself is not a mixture of the columns
        return 0.0
    return found.value


# --- Maximise a ratio of two linear functions over what is attainable.

# A rise smaller than this share of what is added up is rounding.
_LEAST_GAIN = 1e-13


def best_ratio(
    metric: MetricBase, columns: Columns, *, tol: float = 1e-9, max_rounds: int = 100
) -> Solution:
    """Maximise ``N(x) / D(x)`` by Dinkelbach's (1967) steps.

    At a value v that is attained, the rule that maximises ``N − v·D`` has a greater ratio, unless
    v is the greatest: then that maximum is 0. No rule is above v by more than that maximum over
    the least denominator. One rule of each block is enough; there is nothing to mix.
    """
    top, bottom, least = _parts(metric, columns)
    picked = columns.best(bottom)
    values: list[float] = []
    gaps: list[float] = []
    for _ in range(max_rounds):
        point = _sum(columns, picked)
        value = float(top @ point / (bottom @ point))
        slope = top - value * bottom
        (reached,), _ = columns.look(slope[None])
        rise = float(reached) - float(slope @ point)
        values.append(value)
        close = rise <= _LEAST_GAIN * float((np.abs(top) + abs(value * bottom)) @ point)
        gaps.append(0.0 if close else rise / least if least > 0 else np.inf)
        found = columns.best(slope)
        if gaps[-1] <= tol or float(bottom @ _sum(columns, found)) <= 0 or found == picked:
            break
        if len(values) < max_rounds:
            picked = found
    if value < 0 and least <= 0:  # where the denominator is 0 the metric is 0, which is more
        picked, values, gaps = columns.best(-bottom), [*values, 0.0], [*gaps, 0.0]
    shares = [np.eye(len(p))[i] for p, i in zip(columns.points, picked, strict=True)]
    return Solution(
        values[-1], gaps[-1], shares, _sum(columns, picked), np.empty(0), slope, values, gaps
    )


def _parts(metric: MetricBase, columns: Columns) -> tuple[FloatArray, FloatArray, float]:
    """Return numerator and denominator, never negative, and the least denominator."""
    assert isinstance(metric, LinearFractionalMetric)
    top = metric.numerator.ravel()
    bottom = (metric.denominator + metric.constant).ravel()  # confusions sum to 1
    (least,), (most,) = -columns.look(-bottom[None])[0], columns.look(bottom[None])[0]
    size = max(abs(least), abs(most))
    if size == 0:
        raise MetricError(f"the denominator of {metric.title} is 0 for every classifier here")
    if most <= 1e-12 * size:
        top, bottom, least, most = -top, -bottom, -most, -least
    if least < -1e-12 * size:
        raise MetricError(
            f"the denominator of {metric.title} is negative for some classifiers and positive for "
            "others, so it has no greatest value"
        )
    return top / size, bottom / size, max(float(least / size), 0.0)


def _sum(columns: Columns, picked: list[int]) -> FloatArray:
    return np.asarray(sum(p[i] for p, i in zip(columns.points, picked, strict=True)))


# --- Maximise a concave function that is infinitely steep at the edge of what is attainable.
#
# A power mean of recalls is so where a class is never found. With ε of a mixture m of all rules
# added, ``f_ε(x) = f((1−ε)x + εm)`` has slopes everywhere, is attained, and since f is concave its
# maximum is at most ``ε (max f − f(m))`` below that of f.

_STEEP_ENDS = 1e-9  # ε


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
        return np.asarray((1.0 - _STEEP_ENDS) * some + _STEEP_ENDS * middle)

    moved = Smooth(
        lambda some: function.values(inside(some)),
        lambda some: (1.0 - _STEEP_ENDS) * function.slopes(inside(some)),
    )
    found = climb(moved, columns, tol=tol, max_rounds=max_rounds)
    least = float(function.values(middle[None])[0])
    lost = _STEEP_ENDS / (1.0 - _STEEP_ENDS) * max(found.value + found.gap - least, 0.0)
    most = found.value + found.gap + lost
    value = float(function.values(found.point[None])[0])
    if most - value <= max(tol, found.gap + lost):
        return found._replace(value=value, gap=max(most - value, 0.0))
    shares = [(1.0 - _STEEP_ENDS) * share for share in found.shares]
    for share, n in zip(shares, known, strict=True):
        share[:n] += _STEEP_ENDS / n
    return found._replace(gap=most - found.value, shares=shares, point=inside(found.point))


# --- Maximise a smooth concave function over mixtures: Newton steps over the rules found so far.
#
# Frank–Wolfe in its fully corrective form (simplicial decomposition; von Hohenbalken 1977): each
# round adds the best rule for the current slope, and then finds the best shares of all rules. The
# slope at the current mixture bounds what any classifier could still gain.

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


# --- Maximise a concave function made of planes over mixtures: a linear program, column by column.


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
        slopes = np.stack([_slope_of_piece(program, p) for p in tried])
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


def _slope_of_piece(program: Program, prices: _Prices) -> FloatArray:
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
        A_ub=above,
        b_ub=program.limit,
        A_eq=same,
        b_eq=target,
        bounds=[(0, None)] * n + [(None if program.free else 0, None)] * z,
        method="highs",
    )
    if found.status != 0:
        raise ArithmeticError(f"a linear program over {n} classifiers failed: {found.message}")
    ends = np.cumsum(sizes)[:-1]
    shares = [np.maximum(part, 0.0) for part in np.split(found.x[:n], ends)]
    shares = [part / part.sum() for part in shares]
    n_same = len(target) - len(sizes)
    prices = _Prices(np.maximum(-found.ineqlin.marginals, 0.0), -found.eqlin.marginals[:n_same])
    return -float(found.fun), shares, np.asarray(found.x[n:]), prices


# Maps directions (b, d) to what makes the best classifier of each block, (b, blocks, ...), and to
# the points (b, blocks, d) that these classifiers attain. Points of blocks are added.
Oracle = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
_ROUNDING = 1e-14  # relative: a point better by less than the rounding of its sum is not new


class Columns:
    """Extreme points of a sum of convex sets, one set per block, found direction by direction.

    Whatever is maximised over mixtures (a metric, a distance, a difference) is maximised over
    shares of these points; the prices of the solution are the direction in which to look for the
    next ones. That is column generation (Dantzig & Wolfe 1960).

    Attributes
    ----------
    makers : list of arrays
        For each block what makes each of its classifiers: the weights of a rule, or a direction.
    points : list of arrays (n, d)
        For each block what its classifiers attain.
    """

    def __init__(self, oracle: Oracle, directions: FloatArray) -> None:
        self.oracle = oracle
        makers, points = oracle(directions)
        self.makers = [makers[:, b] for b in range(makers.shape[1])]
        self.points = [points[:, b] for b in range(points.shape[1])]

    def copy(self) -> Columns:
        """Return a copy to which points can be added without changing these columns."""
        twin = object.__new__(Columns)
        twin.oracle, twin.makers, twin.points = self.oracle, list(self.makers), list(self.points)
        return twin

    @property
    def n_blocks(self) -> int:
        """Number of groups whose confusions are chosen apart."""
        return len(self.points)

    @property
    def dim(self) -> int:
        """Number of cells of a confusion."""
        return int(self.points[0].shape[1])

    def look(self, directions: FloatArray) -> tuple[FloatArray, bool]:
        """Look for better points; return the greatest value in each direction, and if any is new.

        Points that are no better than known ones are not kept. An oracle that is not exact may
        return less than a known point attains; the value is then that of the known point.
        """
        makers, points = self.oracle(directions)
        value, grown = np.zeros(len(directions)), False
        for b in range(self.n_blocks):
            known = (self.points[b] @ directions.T).max(axis=0)
            found = np.einsum("nd,nd->n", points[:, b], directions)
            new = found > known + _ROUNDING * np.abs(known)
            value += np.maximum(known, found)
            if new.any():
                grown = True
                self.makers[b] = np.concatenate([self.makers[b], makers[new, b]])
                self.points[b] = np.concatenate([self.points[b], points[new, b]])
        return value, grown

    def best(self, direction: FloatArray) -> list[int]:
        """Return, for each block, the known point that is best in a direction."""
        return [int(np.argmax(points @ direction)) for points in self.points]
