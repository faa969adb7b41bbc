"""Totals and confusions of votes on encoded patterns: -1 abstained, -2 was not asked."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.tables import TINY, list_votes, vote_totals

__all__ = ["smoothed_confusions", "totals_of", "unanimous_votes", "winners"]


def totals_of(codes: IntArray, k: int, weight: FloatArray | None = None) -> FloatArray:
    """Return how many labelers (or how much of their weight) vote for each class: (p, k)."""
    pattern, labeler, vote = list_votes(codes)
    own = None if weight is None else weight[labeler]
    return vote_totals(pattern, vote, (len(codes), k), own)


def winners(totals: FloatArray) -> FloatArray:
    """Return the class of greatest total, shared among ties; nothing where all are zero."""
    best = totals.max(axis=1, keepdims=True)
    won = (totals == best) & (best > 0)
    return np.asarray(won / np.maximum(won.sum(axis=1, keepdims=True), 1))


def unanimous_votes(codes: IntArray) -> IntArray:
    """Return the class of the vote if two or more labelers vote and all agree, else -1."""
    top = codes.max(axis=1)
    agree = ((codes == top[:, None]) | (codes < 0)).all(axis=1)
    return np.where(agree & ((codes >= 0).sum(axis=1) >= 2), top, -1)


def smoothed_confusions(counts: FloatArray, smoothing: float) -> FloatArray:
    """Return P(outcome | truth) with ``smoothing`` votes added that ignore the truth.

    They are spread like all votes of the labeler, so an outcome that never occurs stays at zero
    for every truth and does not change the posterior.
    """
    marginal: FloatArray = counts.sum(axis=1, keepdims=True)
    marginal = marginal / np.maximum(marginal.sum(axis=2, keepdims=True), TINY)
    total = counts.sum(axis=2, keepdims=True) + smoothing
    added = counts + smoothing * marginal
    return np.where(total > 0, added / np.where(total > 0, total, 1.0), marginal)
