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
_NOTHING = float(safe_log(np.zeros(())))


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


def _logs(law: VoteLaw, state: State) -> FloatArray:
    """Return the logarithms of all parameters; those of copying as pairs (own, copied)."""
    parts = [state.theta.ravel(), state.weight]
    copies = [1 - state.copied, state.copied] if law.copies else []
    return safe_log(np.concatenate([*parts, *copies]))


def _leap(
    law: VoteLaw, last: State, a: FloatArray, b: FloatArray, c: FloatArray
) -> tuple[State, float]:
    """Return a SQUAREM extrapolation of the logarithms of three iterates, and EM's rate there.

    ``last`` is the third iterate, whose shape the leap has.
    """
    first, second = b - a, c - b
    bend = second - first
    size, turn, gone = (np.sqrt(np.einsum("i,i", d, d)) for d in (first, bend, second))
    step = min(max(1.0, size / max(turn, 1e-300)), _LEAP)
    moved = a + 2 * step * first + step**2 * bend
    # What is zero stays zero: scaled with its row, it would have a part in the next step's length.
    moved[c <= _NOTHING] = -np.inf
    theta, weight, copied = np.split(moved, np.cumsum([last.theta.size, last.weight.size]))
    theta = theta.reshape(last.theta.shape)
    raw = State(
        np.exp(theta - theta.max(axis=1, keepdims=True)),
        last.copied,
        np.exp(weight - weight.max()),
    )
    if law.copies:
        own, copy = copied.reshape(2, -1)
        raw = raw._replace(copied=1 / (1 + np.exp(np.clip(own - copy, -700.0, 700.0))))
    return law.project(raw), float(gone / max(size, 1e-300))


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
    logs, next_logs = _logs(fixed.law, state), _logs(fixed.law, after)
    while used < max_iter and not (stop is not None and stop.is_set()):
        next_value, next_seen = em_pass(fixed, after)
        if rough and next_value - value <= tol:
            return EmFit(after, next_seen, next_value, max(next_value - value, 0.0), used + 1)
        beyond = step(after, *next_seen.counts())
        logs_beyond = _logs(fixed.law, beyond)
        leap, rate = _leap(fixed.law, beyond, logs, next_logs, logs_beyond)
        gap = (next_value - value) / max(1.0 - min(rate, 1.0) ** 2, 1e-3)
        leap_value, leap_seen = em_pass(fixed, leap)
        used += 2
        if leap_value >= next_value:
            state, value, seen, logs = leap, leap_value, leap_seen, _logs(fixed.law, leap)
            after = step(leap, *leap_seen.counts()) if gap > tol else beyond
            next_logs = _logs(fixed.law, after)
        else:
            state, value, seen, after = after, next_value, next_seen, beyond
            logs, next_logs = next_logs, logs_beyond
        if gap <= tol:
            break
    return EmFit(state, seen, value, max(gap, 0.0), used)
