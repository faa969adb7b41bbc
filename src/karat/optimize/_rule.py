"""Decisions by weighted probabilities: the plug-in rule."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["CHUNK", "decide", "one_hot"]

# Rows are taken in chunks whose temporaries stay in the processor's cache.
CHUNK = 1 << 14


def decide(proba: FloatArray, basis: FloatArray, weights: FloatArray) -> IntArray:
    """Return the code of the best class of each row.

    With ``weights`` (L, k) the score of class j is ``W_j(x)·η_j(x)`` with
    ``W_j = Σ_l weights[l, j]·φ_l`` (seed 001, eq. 7.18); with (L, k, k) it is
    ``Σ_i W_ij(x)·η_i(x)`` (eq. E.9). A tie goes to the later class, as in `BayesClassifier`.
    Where all basis functions are 0, nothing is known of the weights and the most probable class is
    predicted.
    """
    codes = np.empty(len(proba), dtype=np.intp)
    for start in range(0, len(proba), CHUNK):
        rows = slice(start, start + CHUNK)
        scores = _scores(proba[rows], basis[rows], weights)
        unknown = ~basis[rows].any(axis=1)
        if unknown.any():
            scores[unknown] = proba[rows][unknown]
        codes[rows] = scores.shape[1] - 1 - np.argmax(scores[:, ::-1], axis=1)
    return codes


def _scores(proba: FloatArray, basis: FloatArray, weights: FloatArray) -> FloatArray:
    if weights.ndim == 2:
        return np.asarray(proba * (basis @ weights))
    total = np.zeros((len(proba), weights.shape[2]))
    for values, matrix in zip(basis.T, weights, strict=True):
        part = proba @ matrix
        # Ten times the product's own time, so not for the constant.
        total += part if (values == 1.0).all() else values[:, None] * part
    return total


def one_hot(codes: IntArray, k: int) -> FloatArray:
    """Return the shares of a classifier that decides."""
    return np.asarray(np.eye(k)[codes])
