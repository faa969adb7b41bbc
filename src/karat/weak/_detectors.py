"""The label model that is fitted where none is passed: labelers that detect one class each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.statistics.patterns import list_votes, vote_shares
from karat.weak.label_model import GoldCounts, KnownVotes, VoteModel, naive_bayes, totals_of


class _Regime(NamedTuple):
    """How much the detectors count, what makes one, and how much an abstention says."""

    share: float
    lead: float
    abstention: float


# Without P(Y) the detectors count for less, and an abstention, whose evidence is that of the class
# that nobody votes for, says nothing.
_UNKNOWN = _Regime(share=0.3, lead=2.0, abstention=0.0)
_KNOWN = _Regime(share=0.5, lead=3.0, abstention=0.1)
_WORTH = 10.0  # true labels of a pattern that P(Y | z) is worth


class DetectorLabelModel(VoteModel):
    r"""The label model that is used where none is passed: detectors beside a smoothed vote.

    .. math:: P(Y=y \mid z) = (1-s)\,\frac{T_y + \pi_y/2}{T + 1/2} + s\,D(y \mid z)

    with :math:`T_y` of T votes for class y, and D the posterior of *detectors*: where labeler j is
    asked it votes for class c with the hit rate :math:`g_{jc}` if c is true and with one
    false-alarm rate :math:`b_{jc}` if it is not, so that

    .. math:: D(y \mid z) \propto \pi_y \prod_{j: z_j = y} \frac{g_{jy}}{b_{jy}}
        \prod_{j\ \text{abstains}} \Bigl(1 - g_{jy} - \sum_{c \neq y} b_{jc}\Bigr)^{\lambda}.

    Where g is less than :math:`1 + (r-1)\,a_j` times b the two are one rate and the vote says
    nothing; :math:`a_j` is how often the labeler abstains. The rates are fitted by ten passes of
    expectation–maximisation from the majority vote, which also adds 10 items to each. P(Y) = π is
    never learnt from the votes: it is

    * equal shares, if nothing is known (s = 0.3, r = 2, λ = 0);
    * ``class_prior``, if it is passed (s = 0.5, r = 3, λ = 0.1);
    * (counts + 10·(½ share of the votes + ½/k)) / (n + 10) of n true labels, if ``y_true`` is
      passed (s, r and λ as with a class prior).

    Labelled items count with their true class in the rates, and the counts :math:`N_{zy}` of a
    pattern are added to 10 items of P(Y | z): it is then :math:`(N_{zy} + 10\,P(y\mid z)) /
    (N_z + 10)`.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.
    class_prior_ : array (k,)
        P(Y): given, counted from true labels, or equal shares.
    known_ : {"nothing", "class_prior", "y_true"}
        Where P(Y) comes from.
    assumption_ : str
        The same in a sentence, with what would help most.
    hit_rates_, false_alarm_rates_ : array (m, k)
        P(Z_j = c | Y = c) and P(Z_j = c | Y ≠ c), equal where a vote says nothing.
    gold_n_ : float
        Number of true labels, or the sum of their weights.
    names_ : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    null_ : str
        What a null was in ``fit``; ``predict_proba`` reads nulls in the same way.

    Notes
    -----
    Models that learn P(Y) and whole confusions from votes alone, as `DawidSkene` does, can explain
    the votes better with classes that are not the ones meant. Where rules fire rarely the most
    common explanation of silence becomes a class, P(Y) of another goes to zero, and labelers that
    are always right are found to be worse than chance. Held fixed, a wrong P(Y) costs little.

    The constants were chosen on eleven sets of weak labels with a known truth; `the page on label
    models <../theory/label-models.html>`_ has the figures. Only true labels can tell whether the
    model is right about other data: see `check_label_model`.

    Examples
    --------
    >>> votes = [[0, 0, -1], [0, 0, 1], [1, 1, 1], [-1, 1, 1], [0, -1, -1], [1, 0, 1]]
    >>> model = DetectorLabelModel().fit(votes)
    >>> model.predict_proba([[0, 0, 1], [1, 1, -1]]).argmax(axis=1)
    array([0, 1])
    >>> model.assumption_
    'P(Y) is not known and the classes are assumed to be equally common; knowing P(Y) is worth ...'
    >>> DetectorLabelModel().fit(votes, class_prior=[0.8, 0.2]).known_
    'class_prior'
    """

    assumes_independence = False

    _fewest_voters = 2

    def _learn(self, known: KnownVotes) -> FloatArray:
        codes, weight = known.found.patterns, known.found.counts.astype(np.float64)
        prior = np.full(known.k, 1.0 / known.k) if known.prior is None else known.prior
        self._regime = _UNKNOWN if known.prior is None else _KNOWN
        self._rates: DetectorRates = fit_detectors(
            codes,
            weight,
            prior,
            gold=known.gold,
            lead=self._regime.lead,
            abstention=self._regime.abstention,
        )
        self._gold = None if known.gold is None else GoldCounts.of(codes, known.gold)
        self.hit_rates_, self.false_alarm_rates_ = self._rates
        return prior

    def _look_back(self, known: KnownVotes) -> None:
        self._note_implied(known.found)

    def _posterior(self, codes: IntArray) -> FloatArray:
        share = self._regime.share
        table = detector_confusions(self._rates, self._regime.abstention)
        detected = naive_bayes(codes, self.class_prior_, table)
        mixed = (1 - share) * smoothed_majority(codes, self.class_prior_) + share * detected
        mixed /= mixed.sum(axis=1, keepdims=True)
        return mixed if self._gold is None else self._gold.added_to(mixed, codes, _WORTH)


# --- Labelers as detectors: one hit rate and one false-alarm rate for each class they vote for.

# Items from the majority vote that are added to every rate.
_PSEUDO = 10.0
# Few passes keep the detectors near the vote that they start from; more of them trust it less.
_PASSES = 10
_HALF_VOTE = 0.5  # votes that the class prior is worth beside those that were cast
_LEAST, _LEAST_ABSTENTION = 1e-12, 1e-6


class DetectorRates(NamedTuple):
    """``hit[j, c]`` = P(Z_j = c | Y = c) and ``alarm[j, c]`` = P(Z_j = c | Y ≠ c)."""

    hit: FloatArray
    alarm: FloatArray


class _Votes(NamedTuple):
    """Votes as a list, and who was asked; ``asked`` is None if everybody was."""

    codes: IntArray
    pattern: IntArray
    cell: IntArray
    vote: IntArray
    asked: FloatArray | None

    def rates(
        self, mass: FloatArray, guess: DetectorRates, *, pseudo: float, lead: FloatArray
    ) -> DetectorRates:
        """Return the rates if ``mass[z, y]`` items of pattern z have class y.

        A detector of labeler j that hits less than ``lead[j]`` times as often as it raises a false
        alarm says nothing: both rates are those of its votes on all items.
        """
        m, k = self.codes.shape[1], mass.shape[1]
        shape = (m, k)
        hits = np.bincount(self.cell, mass[self.pattern, self.vote], m * k).reshape(shape)
        votes = np.bincount(self.cell, mass.sum(axis=1)[self.pattern], m * k).reshape(shape)
        there = mass.sum(axis=0)[None] if self.asked is None else self.asked.T @ mass
        all_items = there.sum(axis=1, keepdims=True)
        hit = _rate(hits + pseudo * guess.hit, there + pseudo)
        alarm = _rate(votes - hits + pseudo * guess.alarm, all_items - there + pseudo)
        either = _rate(votes + pseudo * (guess.hit + guess.alarm), all_items + 2 * pseudo)
        blind = hit < lead[:, None] * alarm
        return DetectorRates(np.where(blind, either, hit), np.where(blind, either, alarm))

    def silence(self, weight: FloatArray) -> FloatArray:
        """Return how often each labeler abstains where it is asked: (m,)."""
        asked = weight @ (self.codes > -2)
        return _rate(weight @ (self.codes == -1), asked)


def _rate(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(part, 0.0) / np.maximum(whole, _LEAST))


def fit_detectors(
    codes: IntArray,
    weight: FloatArray,
    prior: FloatArray,
    *,
    gold: FloatArray | None,
    lead: float,
    abstention: float,
) -> DetectorRates:
    """Fit the rates by ten passes of expectation and maximisation from the majority vote.

    ``prior`` is P(Y) and stays as it is. ``gold[z, y]`` of the items have a known class. The
    log-evidence of an abstention is multiplied by ``abstention``. ``lead`` is asked of a labeler
    that hardly ever votes, whose votes are read as the firing of a rule; of one that always votes,
    whose false alarms are the misses of another class, no more than to be better than chance.
    """
    k = len(prior)
    pattern, labeler, vote = list_votes(codes)
    asked = None if codes.min(initial=-1) >= -1 else (codes > -2).astype(np.float64)
    votes = _Votes(codes, pattern, labeler * k + vote, vote, asked)
    unknown = weight if gold is None else np.maximum(weight - gold.sum(axis=1), 0.0)

    def mass(proba: FloatArray) -> FloatArray:
        part = proba * unknown[:, None]
        return part if gold is None else part + gold

    nothing, any_lead = np.zeros((codes.shape[1], k)), np.zeros(codes.shape[1])
    leads = 1.0 + (lead - 1.0) * votes.silence(weight)
    start = mass(vote_shares(totals_of(codes, k), prior))
    guess = votes.rates(start, DetectorRates(nothing, nothing), pseudo=0.0, lead=any_lead)
    rates = votes.rates(start, guess, pseudo=_PSEUDO, lead=leads)
    for _ in range(_PASSES - 1):
        proba = naive_bayes(codes, prior, detector_confusions(rates, abstention))
        rates = votes.rates(mass(proba), guess, pseudo=_PSEUDO, lead=leads)
    return rates


def detector_confusions(rates: DetectorRates, abstention: float) -> FloatArray:
    """Return (m, k, k + 1): P(vote | truth), and P(abstention | truth) to a power, last."""
    m, k = rates.hit.shape
    table = np.repeat(rates.alarm[:, None, :], k, axis=1)
    table[:, range(k), range(k)] = rates.hit
    silent = 1.0 - rates.hit - (rates.alarm.sum(axis=1, keepdims=True) - rates.alarm)
    silent = np.clip(silent, _LEAST_ABSTENTION, 1.0) ** abstention
    return np.concatenate([np.maximum(table, _LEAST), silent.reshape(m, k, 1)], axis=2)


def smoothed_majority(codes: IntArray, prior: FloatArray) -> FloatArray:
    """Return (T_c + π_c / 2) / (T + 1/2) with T_c of T votes for class c."""
    totals = totals_of(codes, len(prior))
    return np.asarray(
        (totals + _HALF_VOTE * prior) / (totals.sum(axis=1, keepdims=True) + _HALF_VOTE)
    )
