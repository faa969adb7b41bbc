"""Ranks of strengths that are known only so well, with limits that hold at once."""

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray

__all__ = ["rank_limits", "simultaneous_quantile", "tiers_of"]

_DRAWS = 20_000


def simultaneous_quantile(
    covariance: FloatArray, confidence: float, rng: np.random.Generator
) -> float:
    """Return the quantile of the greatest standardised difference of any two strengths."""
    k = len(covariance)
    spread = _spread(covariance)
    value, vector = np.linalg.eigh(covariance)
    root = vector * np.sqrt(np.maximum(value, 0.0))
    z = rng.standard_normal((_DRAWS, k)) @ root.T
    i, j = np.triu_indices(k, 1)
    scale = np.maximum(spread[i, j], 1e-12)
    greatest = np.zeros(_DRAWS)
    for a, b, s in zip(i, j, scale, strict=True):
        greatest = np.maximum(greatest, np.abs(z[:, a] - z[:, b]) / s)
    return float(np.quantile(greatest, confidence))


def rank_limits(
    strength: FloatArray, covariance: FloatArray, quantile: float
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the best and the worst rank of each, and who is certainly better than whom."""
    apart = (strength[:, None] - strength[None, :]) > quantile * _spread(covariance)
    np.fill_diagonal(apart, False)
    best = 1 + apart.sum(axis=0)
    worst = len(strength) - apart.sum(axis=1)
    return best, worst, apart


def tiers_of(better: BoolArray) -> IntArray:
    """Return tiers: the first holds whom nobody is certainly better than, and so on."""
    tier = np.zeros(len(better), dtype=np.int64)
    left = np.ones(len(better), dtype=bool)
    level = 0
    while left.any():
        level += 1
        top = left & ~(better & left[:, None]).any(axis=0)
        tier[top] = level
        left &= ~top
    return tier


def _spread(covariance: FloatArray) -> FloatArray:
    """Return the standard error of each difference."""
    own = np.diag(covariance)
    return np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0))
