"""Error rates from a few gold labels, with the votes as control: valid whatever the model.

The rate and its limits are those of `karat.limits.prediction_powered_mean`; predictions
that learn from the labels are crossed as in T. Zrnic and E. J. Candès, Cross-prediction-powered
inference, PNAS 121 (2024).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from karat._typing import FloatArray, IntArray
from karat.consensus._fitting import DomainFit
from karat.consensus.model import build_problem, class_proba, labelled_errors
from karat.limits.prediction_powered import bernstein_of_mean, limits_of_mean
from karat.votes.domains import Domain
from karat.votes.em import fit_point, starting_state
from karat.votes.patterns import VoteTable

_FEWEST = 5  # labels below which nothing is said
_FOLDS = 10
_PRIOR = 4.0  # votes that the label-free consensus counts for in a voter's record


@dataclass(frozen=True, slots=True)
class LabelRate:
    """An error rate with gold labels, and the intervals from the labels alone beside it."""

    n_gold: int
    value: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    labels_value: float = np.nan
    labels_lower: float = np.nan
    labels_upper: float = np.nan
    bernstein_lower: float = np.nan
    bernstein_upper: float = np.nan
    weight: float = np.nan


@dataclass(frozen=True, slots=True)
class Predictions:
    """Label probabilities from consensuses that have each not seen one fold of the gold labels."""

    proba: FloatArray  # folds × patterns × classes
    items: IntArray  # the labelled items, as positions in the domain
    fold: IntArray  # the fold of each


def blind_consensus(fit: DomainFit) -> FloatArray:
    """Return P(class) of every pattern from a consensus that has not seen the gold labels."""
    table = fit.table.without_gold()
    # Who copies whom was found with the labels at hand, so it takes no part.
    problem = build_problem(replace(fit.best.problem.model, parent=None), table)
    _, _, proba = fit_point(problem, starting_state(problem, table.vote_shares()))
    return class_proba(problem, proba)


def cross_predictions(domain: Domain, blind: FloatArray) -> Predictions:
    """Weigh voters by their record on the gold labels of all folds but one, fold by fold.

    A voter's record starts from what the label-free consensus ``blind`` says of it. A vote counts
    the log-odds of the record; the sum is divided by the square root of the number of voters,
    because votes are far from independent.
    """
    table = domain.table
    items = np.flatnonzero(table.gold[domain.pattern] >= 0)
    fold = np.arange(len(items)) % min(_FOLDS, len(items))
    start = 1 - labelled_errors(table, blind)
    start = np.where(np.isfinite(start), start, 1 / table.n_classes)
    proba = []
    for f in range(int(fold.max()) + 1):
        known = table.with_counts(
            np.bincount(domain.pattern[items[fold != f]], minlength=table.n_patterns)
        )
        cast = known.votes_cast
        truth = np.eye(table.n_classes)[np.maximum(table.gold, 0)]
        errors = np.nan_to_num(labelled_errors(known, truth))
        # Of few labels a record may be perfect; the clip keeps its log-odds finite.
        record = np.clip((_PRIOR * start + cast * (1 - errors)) / (_PRIOR + cast), 0.01, 0.99)
        odds = np.log(record * (table.n_classes - 1) / (1 - record))
        proba.append(_weighted_vote(table, odds))
    return Predictions(np.array(proba), items, fold)


def _weighted_vote(table: VoteTable, odds: FloatArray) -> FloatArray:
    voted = table.outcome < table.n_classes
    cell = table.pattern_of_vote[voted] * table.n_classes + table.outcome[voted]
    size = table.n_patterns * table.n_classes
    votes = np.bincount(cell, weights=odds[table.voter[voted]], minlength=size)
    voters = np.maximum(np.diff(table.start), 1)[:, None]
    return np.asarray(softmax(votes.reshape(table.n_patterns, -1) / np.sqrt(voters), axis=1))


def rates_with_votes(
    domain: Domain,
    predictions: Predictions,
    *,
    confidence: float,
    finite: bool,
    probability: FloatArray | None = None,
) -> list[LabelRate]:
    """Return the error rate of every voter of a domain.

    ``probability`` is the chance with which each item of the domain was labelled, where it differs.
    """
    table = domain.table
    dense = np.full((table.n_voters, table.n_patterns), -1)
    voted = table.outcome < table.n_classes
    dense[table.voter[voted], table.pattern_of_vote[voted]] = table.outcome[voted]
    items = np.bincount(domain.pattern, minlength=table.n_patterns)
    unlabelled = np.where(table.gold < 0, items, 0)
    answers = []
    for vote in dense:
        cast = vote >= 0
        m = predictions.proba[:, cast, vote[cast]]  # folds × patterns it voted on
        others = unlabelled[cast]
        place = np.cumsum(cast) - 1
        pattern = domain.pattern[predictions.items]
        mine = cast[pattern]
        pattern, fold = pattern[mine], predictions.fold[mine]
        weight = None if probability is None else 1 / probability[predictions.items[mine]]
        answers.append(
            rate_with_votes(
                right=(table.gold[pattern] == vote[pattern]).astype(np.float64),
                predicted=m[fold, place[pattern]],
                fold=fold,
                others=m @ others,
                n_others=float(others.sum()),
                confidence=confidence,
                finite=finite,
                weight=weight,
            )
        )
    return answers


def rate_with_votes(
    *,
    right: FloatArray,
    predicted: FloatArray,
    fold: IntArray,
    others: FloatArray,
    n_others: float,
    confidence: float,
    finite: bool,
    weight: FloatArray | None = None,
) -> LabelRate:
    """Return the error rate of one voter.

    Of its n gold votes ``right`` says whether each is right, and ``predicted``, from a consensus
    that has not seen that label, how probable this is; ``others`` is, by fold, the sum of such
    probabilities over the ``n_others`` votes without a label. ``weight`` is one over the chance
    with which each label was drawn; limits that hold for any number of labels need equal chances.
    """
    n = len(right)
    if n < _FEWEST:
        return LabelRate(n_gold=n)
    total = n + n_others
    unseen = others / n_others if n_others > 0 else np.full(len(others), float(predicted.mean()))
    far = predicted - unseen[fold]
    delta = (1 - confidence) / 2
    seen = far.mean() if weight is None else float(weight @ far / weight.sum())
    found = limits_of_mean(
        right,
        far[:, None],
        np.array([n / total * far.mean() - seen]),
        total,
        delta=delta,
        finite=finite,
        weight=weight,
        fewest=_FEWEST,
    )
    at = float(np.mean(unseen[fold]))
    low = high = np.nan
    if weight is None:
        low, high = bernstein_of_mean(right, predicted, at, n_others, delta=delta)
    return LabelRate(
        n_gold=n,
        value=1 - found.value,
        lower=1 - found.upper,
        upper=1 - found.lower,
        labels_value=1 - found.labels,
        labels_lower=1 - found.labels_upper,
        labels_upper=1 - found.labels_lower,
        bernstein_lower=1 - high,
        bernstein_upper=1 - low,
        weight=found.weight,
    )
