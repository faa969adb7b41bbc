"""How often two voters voted on the same items, and how often they said the same."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.agreement._ballots import ballots
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
    pattern = table.pattern_of_vote
    shape = (table.n_patterns, table.n_voters)
    root = np.sqrt(table.count)[pattern]

    def in_common(where: Any) -> Any:
        said = ballots(root[where], pattern[where], table.voter[where], shape)
        return said.T @ said

    first, second, n = _pairs(in_common(slice(None)), at_least)
    both = np.zeros((len(first), table.n_outcomes))
    if len(first):
        for o in range(table.n_outcomes):
            both[:, o] = np.asarray(in_common(table.outcome == o)[first, second]).ravel()
    return SharedVotes(first, second, n, both)


def _pairs(common: Any, at_least: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the pairs of a plain or a sparse matrix with enough items, and their items."""
    if isinstance(common, np.ndarray):
        enough = (common >= at_least - 1e-9) & (common > 0)
        first, second = np.nonzero(np.triu(enough, 1))
        return first, second, np.asarray(common[first, second])
    from scipy import sparse

    shared = sparse.triu(common, 1, format="coo")
    kept = np.flatnonzero(shared.data >= at_least - 1e-9)
    kept = kept[np.lexsort((shared.col[kept], shared.row[kept]))]  # in the order of a plain matrix
    first, second = (at[kept].astype(np.int64) for at in (shared.row, shared.col))
    return first, second, shared.data[kept]
