"""The search for the greatest point of a function that rises and then falls."""

from collections.abc import Callable, Generator
from itertools import pairwise

from karat.elicit.search._brackets import Brackets, Steps
from karat.elicit.transcript import Query

__all__ = ["swapped", "unimodal"]


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
    halving it is Algorithm 3.1 of Hiranandani 2021 as printed; with two (c against d, then e
    against d) the same bracket is found with half the questions or fewer.
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
        if not {"first", "second"} & set(spoken):  # no preference: no answer set an end
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
