"""The search of a direction, one angle after another."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray
from karat.elicit.search._angles import direction
from karat.elicit.search._brackets import Brackets, Steps
from karat.elicit.search._unimodal import unimodal
from karat.elicit.transcript import Query

__all__ = ["angle_sweep", "halving", "sphere_cycles"]

# Where in the bracket a question is asked: in the middle, and elsewhere after each skip. When all
# were skipped the search moves on.
_SHARES = (0.5, 0.4, 0.6, 0.3)


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
    while brackets.width(i) > tol and skipped < len(_SHARES):
        value = brackets.low[i] + _SHARES[skipped] * brackets.width(i)
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


def sphere_cycles(
    brackets: Brackets,
    tol: float,
    pair: Callable[[FloatArray, FloatArray], Query],
    *,
    start: int = 0,
    size: int | None = None,
    cycles: int = 2,
) -> Steps:
    """Find the best direction angle by angle, again and again (Hiranandani 2021, 4.2).

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
