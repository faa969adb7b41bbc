"""Accuracies in closed form from the agreement of three labelers at a time."""

import warnings

import numpy as np

from karat._callers import caller_level
from karat._typing import BoolArray, FloatArray, IntArray
from karat._validate import named
from karat.exceptions import KaratWarning
from karat.votes.tables import normalized_exp
from karat.weak.models import (
    KnownVotes,
    VoteModel,
    signed_votes,
    totals_of,
    triplet_accuracies,
    triplet_log_odds,
    winners,
)

__all__ = ["TripletLabelModel"]


class TripletLabelModel(VoteModel):
    r"""Closed form of FlyingSquid: accuracies from the agreement of three labelers at a time.

    Votes are ±1, 0 where a labeler abstained or was not asked, which are alike here. If labelers
    err independently given the truth and as often on either class, the mean product of two votes,
    over the items on which both vote, is
    ``E_ij = a_i a_j`` with ``a_i = E[Z_i Y]``, so

    .. math:: |a_i| = \sqrt{|E_{ij} E_{ik} / E_{jk}|},

    of which the median over all j, k is taken. Signs are those that fit the agreements with most
    labelers better than chance. ``P(Y | Z)`` follows by Bayes' rule with ``P(Z_i = Y) = (1+a_i)/2``
    and abstention saying nothing. With more than two classes each is fitted against the rest and
    the probabilities are scaled to sum to 1.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.
    class_prior_ : array (k,)
        The prior that was given, or counted from true labels, or the share of each class among
        majority votes.
    accuracies_ : array (m,) or (k, m)
        ``P(Z_i = Y)`` where labeler i votes; with more than two classes, for each against the rest.
    names_ : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    null_ : str
        What a null was in ``fit``; ``predict_proba`` reads nulls in the same way.

    References
    ----------
    D. Y. Fu et al., Fast and three-rious: speeding up weak supervision with triplet methods,
    ICML 2020. Used as a label model by Maia Polo et al. (2023).

    Examples
    --------
    >>> one_off = [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 0], [0, 1, 1]]
    >>> model = TripletLabelModel().fit([[0, 0, 0], [1, 1, 1]] * 6 + one_off)
    >>> model.accuracies_.round(3)
    array([0.873, 0.873, 0.873])
    >>> model.predict_proba([[0, 0, 1], [1, -1, -1]]).round(3)
    array([[0.873, 0.127],
           [0.127, 0.873]])
    """

    _learns_prior = True

    _fewest_voters = 3

    def _learn(self, known: KnownVotes) -> FloatArray:
        codes, weight = known.found.patterns, known.found.counts.astype(np.float64)
        k, prior = known.k, known.prior
        if prior is None:
            won = weight @ winners(totals_of(codes, k))
            prior = won / won.sum()
        sides = [1] if k == 2 else list(range(k))
        fits = [triplet_accuracies(signed_votes(codes, c), weight) for c in sides]
        self._signed = np.stack([signed for signed, _ in fits])
        self._guessed = np.any([guessed for _, guessed in fits], axis=0)
        self.accuracies_ = (1 + self._signed[0]) / 2 if k == 2 else (1 + self._signed) / 2
        return prior

    def _look_back(self, known: KnownVotes) -> None:
        self._warn_of_guesses(self._guessed)
        self._warn_of_contradictions(known.found)

    def _warn_of_guesses(self, guessed: BoolArray) -> None:
        if guessed.any():
            names = [self.names_[j] for j in np.flatnonzero(guessed)]
            warnings.warn(
                f"the accuracy of {named(names)} cannot be estimated from triplets, because no two "
                "others vote beside each of them and together, so TripletLabelModel gives them the "
                "median of the rest; DetectorLabelModel needs no triplets",
                KaratWarning,
                stacklevel=caller_level(),
            )

    def _posterior(self, codes: IntArray) -> FloatArray:
        k = len(self.classes_)
        sides = [1] if k == 2 else range(k)
        odds = np.column_stack(
            [
                triplet_log_odds(signed_votes(codes, c), signed, self.class_prior_[c])
                for c, signed in zip(sides, self._signed, strict=True)
            ]
        )
        if k == 2:
            odds = np.column_stack([-odds, odds])
        # The logarithm of the probability of each class against the rest, without overflow.
        return normalized_exp(-np.logaddexp(0.0, -odds), axis=1)
