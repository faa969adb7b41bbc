"""How often voters agree, pair by pair, beside what a model expects."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from karat._typing import FloatArray, IntArray
from karat.consensus._em import State
from karat.consensus._model import Problem
from karat.consensus._table import VoteTable

__all__ = ["Agreement", "SharedVotes", "agreement", "full_rows", "shared_votes"]

_SHARED = 20  # pairs with fewer items in common say little


@dataclass(frozen=True, slots=True)
class SharedVotes:
    """Pairs of voters with enough items in common, and how often they said the same."""

    first: IntArray
    second: IntArray
    n: FloatArray
    both: FloatArray  # pairs × outcomes: how often both said this

    @property
    def same(self) -> FloatArray:
        """Number of equal votes of each pair."""
        return np.asarray(self.both.sum(axis=1))


@dataclass(frozen=True, slots=True)
class Agreement:
    """Observed and expected share of equal votes of each pair, and the difference in errors."""

    first: IntArray
    second: IntArray
    n: FloatArray
    observed: FloatArray
    expected: FloatArray
    z: FloatArray


def shared_votes(table: VoteTable, at_least: float = _SHARED) -> SharedVotes:
    """Count, for every pair of voters, the items both voted on and the votes in common."""
    pattern = table.pattern_of_vote
    shape = (table.n_patterns, table.n_voters)
    root = np.sqrt(table.count)[pattern]

    def ballots(where: IntArray) -> sparse.csr_matrix:
        return sparse.csr_matrix((root[where], (pattern[where], table.voter[where])), shape=shape)

    everything = ballots(np.arange(len(pattern)))
    shared = sparse.triu(everything.T @ everything, 1).tocoo()
    enough = shared.data >= at_least - 1e-9
    first, second = shared.row[enough].astype(np.int64), shared.col[enough].astype(np.int64)
    both = np.zeros((len(first), table.n_outcomes))
    for o in range(table.n_outcomes):
        said = ballots(np.flatnonzero(table.outcome == o))
        if len(first):
            both[:, o] = np.asarray((said.T @ said).tocsr()[first, second]).ravel()
    return SharedVotes(first, second, shared.data[enough], both)


def agreement(problem: Problem, states: tuple[State, ...], shared: SharedVotes) -> Agreement:
    """Compare the pairs with what the states expect; z counts the uncertainty of both."""
    expected = np.array([_expected(problem, state, shared) for state in states])
    mean, spread = expected.mean(axis=0), expected.var(axis=0)
    observed = shared.same / shared.n
    error = np.sqrt(mean * (1 - mean) / shared.n + spread + 1e-12)
    return Agreement(
        shared.first, shared.second, shared.n, observed, mean, (observed - mean) / error
    )


def full_rows(problem: Problem, state: State) -> FloatArray:
    """Return each voter's law of votes in each component, copying included."""
    full = state.theta.copy()
    for j in problem.order:
        above = problem.parent[j]
        if above >= 0:
            kappa = state.copied[j]
            full[j] = kappa * full[above] + (1 - kappa) * full[j]
    return full


def _expected(problem: Problem, state: State, shared: SharedVotes) -> FloatArray:
    """Return P(two voters say the same).

    Given the component, votes are independent but for copying. If both voters copy all the way
    up to a common ancestor they say the same for sure; that event adds q·(1 − P(the ancestor
    would agree with an independent copy of itself)), with q the chance of all that copying.
    """
    full = full_rows(problem, state)
    value = np.zeros(len(shared.first))
    for c, weight in enumerate(state.weight):
        rows = full[:, :, c]
        value += weight * np.einsum("po,po->p", rows[shared.first], rows[shared.second])
    if (problem.parent < 0).all():
        return value
    alone = np.einsum("joc,joc,c->j", full, full, state.weight)
    lines = [_line(problem.parent, state.copied, j) for j in range(len(problem.parent))]
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
