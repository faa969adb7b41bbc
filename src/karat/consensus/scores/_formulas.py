r"""A latent normal with cut-points: what a voter says given the class.

A voter j sees :math:`z = \pm\mu_j/2 + \epsilon`, plus for class 1, and gives the level between
whose cut-points z lies: :math:`P(\text{level} \le l \mid y) = \Phi(c_{jl} \mp \mu_j/2)`. The odds
of class 1 rise with the level wherever :math:`\mu_j > 0`, whatever the cut-points.
"""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["binormal", "class_chances", "error_and_area", "level_chances"]


def level_chances(cuts: FloatArray, separation: FloatArray) -> FloatArray:
    """Return P(level | class): (…, 2, levels) of cut-points (…, levels − 1); infinite cuts end."""
    from scipy.special import ndtr

    half = np.asarray(separation)[..., None, None] / 2
    sign = np.array([1.0, -1.0])[:, None]
    below = ndtr(cuts[..., None, :] + sign * half)
    ends = (*below.shape[:-1], 1)
    edges = np.concatenate([np.zeros(ends), below, np.ones(ends)], axis=-1)
    return np.asarray(np.diff(edges, axis=-1))


def error_and_area(chances: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the error rate of each voter read at its own calibration, and its area under the ROC.

    The error is that of calling every level by its more probable class; ``share`` is P(class 1).
    The area counts a pair on one level half.
    """
    zero, one = chances[..., 0, :], chances[..., 1, :]
    p = np.asarray(share)[..., None]
    error = np.minimum((1 - p) * zero, p * one).sum(axis=-1)
    below = np.cumsum(zero, axis=-1) - zero / 2
    return error, (one * below).sum(axis=-1)


def binormal(separation: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return error rate and area of a score that is not cut into levels.

    The best threshold is where both classes are as probable: at log((1 − p)/p)/μ.
    """
    from scipy.special import ndtr

    apart = np.maximum(np.abs(separation), 1e-9)
    at = np.log((1 - share) / share) / apart
    error = share * ndtr(at - apart / 2) + (1 - share) * ndtr(-at - apart / 2)
    return np.asarray(error), np.asarray(ndtr(separation / np.sqrt(2)))


def class_chances(codes: IntArray, chances: FloatArray, share: float) -> FloatArray:
    """Return P(class 1) of items × voters of levels, -1 where there is none."""
    log = np.log(np.maximum(chances, 1e-300))
    ratio = log[:, 1] - log[:, 0]  # voters × levels
    total = np.full(len(codes), np.log(share / (1 - share)))
    for j in range(codes.shape[1]):
        total += np.where(codes[:, j] >= 0, ratio[j][np.maximum(codes[:, j], 0)], 0.0)
    return np.asarray(1 / (1 + np.exp(-total)))
