r"""Labelers as detectors: one hit rate and one false-alarm rate for each class they vote for."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.tables import list_votes, naive_bayes, vote_shares
from karat.weak.models._votes import totals_of

__all__ = ["DetectorRates", "detector_confusions", "fit_detectors", "smoothed_majority"]

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
        self, mass: FloatArray, guess: DetectorRates, *, pseudo: float, lead: float
    ) -> DetectorRates:
        """Return the rates if ``mass[z, y]`` items of pattern z have class y.

        A detector that hits less than ``lead`` times as often as it raises a false alarm says
        nothing: both rates are those of its votes on all items.
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
        blind = hit < lead * alarm
        return DetectorRates(np.where(blind, either, hit), np.where(blind, either, alarm))


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
    log-evidence of an abstention is multiplied by ``abstention``.
    """
    k = len(prior)
    pattern, labeler, vote = list_votes(codes)
    asked = None if codes.min(initial=-1) >= -1 else (codes > -2).astype(np.float64)
    votes = _Votes(codes, pattern, labeler * k + vote, vote, asked)
    unknown = weight if gold is None else np.maximum(weight - gold.sum(axis=1), 0.0)

    def mass(proba: FloatArray) -> FloatArray:
        part = proba * unknown[:, None]
        return part if gold is None else part + gold

    nothing = np.zeros((codes.shape[1], k))
    start = mass(vote_shares(totals_of(codes, k), prior))
    guess = votes.rates(start, DetectorRates(nothing, nothing), pseudo=0.0, lead=0.0)
    rates = votes.rates(start, guess, pseudo=_PSEUDO, lead=lead)
    for _ in range(_PASSES - 1):
        proba = naive_bayes(codes, prior, detector_confusions(rates, abstention))
        rates = votes.rates(mass(proba), guess, pseudo=_PSEUDO, lead=lead)
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
