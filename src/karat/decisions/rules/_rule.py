"""Decisions by weighted probabilities: the one rule of which every classifier here is made."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["CHUNK", "decide", "last_argmax", "one_hot"]

# Rows are taken in chunks whose temporaries stay in the processor's cache.
CHUNK = 1 << 14


def last_argmax(scores: FloatArray) -> IntArray:
    """Return the position of the greatest score along the last axis, the later one of equals.

    Hiranandani (2021), Proposition 3.1, gives a tie to the later class; what is counted and what
    is deployed must break it alike.
    """
    return np.asarray(scores.shape[-1] - 1 - np.argmax(scores[..., ::-1], axis=-1))


def decide(
    proba: FloatArray,
    weights: FloatArray,
    basis: FloatArray | None = None,
    *,
    chunk: int = CHUNK,
) -> IntArray:
    """Return the code of the best class of each row.

    Parameters
    ----------
    proba : array (n, k)
        ``η_i(x)``, the class probabilities of each row.
    weights : array (k, k), (L, k) or (L, k, k)
        The gain of (truth, prediction); or, with ``basis``, such gains for each basis function:
        with (L, k) the score of class j is ``W_j(x)·η_j(x)`` where
        ``W_j = Σ_l weights[l, j]·φ_l`` (Hiranandani 2021, eq. 7.18), with (L, k, k) it is
        ``Σ_i W_ij(x)·η_i(x)`` (eq. E.9).
    basis : array (n, L), optional
        ``φ_l(x)`` of each row. Where all are 0, nothing is known of the weights and the most
        probable class is predicted.
    chunk : int, optional
        Rows that are decided at a time.
    """
    codes = np.empty(len(proba), dtype=np.intp)
    for start in range(0, len(proba), chunk):
        rows = slice(start, start + chunk)
        if basis is None:
            codes[rows] = last_argmax(proba[rows] @ weights)
            continue
        scores = _scores(proba[rows], basis[rows], weights)
        unknown = ~basis[rows].any(axis=1)
        if unknown.any():
            scores[unknown] = proba[rows][unknown]
        codes[rows] = last_argmax(scores)
    return codes


def _scores(proba: FloatArray, basis: FloatArray, weights: FloatArray) -> FloatArray:
    if weights.ndim == 2:
        return np.asarray(proba * (basis @ weights))
    total = np.zeros((len(proba), weights.shape[2]))
    for values, matrix in zip(basis.T, weights, strict=True):
        part = proba @ matrix
        # Multiplying takes ten times the product's own time, so not for the constant function.
        total += part if (values == 1.0).all() else values[:, None] * part
    return total


def one_hot(codes: IntArray, k: int) -> FloatArray:
    """Return the shares (n, k) of a classifier that decides: 1 for its class, 0 for the others."""
    return np.asarray(np.eye(k)[codes])
