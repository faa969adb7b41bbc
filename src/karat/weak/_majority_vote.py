"""The share of the votes."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.tables import vote_shares
from karat.weak.models import KnownVotes, VoteModel, totals_of

__all__ = ["MajorityVote"]


class MajorityVote(VoteModel):
    """Share of the labelers that vote for each class.

    ``P(Y=y | Z) = #{j : Z_j = y} / #{j : Z_j is a class}``; where nobody votes, the class prior.
    It learns nothing, works with any number of labelers, and is not calibrated: two votes out of
    two count as certainty. An abstention (-1) and a vote that was not asked for (null) are alike,
    and weights of items have no effect.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.
    class_prior_ : array (k,)
        The prior that was given, or counted from true labels, or the uniform one.
    names_ : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    null_ : str
        What a null was in ``fit``; ``predict_proba`` reads nulls in the same way.

    Examples
    --------
    >>> model = MajorityVote().fit([[0, 1, 1], [0, 0, -1], [-1, -1, -1]])
    >>> model.predict_proba([[0, 1, 1], [-1, -1, -1]]).round(3)
    array([[0.333, 0.667],
           [0.5  , 0.5  ]])
    """

    def _learn(self, known: KnownVotes) -> FloatArray:
        return np.full(known.k, 1.0 / known.k) if known.prior is None else known.prior

    def _posterior(self, codes: IntArray) -> FloatArray:
        return vote_shares(totals_of(codes, len(self.classes_)), self.class_prior_)
