"""Accuracies of three labelers from their agreement alone, in closed form."""

import warnings

import numpy as np

from karat._callers import caller_level
from karat._typing import BoolArray, FloatArray, IntArray
from karat._validate import named
from karat.exceptions import KaratWarning
from karat.weak.label_model import KnownVotes, VoteModel, normalized_exp, totals_of, winners


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


# --- Accuracies from the agreement of three labelers at a time, on encoded votes (Fu et al. 2020).


def signed_votes(codes: IntArray, positive: int) -> FloatArray:
    """Return votes as 1 for the class ``positive``, -1 for another, 0 where there is none."""
    return np.where(codes < 0, 0.0, np.where(codes == positive, 1.0, -1.0))


def triplet_accuracies(signed: FloatArray, weight: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return a_i = E[Z_i Y | Z_i ≠ 0] by triplets, and which of them had to be guessed."""
    weighted = signed * weight[:, None]
    both = np.abs(signed).T @ np.abs(weighted)
    agree = np.where(both > 0, (signed.T @ weighted) / np.where(both > 0, both, 1.0), np.nan)
    np.fill_diagonal(agree, np.nan)
    m = len(agree)
    size = np.full(m, np.nan)
    upper = np.triu(np.ones((m, m), dtype=bool), 1)
    # A pair that agrees by chance alone would divide by 0.
    base = np.where(upper & (np.abs(agree) > 1e-6), agree, np.nan)
    for i in range(m):
        squares = np.abs(np.outer(agree[i], agree[i]) / base)
        squares = squares[np.isfinite(squares)]
        if squares.size:
            size[i] = min(np.sqrt(np.median(squares)), 1.0)
    guessed = np.isnan(size)
    size[guessed] = np.median(size[~guessed]) if not guessed.all() else 0.5
    # Covariances, because labelers that vote for one class each disagree without being wrong.
    mean = np.where(both > 0, (weighted.T @ np.abs(signed)) / np.where(both > 0, both, 1.0), 0.0)
    signs = _signs(np.nan_to_num(agree - mean * mean.T))
    return np.clip(size, 0.01, 0.99) * signs, guessed


def _signs(covariance: FloatArray) -> FloatArray:
    """Return ±1 that fit the signs of the covariances, most of them +1."""
    _, vectors = np.linalg.eigh(covariance)
    lead = vectors[:, -1]
    return np.where(lead * (1.0 if lead.sum() >= 0 else -1.0) < -1e-9, -1.0, 1.0)


def triplet_log_odds(signed: FloatArray, accuracy: FloatArray, prior: float) -> FloatArray:
    """Return log P(Y=1 | Z) / P(Y=-1 | Z) = logit(prior) + Σ_i z_i log((1+a_i)/(1-a_i))."""
    inside = min(max(prior, 1e-12), 1 - 1e-12)
    logit = np.log(inside / (1 - inside))
    return np.asarray(logit + signed @ np.log((1 + accuracy) / (1 - accuracy)))
