"""Votes to numbers, on matrices of codes that are already checked.

A code is a class, -1 for an abstention or -2 for a vote that was not asked for. An *outcome* is a
class or, as the last outcome, an abstention; a vote that was not asked for has no outcome.
"""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = [
    "TINY",
    "list_votes",
    "naive_bayes",
    "normalized_exp",
    "outcome_counts",
    "outcomes_of",
    "safe_log",
    "vote_shares",
    "vote_totals",
]

# Below this a probability counts as zero; its logarithm stays finite.
TINY = 1e-300


def safe_log(values: FloatArray) -> FloatArray:
    """Return the logarithm, finite at zero."""
    return np.asarray(np.log(np.maximum(values, TINY)))


def normalized_exp(scores: FloatArray, axis: int) -> FloatArray:
    """Return exp(scores) divided by its sum, without overflow."""
    shifted = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=axis, keepdims=True))


def outcomes_of(codes: IntArray, k: int) -> IntArray:
    """Return codes with an abstention as k and a vote that was not asked for as k + 1."""
    return np.where(codes < 0, k - 1 - codes, codes)


def list_votes(codes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return pattern, labeler and class of every vote for a class."""
    pattern, labeler = np.nonzero(codes >= 0)
    return pattern, labeler, codes[pattern, labeler]


def vote_totals(
    pattern: IntArray, vote: IntArray, shape: tuple[int, int], weight: FloatArray | None = None
) -> FloatArray:
    """Return how many votes (or how much of their weight) each class has in each pattern.

    ``pattern`` and ``vote`` list the votes for classes; ``shape`` is (patterns, classes).
    """
    n, k = shape
    totals = np.bincount(pattern * k + vote, weights=weight, minlength=n * k)
    return totals.astype(np.float64).reshape(n, k)


def vote_shares(totals: FloatArray, nobody: FloatArray) -> FloatArray:
    """Return the share of the votes of each class; ``nobody`` where no labeler votes."""
    n = totals.sum(axis=1, keepdims=True)
    return np.where(n > 0, totals / np.where(n > 0, n, 1.0), nobody)


def naive_bayes(codes: IntArray, prior: FloatArray, confusions: FloatArray) -> FloatArray:
    """Return P(Y | Z) ∝ prior_y Π_j confusions[j, y, z_j] over the labelers that were asked."""
    k = len(prior)
    log_confusion = safe_log(confusions)
    scores = np.tile(safe_log(prior), (len(codes), 1))
    unasked = np.zeros((1, k))
    for j in range(codes.shape[1]):
        rows = log_confusion[j].T
        # A negative code counts from the end: -1 is the abstention, -2 adds nothing.
        scores += np.concatenate([rows[:k], unasked, rows[k:]])[codes[:, j]]
    return normalized_exp(scores, axis=1)


def outcome_counts(codes: IntArray, soft: FloatArray) -> FloatArray:
    """Return (m, k, k+1): the mass ``soft[p, y]`` of each outcome of each labeler."""
    k = soft.shape[1]
    counts: FloatArray = np.empty((codes.shape[1], k, k + 1))
    for j in range(codes.shape[1]):
        outcome = outcomes_of(codes[:, j], k)
        for y in range(k):
            counts[j, y] = np.bincount(outcome, weights=soft[:, y], minlength=k + 2)[: k + 1]
    return np.asarray(counts)
