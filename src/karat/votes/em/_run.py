"""Accelerated expectation–maximisation over vote patterns."""

import threading
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from karat._typing import FloatArray
from karat.votes.em._law import State, VoteLaw
from karat.votes.tables import safe_log

__all__ = [
    "EmFit",
    "EmProblem",
    "Problem",
    "em_pass",
    "run_em",
    "start_from",
]

# The longest leap, in EM steps.
_LEAP = 256.0


class Expectation(Protocol):
    """What the votes say of the items under some parameters."""

    @property
    def total(self) -> float:
        """The log-likelihood of all items."""

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Return the expected items (c,) and votes (cells, c)."""


Seen_co = TypeVar("Seen_co", bound=Expectation, covariant=True)


class Design(Protocol[Seen_co]):
    """Which cells each pattern looks up; see `Blocks` and `Listed`."""

    @property
    def items(self) -> float: ...
    def totals(self, mass: FloatArray) -> FloatArray: ...
    def expect(self, cells: FloatArray, weight: FloatArray) -> Seen_co: ...


class Problem(Protocol[Seen_co]):
    """Votes and the law that is fitted to them."""

    @property
    def design(self) -> Design[Seen_co]: ...
    @property
    def law(self) -> VoteLaw: ...


class EmProblem(NamedTuple, Generic[Seen_co]):
    """Votes and the law that is fitted to them, put together by hand."""

    design: Design[Seen_co]
    law: VoteLaw


class EmFit(NamedTuple, Generic[Seen_co]):
    """Where a run ended: ``objective`` is per item, ``gap`` an estimate of what is missing.

    ``seen`` is the expectation at ``state``.
    """

    state: State
    seen: Seen_co
    objective: float
    gap: float
    n_iter: int


def start_from(problem: Problem[Expectation], state: State, mass: FloatArray) -> State:
    """Return the best parameters if the items of each pattern divide into components like mass."""
    return problem.law.maximize(state, mass.sum(axis=1), problem.design.totals(mass))


def em_pass(problem: Problem[Seen_co], state: State) -> tuple[float, Seen_co]:
    """Return the penalised log-likelihood per item at ``state``, and the expectation there."""
    law, design = problem.law, problem.design
    seen = design.expect(law.cells(state), state.weight)
    return (seen.total + law.penalty(state)) / design.items, seen


def _logs(law: VoteLaw, state: State) -> list[FloatArray]:
    """Return the logarithms of the parameters; those of copying as pairs (own, copied)."""
    parts = [safe_log(state.theta), safe_log(state.weight)]
    return [*parts, safe_log(np.stack([1 - state.copied, state.copied]))] if law.copies else parts


def _leap(law: VoteLaw, a: State, b: State, c: State) -> tuple[State, float]:
    """Return a SQUAREM extrapolation of three successive iterates, and EM's rate there."""
    logs = [_logs(law, state) for state in (a, b, c)]
    first = [y - x for x, y in zip(logs[0], logs[1], strict=True)]
    second = [y - x for x, y in zip(logs[1], logs[2], strict=True)]
    bend = [y - x for x, y in zip(first, second, strict=True)]
    size, turn = (np.sqrt(sum(float((d**2).sum()) for d in v)) for v in (first, bend))
    rate = np.sqrt(sum(float((d**2).sum()) for d in second)) / max(size, 1e-300)
    step = min(max(1.0, size / max(turn, 1e-300)), _LEAP)
    moved = [x + 2 * step * r + step**2 * v for x, r, v in zip(logs[0], first, bend, strict=True)]
    theta = np.exp(moved[0] - moved[0].max(axis=1, keepdims=True))
    weight = np.exp(moved[1] - moved[1].max())
    copied = a.copied
    if law.copies:
        pair = np.exp(moved[2] - moved[2].max(axis=0))
        copied = pair[1] / pair.sum(axis=0)
    return law.project(State(theta, copied, weight)), float(rate)


def run_em(
    problem: Problem[Seen_co],
    start: State,
    *,
    max_iter: int,
    tol: float,
    rough: bool = False,
    stop: threading.Event | None = None,
) -> EmFit[Seen_co]:
    """Run accelerated EM until the estimated gain that is left is at most ``tol`` per item.

    One iteration is one pass over the patterns. EM gains at a linear rate r² near its limit, so
    what is left after a gain g is about g / (1 - r²). A ``rough`` run ends where a pass without
    acceleration gains no more than ``tol``, which is enough for starts and comparisons. A ``stop``
    that another thread sets ends the run after the pass that it is in.
    """
    fixed = EmProblem(problem.design, problem.law)  # a design may cost something to make
    step = fixed.law.maximize
    state, gap, used = start, np.inf, 0
    value, seen = em_pass(fixed, state)
    after = step(state, *seen.counts())
    while used < max_iter and not (stop is not None and stop.is_set()):
        next_value, next_seen = em_pass(fixed, after)
        if rough and next_value - value <= tol:
            return EmFit(after, next_seen, next_value, max(next_value - value, 0.0), used + 1)
        beyond = step(after, *next_seen.counts())
        leap, rate = _leap(fixed.law, state, after, beyond)
        gap = (next_value - value) / max(1.0 - min(rate, 1.0) ** 2, 1e-3)
        leap_value, leap_seen = em_pass(fixed, leap)
        used += 2
        if leap_value >= next_value:
            state, value, seen = leap, leap_value, leap_seen
            after = step(leap, *leap_seen.counts()) if gap > tol else beyond
        else:
            state, value, seen, after = after, next_value, next_seen, beyond
        if gap <= tol:
            break
    return EmFit(state, seen, value, max(gap, 0.0), used)
