"""Dawid and Skene's model for EM: its penalty, its starts, and the names of its classes."""

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.em import (
    Blocks,
    BlocksExpectation,
    EmFit,
    Sparse,
    State,
    VoteLaw,
    run_em,
    start_from,
)
from karat.votes.tables import vote_shares
from karat.weak.models._votes import smoothed_confusions, totals_of

__all__ = ["VoteRows", "best_start", "em_problem", "fit_aligned", "vote_start"]

DawidSkeneFit = EmFit[BlocksExpectation]

# Starts are compared on a sample of this many items, with passes over so many patterns in all.
_SAMPLE = 256
_WORK = 1_024


class VoteRows(NamedTuple):
    """Codes, weights and known classes of rows of votes; -1 is the class of unlabelled ones.

    A rule votes for one class of many, and what a labeler never says has no parameter to fit. So
    ``own`` are the codes in each labeler's own numbering: a vote for ``classes[j, o]`` is outcome
    o of labeler j, and no labeler has more outcomes than the one that uses most classes.
    """

    codes: IntArray
    weight: FloatArray
    gold: IntArray
    own: IntArray
    classes: IntArray

    @classmethod
    def of(cls, codes: IntArray, weight: FloatArray, gold: IntArray, k: int) -> Self:
        """Give each labeler's classes numbers of its own."""
        m = codes.shape[1]
        voted = np.zeros((m, k), dtype=bool)
        for c in range(k):
            voted[:, c] = (codes == c).any(axis=0)
        most = max(int(voted.sum(axis=1).max(initial=1)), 1)
        order = np.argsort(~voted, axis=1, kind="stable")
        if most == k or m == 0:
            return cls(codes, weight, gold, codes, np.tile(np.arange(k), (m, 1)))
        place = np.argsort(order, axis=1)
        # A negative code counts from the end: -2 was not asked, -1 abstained.
        ends = np.broadcast_to([-2, -1], (m, 2))
        own = np.concatenate([place, ends], axis=1)[np.arange(m), codes]
        return cls(codes, weight, gold, own, order[:, :most])

    def mass(self, k: int, trust: FloatArray | None = None) -> FloatArray:
        """Return each row's weight, shared among classes like its votes or its label: (k, rows)."""
        shares = vote_shares(totals_of(self.codes, k, trust), np.full(k, 1.0 / k))
        known = self.gold >= 0
        shares[known] = np.eye(k)[self.gold[known]]
        return np.ascontiguousarray((shares * self.weight[:, None]).T)

    def sample(self, n: int, rng: np.random.Generator) -> "VoteRows":
        """Return n items drawn with replacement, where there are more rows than that."""
        if len(self.codes) <= n:
            return self
        totals = np.cumsum(self.weight)
        at = np.searchsorted(totals, totals[-1] * rng.random(n), side="right")
        drawn = np.bincount(np.minimum(at, len(self.codes) - 1), minlength=len(self.codes))
        some = drawn > 0
        weight = drawn[some].astype(np.float64)
        return VoteRows(self.codes[some], weight, self.gold[some], self.own[some], self.classes)


class DawidSkeneProblem(NamedTuple):
    """Votes, the law that is fitted to them, and the classes of each labeler's outcomes."""

    design: Blocks | Sparse
    law: VoteLaw
    classes: IntArray

    def rates(self, state: State) -> FloatArray:
        """Return θ[labeler, class or, last, abstention, component]."""
        m, _, k = state.theta.shape
        if self.classes.shape[1] == k:
            return state.theta
        rates = np.zeros((m, k + 1, k))
        rates[np.arange(m)[:, None], self.classes] = state.theta[:, :-1]
        rates[:, k] = state.theta[:, -1]
        return rates


