"""The share of the votes."""

from typing import Self

import numpy as np

from karat._typing import Column, FloatArray, Frame, IntArray
from karat.statistics import Patterns
from karat.votes.tables import vote_shares
from karat.weak.models import PatternModel, read_votes, totals_of

__all__ = ["MajorityVote"]


class MajorityVote(PatternModel):
    """Share of the labelers that vote for each class.

    ``P(Y=y | Z) = #{j : Z_j = y} / #{j : Z_j is a class}``; where nobody votes, the class prior.
    It learns nothing, works with any number of labelers, and is not calibrated: two votes out of
    two count as certainty. An abstention (-1) and a vote that was not asked for (null) are alike.

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

    def fit(
        self,
        weak_labels: Frame | Patterns,
        *,
        y_true: Column | None = None,
        classes: Column | None = None,
        class_prior: Column | None = None,
        sample_weight: Column | None = None,
        null: str = "not asked",
    ) -> Self:
        """Learn the classes.

        Parameters
        ----------
        weak_labels : matrix or frame (n, m)
            One row per item, one column per labeler; -1 where a labeler abstained, null where it
            was not asked. A long table or patterns, as in `karat.votes.read_patterns`, will do.
        y_true : column (n,), optional
            True labels of some items, null or -1 elsewhere: they give the class prior where none
            is passed.
        classes : column (k,), optional
            The classes in the wanted order; by default those found, sorted.
        class_prior : column (k,) or mapping, optional
            What a row in which nobody votes gets; by default that of the true labels, or uniform.
        sample_weight : column (n,), optional
            Checked and otherwise without effect.
        null : {"not asked", "abstain"}, default "not asked"
            What a null is: an item that the labeler was not asked about, or an abstention, as -1
            always is. ``predict_proba`` reads nulls in the same way.

        Returns
        -------
        MajorityVote
            Itself.
        """
        known = read_votes(
            weak_labels, y_true=y_true, classes=classes, class_prior=class_prior,
            sample_weight=sample_weight, null=null,
        )  # fmt: skip
        prior = np.full(known.k, 1.0 / known.k) if known.prior is None else known.prior
        self._remember(known, prior, null)
        return self

    def _posterior(self, codes: IntArray) -> FloatArray:
        return vote_shares(totals_of(codes, len(self.classes_)), self.class_prior_)
