"""Where EM starts, and which learned class carries which name."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.weak._em import EmFit, EmProblem, Theta, run_em, vote_start

__all__ = ["best_start", "fit_aligned"]

# Starts are compared on a sample of this many items, with passes over so many patterns in all.
_SAMPLE = 256
_WORK = 1_024


def best_start(
    problem_of: Callable[[IntArray, FloatArray], EmProblem],
    codes: IntArray,
    weight: FloatArray,
    *,
    restarts: int,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> EmFit:
    """Return the most likely of several short runs, the majority vote's first among equals."""
    if len(codes) > _SAMPLE:
        ends = np.cumsum(weight)
        at = np.searchsorted(ends, ends[-1] * rng.random(_SAMPLE), side="right")
        drawn = np.bincount(np.minimum(at, len(codes) - 1), minlength=len(codes))
        codes, weight = codes[drawn > 0], drawn[drawn > 0].astype(np.float64)
    problem = problem_of(codes, weight)
    passes = min(max_iter, int(np.clip(_WORK / len(codes), 4, 100)))
    best: EmFit | None = None
    for trial in range(restarts):
        # Exponential weights disperse the starts and keep the names of the classes.
        trust = np.ones(codes.shape[1]) if trial == 0 else rng.exponential(size=codes.shape[1])
        start = vote_start(problem, np.asarray(trust))
        fit = fit_aligned(problem, start, max_iter=passes, tol=tol)
        if best is None or fit.objective > best.objective + tol:
            best = fit
    assert best is not None  # there is at least one start
    return best


def fit_aligned(problem: EmProblem, start: Theta, *, max_iter: int, tol: float) -> EmFit:
    """Run EM; if the classes it finds carry the wrong names, rename them and go on."""
    fit = run_em(problem, start, max_iter=max_iter, tol=tol)
    order = _names(fit.theta)
    if np.array_equal(order, np.arange(len(order))):
        return fit
    prior = fit.theta.prior[order] if problem.prior is None else problem.prior
    renamed = Theta(prior, fit.theta.confusions[:, order])
    # With a given prior the renamed parameters are not a maximum yet.
    again = run_em(problem, renamed, max_iter=max_iter, tol=tol)
    return again._replace(n_iter=fit.n_iter + again.n_iter)


def _names(theta: Theta) -> IntArray:
    """Return which learned class each name goes to, so that most votes are right."""
    k = len(theta.prior)
    votes = theta.prior[:, None] * theta.confusions[:, :, :k].sum(axis=0)
    if np.array_equal(votes.argmax(axis=1), np.arange(k)):
        return np.arange(k)
    from scipy.optimize import linear_sum_assignment

    learned, name = linear_sum_assignment(votes, maximize=True)
    return np.asarray(learned[np.argsort(name)])