def em_problem(
    rows: VoteRows,
    k: int,
    *,
    smoothing: float,
    missing: bool,
    prior: FloatArray | None,
) -> DawidSkeneProblem:
    """Prepare the look-ups and the penalty.

    ``smoothing`` votes are added to every row of every confusion, in the proportions that the
    majority vote implies. With ``missing``, abstention does not depend on the truth.
    """
    most = rows.classes.shape[1]
    design = _design(rows, most)
    counts = design.totals(rows.mass(k))
    votes = counts.reshape(-1, most + 1, k).transpose(0, 2, 1)  # labeler, class, outcome
    coverage = None
    if missing:
        asked = votes.sum(axis=(1, 2))
        coverage = 1.0 - votes[:, :, most].sum(axis=1) / np.where(asked > 0, asked, 1.0)
        votes[:, :, most] = 0.0
    law = VoteLaw(
        group=np.arange(k),
        pseudo=smoothing * smoothed_confusions(votes, 1.0).transpose(0, 2, 1),
        weight_pseudo=np.zeros(k),
        weight=prior,
        coverage=coverage,
    )
    return DawidSkeneProblem(design, law, rows.classes)


def _design(rows: VoteRows, most: int) -> Blocks | Sparse:
    """Return the design in which a pass over these votes is fastest."""
    sparse = Sparse.of_codes(rows.own, rows.weight, most, rows.gold)
    if (rows.gold >= 0).any() or sparse.cost <= Blocks.cost(rows.own, most):
        return sparse
    return Blocks.of_codes(rows.own, rows.weight, most)


def vote_start(problem: DawidSkeneProblem, rows: VoteRows, trust: FloatArray | None) -> State:
    """Return the parameters for a vote in which labeler j has the weight ``trust[j]``."""
    m, outcomes, k = problem.law.pseudo.shape
    blank = State(np.full((m, outcomes, k), 1.0 / outcomes), np.zeros(m), np.full(k, 1.0 / k))
    return start_from(problem, blank, rows.mass(k, trust))


def best_start(
    problem_of: Callable[[VoteRows], DawidSkeneProblem],
    rows: VoteRows,
    *,
    restarts: int,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> DawidSkeneFit:
    """Return the most likely of several short runs, the majority vote's first among equals."""
    rows = rows.sample(_SAMPLE, rng)
    problem = problem_of(rows)
    passes = min(max_iter, int(np.clip(_WORK / len(rows.codes), 4, 100)))
    best: DawidSkeneFit | None = None
    for trial in range(restarts):
        # Exponential weights disperse the starts and keep the names of the classes.
        trust = None if trial == 0 else np.asarray(rng.exponential(size=rows.codes.shape[1]))
        start = vote_start(problem, rows, trust)
        fit = fit_aligned(problem, start, max_iter=passes, tol=tol)
        if best is None or fit.objective > best.objective + tol:
            best = fit
    assert best is not None  # there is at least one start
    return best


def fit_aligned(
    problem: DawidSkeneProblem, start: State, *, max_iter: int, tol: float
) -> DawidSkeneFit:
    """Run EM; if the classes it finds carry the wrong names, rename them and go on."""
    fit = run_em(problem, start, max_iter=max_iter, tol=tol)
    state, prior = fit.state, problem.law.weight
    order = _names(state.weight, problem.rates(state))
    if np.array_equal(order, np.arange(len(order))):
        return fit
    weight = state.weight[order] if prior is None else prior
    renamed = State(state.theta[:, :, order], state.copied, weight)
    # With a given prior the renamed parameters are not a maximum yet.
    again = run_em(problem, renamed, max_iter=max_iter, tol=tol)
    return again._replace(n_iter=fit.n_iter + again.n_iter)


def _names(weight: FloatArray, rates: FloatArray) -> IntArray:
    """Return which learned class each name goes to, so that most votes are right."""
    k = len(weight)
    votes = weight[:, None] * rates[:, :k].sum(axis=0).T
    if np.array_equal(votes.argmax(axis=1), np.arange(k)):
        return np.arange(k)
    from scipy.optimize import linear_sum_assignment

    learned, name = linear_sum_assignment(votes, maximize=True)
    return np.asarray(learned[np.argsort(name)])
