"""Votes to numbers, on codes that are already checked. -1 abstains."""

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray

# Below this a probability counts as zero; its logarithm stays finite.
TINY = 1e-300


def safe_log(values: FloatArray) -> FloatArray:
    """Return the logarithm, finite at zero."""
    return np.asarray(np.log(np.maximum(values, TINY)))


def vote_totals(codes: IntArray, k: int, weight: FloatArray | None = None) -> FloatArray:
    """Return how many labelers (or how much of their weight) vote for each class: (p, k)."""
    totals = np.zeros((len(codes), k))
    rows = np.arange(len(codes))
    for j in range(codes.shape[1]):
        votes = codes[:, j] >= 0
        totals[rows[votes], codes[votes, j]] += 1.0 if weight is None else weight[j]
    return totals


def vote_shares(codes: IntArray, prior: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the share of the votes of each class; where all abstain, the prior."""
    totals = vote_totals(codes, len(prior), weight)
    n = totals.sum(axis=1, keepdims=True)
    return np.where(n > 0, totals / np.where(n > 0, n, 1.0), prior)


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


def one_hot(codes: IntArray, k: int) -> FloatArray:
    """Return (p, m·(k+1)) indicators of each labeler's outcome; the last one is abstention."""
    outcomes = np.where(codes < 0, k, codes)
    return np.asarray((outcomes[:, :, None] == np.arange(k + 1)).reshape(len(codes), -1) * 1.0)


def normalized_exp(scores: FloatArray, axis: int) -> FloatArray:
    """Return exp(scores) divided by its sum, without overflow."""
    shifted = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=axis, keepdims=True))


def naive_bayes(codes: IntArray, prior: FloatArray, confusions: FloatArray) -> FloatArray:
    """Return P(Y | Z) ∝ prior_y Π_j confusions[j, y, z_j], computed in logarithms."""
    k = len(prior)
    log_confusion = safe_log(confusions)
    scores = np.tile(safe_log(prior), (len(codes), 1))
    for j in range(codes.shape[1]):
        scores += log_confusion[j].T[np.where(codes[:, j] < 0, k, codes[:, j])]
    return normalized_exp(scores, axis=1)


def outcome_counts(codes: IntArray, soft: FloatArray) -> FloatArray:
    """Return (m, k, k+1): the mass ``soft[p, y]`` of each outcome of each labeler."""
    k = soft.shape[1]
    counts: FloatArray = np.empty((codes.shape[1], k, k + 1))
    for j in range(codes.shape[1]):
        outcome = np.where(codes[:, j] < 0, k, codes[:, j])
        for y in range(k):
            counts[j, y] = np.bincount(outcome, weights=soft[:, y], minlength=k + 1)
    return np.asarray(counts)


def smoothed_confusions(counts: FloatArray, smoothing: float) -> FloatArray:
    """Return P(outcome | truth) with ``smoothing`` votes added that ignore the truth.

    They are spread like all votes of the labeler, so an outcome that never occurs stays at zero
    for every truth and says nothing.
    """
    marginal: FloatArray = counts.sum(axis=1, keepdims=True)
    marginal = marginal / np.maximum(marginal.sum(axis=2, keepdims=True), TINY)
    total = counts.sum(axis=2, keepdims=True) + smoothing
    added = counts + smoothing * marginal
    return np.where(total > 0, added / np.where(total > 0, total, 1.0), marginal)


def signed_votes(codes: IntArray, positive: int) -> FloatArray:
    """Return votes as 1 for the class ``positive``, -1 for another, 0 for abstention."""
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
    # A pair that agrees by chance alone says nothing about a third.
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
