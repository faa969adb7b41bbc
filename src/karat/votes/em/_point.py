"""Point estimates on a table of votes: starts, fits and what they say of each pattern."""

import threading
from typing import Protocol

import numpy as np

from karat._typing import FloatArray
from karat.votes.em._law import State, VoteLaw
from karat.votes.em._listed import Listed
from karat.votes.em._run import run_em, start_from
from karat.votes.tables import VoteTable

__all__ = ["TableProblem", "fit_point", "log_likelihood", "starting_state"]


class TableProblem(Protocol):
    """A table of votes and the law that is fitted to it."""

    @property
    def table(self) -> VoteTable: ...
    @property
    def design(self) -> Listed: ...
    @property
    def law(self) -> VoteLaw: ...


def starting_state(problem: TableProblem, label_proba: FloatArray) -> State:
    """Return the parameters that follow from P(class) of every pattern."""
    law, table = problem.law, problem.table
    known = table.gold >= 0
    proba = label_proba.copy()
    proba[known] = np.eye(table.n_classes)[table.gold[known]]
    if law.levels > 1:
        # What the voters disagree about is hard.
        doubt = 1 - table.vote_shares().max(axis=1)
        hard = (0.1 + 0.8 * doubt / max(doubt.max(), 1e-12))[:, None]
        proba = np.stack([proba * (1 - hard), proba * hard], axis=2).reshape(len(proba), -1)
    blank = np.full((table.n_voters, table.n_outcomes, proba.shape[1]), 1.0 / table.n_outcomes)
    copied = np.zeros(table.n_voters)
    if law.parent is not None:
        copied[law.parent >= 0] = 0.5
    state = State(blank, copied, np.full(proba.shape[1], 1.0 / proba.shape[1]))
    return start_from(problem, state, (proba * table.count[:, None]).T)


def fit_point(
    problem: TableProblem,
    state: State,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    stop: threading.Event | None = None,
) -> tuple[State, FloatArray, FloatArray]:
    """Climb from ``state``; return the end with log P(votes) and P(component) of each pattern.

    The climb ends early, wherever it is, when another thread sets ``stop``.
    """
    fit = run_em(problem, state, max_iter=max_iter, tol=tol, rough=True, stop=stop)
    return fit.state, fit.seen.value, fit.seen.proba


def log_likelihood(problem: TableProblem, state: State) -> tuple[FloatArray, FloatArray]:
    """Return log P(votes) and P(component | votes) of every pattern."""
    return problem.design.posterior(problem.law.cells(state), state.weight)
