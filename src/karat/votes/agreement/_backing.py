"""How far the votes for a class are shared."""

import numpy as np

from karat._typing import FloatArray
from karat.votes.tables import VoteTable

__all__ = ["backing"]


def backing(table: VoteTable) -> FloatArray:
    """Return for each class the share of its votes that half of the item's other votes share.

    Items with fewer than three votes are left out: two that differ show nothing. NaN where a class
    has no vote on the others.
    """
    heard = table.heard
    cast = heard.outcome < heard.n_classes
    votes = np.zeros((heard.n_patterns, heard.n_classes))
    np.add.at(votes, (heard.pattern_of_vote[cast], heard.outcome[cast]), 1.0)
    total = votes.sum(axis=1, keepdims=True)
    backed = votes - 1.0 >= (total - 1.0) / 2.0
    weight = np.where(total >= 3, votes, 0.0) * heard.count[:, None]
    with np.errstate(invalid="ignore"):
        share: FloatArray = (weight * backed).sum(axis=0) / weight.sum(axis=0)
    return share
