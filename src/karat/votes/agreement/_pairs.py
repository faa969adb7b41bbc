"""How often two voters voted on the same items, and how often they said the same."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.tables import VoteTable

__all__ = ["Agreement", "SharedVotes", "shared_votes"]

_SHARED = 20  # pairs with fewer items in common say little


class SharedVotes(NamedTuple):
    """Pairs of voters with enough items in common, and how often they said the same."""

    first: IntArray
    second: IntArray
    n: FloatArray
    both: FloatArray  # pairs × outcomes: how often both said this

    @property
    def same(self) -> FloatArray:
        """Number of equal votes of each pair."""
        return np.asarray(self.both.sum(axis=1))


class Agreement(NamedTuple):
    """A share of the items of each pair of voters, observed and as a model implies it.

    ``n`` is the number of items that the share is of, ``z`` the difference in standard errors.
    """

    first: IntArray
    second: IntArray
    n: FloatArray
    observed: FloatArray
    expected: FloatArray
    z: FloatArray


def shared_votes(table: VoteTable, at_least: float = _SHARED) -> SharedVotes:
    """Count, for every pair of voters, the items both voted on and the votes in common."""
    from scipy import sparse

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
