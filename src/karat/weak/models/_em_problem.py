"""Dawid and Skene's model for EM: its penalty, its starts, and the names of its classes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.em import (
    Blocks,
    BlocksExpectation,
    EmFit,
    EmProblem,
    Sparse,
    State,
    VoteLaw,
    run_em,
    start_from,
)
from karat.votes.tables import vote_shares
from karat.weak.models._votes import smoothed_confusions, totals_of

__all__ = ["VoteRows", "best_start", "em_problem", "fit_aligned", "vote_start"]

DawidSkeneProblem = EmProblem[BlocksExpectation]
DawidSkeneFit = EmFit[BlocksExpectation]

# Starts are compared on a sample of this many items, with passes over so many patterns in all.
_SAMPLE = 256
_WORK = 1_024


class VoteRows(NamedTuple):
    """Codes, weights and known classes of rows of votes; -1 is the class of unlabelled ones."""

    codes: IntArray
    weight: FloatArray
    gold: IntArray

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
        return VoteRows(self.codes[some], drawn[some].astype(np.float64), self.gold[some])


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
    design = _design(rows, k)
    counts = design.totals(rows.mass(k))
    votes = counts.reshape(-1, k + 1, k).transpose(0, 2, 1)  # labeler, class, outcome
    coverage = None
    if missing:
        asked = votes.sum(axis=(1, 2))
        coverage = 1.0 - votes[:, :, k].sum(axis=1) / np.where(asked > 0, asked, 1.0)
        votes[:, :, k] = 0.0
    law = VoteLaw(
        group=np.arange(k),
        pseudo=smoothing * smoothed_confusions(votes, 1.0).transpose(0, 2, 1),
        weight_pseudo=np.zeros(k),
        weight=prior,
        coverage=coverage,
    )
    return EmProblem(design, law)


def _design(rows: VoteRows, k: int) -> Blocks | Sparse:
    """Return the design in which a pass over these votes is fastest."""
    sparse = Sparse.of_codes(rows.codes, rows.weight, k, rows.gold)
    if (rows.gold >= 0).any():
        return sparse
    blocks = Blocks.of_codes(rows.codes, rows.weight, k)
    return sparse if sparse.cost <= blocks.cost else blocks


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
    order = _names(state)
    if np.array_equal(order, np.arange(len(order))):
        return fit
    weight = state.weight[order] if prior is None else prior
    renamed = State(state.theta[:, :, order], state.copied, weight)
    # With a given prior the renamed parameters are not a maximum yet.
    again = run_em(problem, renamed, max_iter=max_iter, tol=tol)
    return again._replace(n_iter=fit.n_iter + again.n_iter)


def _names(state: State) -> IntArray:
    """Return which learned class each name goes to, so that most votes are right."""
    k = len(state.weight)
    votes = state.weight[:, None] * state.theta[:, :k].sum(axis=0).T
    if np.array_equal(votes.argmax(axis=1), np.arange(k)):
        return np.arange(k)
    from scipy.optimize import linear_sum_assignment

    learned, name = linear_sum_assignment(votes, maximize=True)
    return np.asarray(learned[np.argsort(name)])
