"""Agreement of voters beside what the parameters of a model imply."""

from collections.abc import Sequence

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.agreement._pairs import Agreement, SharedVotes
from karat.votes.em import State

__all__ = ["agreement_of_states", "marginal_confusions", "parents_first"]


def agreement_of_states(
    parent: IntArray | None, states: Sequence[State], shared: SharedVotes
) -> Agreement:
    """Compare the pairs with what the states expect; z counts the uncertainty of both."""
    expected = np.array([_expected(parent, state, shared) for state in states])
    mean, spread = expected.mean(axis=0), expected.var(axis=0)
    observed = shared.same / shared.n
    error = np.sqrt(mean * (1 - mean) / shared.n + spread + 1e-12)
    return Agreement(
        shared.first, shared.second, shared.n, observed, mean, (observed - mean) / error
    )


def parents_first(parent: IntArray) -> IntArray:
    """Return the voters such that each comes after the one it copies."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for j in range(len(parent)):
        at = parent[j]
        while at >= 0:
            depth[j] += 1
            at = parent[at]
    return np.argsort(depth, kind="stable")


def marginal_confusions(parent: IntArray | None, state: State) -> FloatArray:
    """Return P(outcome | component) of each voter, whether it copies or not."""
    if parent is None:
        return state.theta
    full = state.theta.copy()
    for j in parents_first(parent):
        above = parent[j]
        if above >= 0:
            kappa = state.copied[j]
            full[j] = kappa * full[above] + (1 - kappa) * full[j]
    return full


def _expected(parent: IntArray | None, state: State, shared: SharedVotes) -> FloatArray:
    """Return P(two voters say the same).

    Given the component, votes are independent but for copying. If both voters copy all the way
    up to a common ancestor they say the same for sure; that event adds q·(1 − P(the ancestor
    would agree with an independent copy of itself)), with q the chance of all that copying.
    """
    full = marginal_confusions(parent, state)
    value = np.zeros(len(shared.first))
    for c, weight in enumerate(state.weight):
        rows = full[:, :, c]
        value += weight * np.einsum("po,po->p", rows[shared.first], rows[shared.second])
    if parent is None or (parent < 0).all():
        return value
    alone = np.einsum("joc,joc,c->j", full, full, state.weight)
    lines = [_line(parent, state.copied, j) for j in range(len(parent))]
    for at, (i, j) in enumerate(zip(shared.first, shared.second, strict=True)):
        common = next((node for node in lines[i] if node in lines[j]), None)
        if common is not None:
            value[at] += lines[i][common] * lines[j][common] * (1 - alone[common])
    return value


def _line(parent: IntArray, copied: FloatArray, voter: int) -> dict[int, float]:
    """Return the voter and its ancestors, with the chance that it copied up to each."""
    chance, line, at = 1.0, {}, int(voter)
    while at >= 0:
        line[at] = chance
        chance *= float(copied[at])
        at = int(parent[at])
    return line
