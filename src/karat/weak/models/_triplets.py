"""Accuracies from the agreement of three labelers at a time, on encoded votes (Fu et al. 2020)."""

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray

__all__ = ["signed_votes", "triplet_accuracies", "triplet_log_odds"]


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
