"""Directions as angles, and the search of one angle after another.

``a_1 = cos θ_1``, ``a_i = sin θ_1 ⋯ sin θ_{i−1} cos θ_i``, ``a_q = sin θ_1 ⋯ sin θ_{q−1}``
(seed 001, section 4.2.2): all a are at least 0 when every angle lies in [0, π/2].
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from karat._typing import FloatArray
from karat.elicit._query import Query

__all__ = [
    "Brackets",
    "Steps",
    "angle_sweep",
    "angles_of",
    "direction",
    "halving",
    "sphere_cycles",
    "swapped",
    "unimodal",
]

# A search: it yields queries, is sent answers, and narrows brackets on the way.
Steps = Generator[Query, str, None]
# A skipped question is asked in another form this often before the search moves on.
_SKIPS = 4


@dataclass(slots=True)
class Brackets:
    """What is known of each parameter so far: it lies between low and high.

    ``told[i, 0]`` says whether an answer set the lower end, ``told[i, 1]`` the upper. An end that
    no answer set may be anywhere up to ``limits``: no question could tell it from the end.
    """

    low: FloatArray
    high: FloatArray
    told: FloatArray
    limits: tuple[float | FloatArray, float | FloatArray]
    reference: int = 0  # the class or coordinate that ratios are against, where they are
    # of the slope at each site: the signs of its entries; all 0 where the metric is flat
    signs: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    # of each site where the slope lies in a known plane: what spans it
    bases: dict[int, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(
        cls, low: float, high: float, n: int, limits: tuple[float, float] = (0.0, np.pi / 2)
    ) -> "Brackets":
        return cls(np.full(n, float(low)), np.full(n, float(high)), np.zeros((n, 2)), limits)

    @property
    def open_low(self) -> FloatArray:
        return np.asarray(np.where(self.told[:, 0] > 0, self.low, self.limits[0]))

    @property
    def open_high(self) -> FloatArray:
        return np.asarray(np.where(self.told[:, 1] > 0, self.high, self.limits[1]))

    def extended(self, low: float, high: float) -> "Brackets":
        """Return the brackets with one more at the end."""
        ends = (np.append(self.limits[0], low), np.append(self.limits[1], high))
        return replace(
            self,
            low=np.append(self.low, low),
            high=np.append(self.high, high),
            told=np.vstack([self.told.reshape(-1, 2), np.zeros(2)]),
            limits=ends,
        )

    def reopen(self, i: int, low: float, high: float) -> None:
        """Start the search of a parameter again."""
        self.low[i], self.high[i], self.told[i] = low, high, 0.0

    @property
    def middle(self) -> FloatArray:
        return np.asarray((self.low + self.high) / 2)

    def estimate(self, near: float) -> FloatArray:
        """Return the middle of each bracket; an end that no answer set reaches to a near limit."""
        low = np.where(self.low - self.open_low <= near, self.open_low, self.low)
        high = np.where(self.open_high - self.high <= near, self.open_high, self.high)
        return np.asarray((low + high) / 2)

    def width(self, i: int) -> float:
        return float(self.high[i] - self.low[i])

    def raise_low(self, i: int, value: float) -> None:
        self.low[i], self.told[i, 0] = value, 1.0

    def cut_high(self, i: int, value: float) -> None:
        self.high[i], self.told[i, 1] = value, 1.0


def direction(angles: FloatArray) -> FloatArray:
    """Return the unit vectors (..., q) of angles (..., q−1)."""
    sines = np.cumprod(np.sin(angles), axis=-1)
    ones = np.ones((*angles.shape[:-1], 1))
    cosines = np.concatenate([np.cos(angles), ones], axis=-1)
    return np.asarray(np.concatenate([ones, sines], axis=-1) * cosines)


def angles_of(vector: FloatArray) -> FloatArray:
    """Return the angles of a vector of at least two coordinates, none negative."""
    tails = np.sqrt(np.cumsum(vector[::-1] ** 2)[::-1])  # norm of what follows, itself included
    return np.arctan2(tails[1:], vector[:-1])


def halving(
    brackets: Brackets,
    i: int,
    tol: float,
    ask: Callable[[float], Query | None],
    *,
    guesses: tuple[float, ...] = (),
) -> Steps:
    """Halve bracket i with one question at a time, until it is no wider than ``tol``.

    ``ask(value)`` is a query whose first side is preferred by whoever is above the value. A tie
    leaves the middle half; a skip asks nearby. Values that are likely ends come first.
    """
    skipped = 0
    while brackets.width(i) > tol and skipped < _SKIPS:
        share = (0.5, 0.4, 0.6, 0.3)[skipped]
        value = brackets.low[i] + share * brackets.width(i)
        likely = [guess for guess in guesses if brackets.low[i] < guess < brackets.high[i]]
        if likely and not skipped:
            value = likely[0]
        query = ask(float(value))
        if query is None:
            return
        answer = yield query
        if answer == "first":
            brackets.raise_low(i, value)
        elif answer == "second":
            brackets.cut_high(i, value)
        elif answer == "tie":
            quarter = brackets.width(i) / 4
            brackets.raise_low(i, max(brackets.low[i], value - quarter))
            brackets.cut_high(i, min(brackets.high[i], value + quarter))
        skipped = skipped + 1 if answer == "skip" else 0


def angle_sweep(
    brackets: Brackets,
    tol: float,
    pair: Callable[[FloatArray], Query],
    *,
    start: int = 0,
    size: int | None = None,
    guesses: tuple[float, ...] = (),
) -> Steps:
    """Find the angles of a linear metric, the last one first; one sweep is exact.

    The best θ_j depends only on the later angles: with ``u`` the unit vector along which θ_j moves
    at a trial value, ``⟨a, u⟩ > 0`` exactly when θ_j lies above it. ``pair(u)`` asks about two
    points that differ along u. ``start`` and ``size`` choose some of the brackets.
    """
    n = len(brackets.low) if size is None else size
    for j in range(n - 1, -1, -1):

        def ask(value: float, j: int = j) -> Query:
            return pair(_tangent(brackets.middle[start : start + n], j, value))

        yield from halving(brackets, start + j, tol, ask, guesses=guesses)


def _tangent(angles: FloatArray, j: int, value: float) -> FloatArray:
    """Return the unit vector along which the direction moves when θ_j passes ``value``."""
    moved = angles.copy()
    moved[:j] = np.pi / 2  # earlier angles scale the part that θ_j moves; here they do not matter
    moved[j] = value + np.pi / 2
    return direction(moved)


def unimodal(
    brackets: Brackets,
    i: int,
    tol: float,
    query: Callable[[float, float], Query],
    *,
    n_questions: int = 4,
) -> Steps:
    """Find the greatest point of a unimodal function by halving bracket i.

    ``query(s, t)`` asks whether the point at s is better than that at t. With four questions a
    halving it is Algorithm 3.1 as printed; with two (c against d, then e against d) the same
    bracket is found with half the questions or fewer.
    """
    while brackets.width(i) > tol:
        spoken: list[str] = []
        low, high = float(brackets.low[i]), float(brackets.high[i])
        c, d, e = (3 * low + high) / 4, (low + high) / 2, (low + 3 * high) / 4
        if n_questions == 4:
            at = [low, c, d, e, high]
            rises = yield from _rises(at, query, spoken)
            for n in range(3):  # line 7: down then up cannot be; take it as up, left to right
                rises[n] = rises[n] or rises[n + 1]
            falls = next((n for n, up in enumerate(rises) if not up), 4)
            low, high = ((low, d), (low, d), (c, e), (d, high), (d, high))[falls]
        elif (yield from _unless_same(query(c, d), spoken)) == "first":
            high = d
        elif (yield from _unless_same(query(e, d), spoken)) == "first":
            low = d
        else:
            low, high = c, e
        if not {"first", "second"} & set(spoken):  # nothing was told, so nothing is known
            brackets.low[i], brackets.high[i] = low, high
            continue
        if low > brackets.low[i]:
            brackets.raise_low(i, low)
        if high < brackets.high[i]:
            brackets.cut_high(i, high)


def _unless_same(query: Query, spoken: list[str]) -> Generator[Query, str, str]:
    """Ask, unless there is nothing to choose between."""
    if query.identical:
        return "tie"
    spoken.append((yield query))
    return spoken[-1]


def _rises(
    at: list[float], query: Callable[[float, float], Query], spoken: list[str]
) -> Generator[Query, str, list[bool]]:
    """Ask whether each point is better than the one before it.

    Where the boundary is flat both sides are the same, which is a tie: it leads up to what comes
    next on the left of the peak, and is level with it on the right.
    """
    for left, right in pairwise(at):
        spoken.append((yield query(right, left)))
    rises = []
    for n, answer in enumerate(spoken):
        if answer in ("tie", "skip"):
            before = [a for a in spoken[:n] if a in ("first", "second")]
            after = [a for a in spoken[n:] if a in ("first", "second")]
            rises.append(bool(after) and (after[0] == "first" or not before))
        else:
            rises.append(answer == "first")
    return rises


def sphere_cycles(
    brackets: Brackets,
    tol: float,
    pair: Callable[[FloatArray, FloatArray], Query],
    *,
    start: int = 0,
    size: int | None = None,
    cycles: int = 2,
) -> Steps:
    """Find the best direction angle by angle, again and again (Algorithm 4.2 as printed).

    ``pair(v, w)`` asks about the points of the sphere in two directions.
    """
    n = len(brackets.low) if size is None else size
    angles = np.full(n, np.pi / 4)
    for _ in range(cycles):
        for j in range(n):
            brackets.reopen(start + j, 0.0, np.pi / 2)

            def query(s: float, t: float, j: int = j) -> Query:
                sides = np.repeat(angles[None], 2, axis=0)
                sides[:, j] = s, t
                first, second = direction(sides)
                return pair(first, second)

            yield from unimodal(brackets, start + j, tol, query)
            angles[j] = brackets.middle[start + j]


def swapped(steps: Steps) -> Steps:
    """Run a search for someone who prefers the other way round, or for the lowest point."""
    other = {"first": "second", "second": "first"}
    try:
        query = next(steps)
        while True:
            answer = yield query
            query = steps.send(other.get(answer, answer))
    except StopIteration:
        return
