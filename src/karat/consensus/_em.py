"""Point estimates by expectation and (posterior mean) maximisation: starts and comparisons."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.consensus._model import Problem

__all__ = ["State", "fit_point", "log_likelihood", "starting_state"]


@dataclass(frozen=True, slots=True)
class State:
    """Parameters of a model: θ[voter, outcome, component], the rates of copying, the weights."""

    theta: FloatArray
    copied: FloatArray
    weight: FloatArray


def starting_state(problem: Problem, label_proba: FloatArray) -> State:
    """Return the parameters that follow from P(class) of every pattern."""
    model, table = problem.model, problem.table
    known = table.gold >= 0
    proba = label_proba.copy()
    proba[known] = np.eye(table.n_classes)[table.gold[known]]
    if model.levels > 1:
        # What the voters disagree about is hard.
        doubt = 1 - table.vote_shares().max(axis=1)
        hard = (0.1 + 0.8 * doubt / max(doubt.max(), 1e-12))[:, None]
        proba = np.stack([proba * (1 - hard), proba * hard], axis=2).reshape(len(proba), -1)
    copied = np.where(problem.parent >= 0, 0.5, 0.0)
    blank = np.full((table.n_voters, table.n_outcomes, problem.n_components), 1.0)
    return _update(problem, proba, State(blank / table.n_outcomes, copied, np.empty(0)))


def fit_point(
    problem: Problem, state: State, *, max_iter: int = 200, tol: float = 1e-6
) -> tuple[State, FloatArray, FloatArray]:
    """Climb from ``state``; return it with log P(votes) and P(component) of each pattern."""
    count = problem.table.count
    items = max(count.sum(), 1.0)
    before = -np.inf
    for _ in range(max_iter):
        value, proba = log_likelihood(problem, state)
        reached = float(np.einsum("p,p", count, value))  # BLAS would fight over the cores
        if reached - before < tol * items:
            break
        before = reached
        state = _update(problem, proba, state)
    else:
        value, proba = log_likelihood(problem, state)
    return state, value, proba


def log_likelihood(problem: Problem, state: State) -> tuple[FloatArray, FloatArray]:
    """Return log P(votes) and P(component | votes) of every pattern."""
    from karat.consensus._loops import cell_table, pattern_log_likelihood

    cells = np.empty((problem.n_components, problem.n_rows))
    cell_table(state.theta, state.copied, cells)
    table = problem.table
    return pattern_log_likelihood(
        table.start, problem.cell, table.gold, problem.group, cells, state.weight
    )


def _update(problem: Problem, proba: FloatArray, state: State) -> State:
    """Return the posterior means of the parameters given the expected components."""
    from karat.consensus._loops import expect

    table = problem.table
    counts = expect(table.start, problem.cell, table.count, proba, problem.n_rows)
    shape = (table.n_voters, table.n_outcomes, problem.n_components)
    own, copied = counts[: shape[0] * shape[1]].reshape(shape), state.copied
    if problem.n_rows > shape[0] * shape[1]:
        apart, same = counts.reshape(3, *shape)[1:]
        kappa = copied[:, None, None]
        taken = same * kappa / (kappa + (1 - kappa) * state.theta + 1e-300)
        own = own + apart + same - taken
        yes, no = taken.sum(axis=(1, 2)), (apart + same - taken).sum(axis=(1, 2))
        copied = (problem.copy_prior[0] + yes) / (problem.copy_prior.sum() + yes + no)
        copied = np.where(problem.parent >= 0, copied, 0.0)
    weight = problem.weight_prior + np.einsum("p,pc->c", table.count, proba)
    theta = _symmetric(problem, own) if problem.model.errors == "symmetric" else _rows(problem, own)
    return State(theta, copied, weight / weight.sum())


def _rows(problem: Problem, own: FloatArray) -> FloatArray:
    theta = own + problem.prior.T
    return np.asarray(theta / theta.sum(axis=1, keepdims=True))


def _symmetric(problem: Problem, own: FloatArray) -> FloatArray:
    classes, levels = problem.table.n_classes, problem.model.levels
    right_vote = np.arange(classes)[:, None] == problem.group  # outcome × component
    spoken = own[:, :classes]
    right = (spoken * right_vote).sum(axis=1).reshape(len(own), classes, levels).sum(axis=1)
    wrong = (spoken * ~right_vote).sum(axis=1).reshape(len(own), classes, levels).sum(axis=1)
    prior = problem.prior
    rate = (prior[:, 0] + wrong) / (prior.sum(axis=1) + wrong + right)
    rate = np.tile(rate, classes)[:, None, :]  # one per component, classes outermost
    theta = np.where(right_vote, 1 - rate, rate / (classes - 1))
    if own.shape[1] == classes:
        return theta
    silent = own[:, classes].sum(axis=1)
    silent = (1 + silent) / (2 + silent + spoken.sum(axis=(1, 2)))
    quiet = np.broadcast_to(silent[:, None, None], (len(own), 1, own.shape[2]))
    return np.concatenate([theta * (1 - quiet), quiet], axis=1)
