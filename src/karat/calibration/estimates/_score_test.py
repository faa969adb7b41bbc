"""A test of canonical calibration: whether residuals go with any label's score."""

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat.calibration.models import NormalScores

__all__ = ["pair_scores", "score_test"]

_SIGNS, _LEAST_SIGNS, _WORK = 1999, 199, 2e10
_DRAWS = 20  # thousands
_FEW = 4000  # rows up to which signs are drawn
_MANY = 1000  # products of a residual and a score, from which signs are drawn
_BLOCK = 4096


def score_test(y: FloatArray, h: FloatArray, rng: np.random.Generator) -> float:
    """Return the p-value of ``E[y | h] = h`` against a dependence on normal scores of h.

    With ``u_i = (y_i − h_i) ⊗ (1, v_i)``, each label's residual scaled, the statistic is
    ``Σ_{i≠j} u_i·u_j``. Under the null each u_i has mean zero given h, so giving rows random signs
    draws from the null (a wild bootstrap of a degenerate U-statistic); labels may depend on each
    other in any way. For many rows the same law is a weighted sum of χ² variables.
    """
    residual, features = _parts(y, h)
    if not residual.any():
        return 1.0
    # Σ_i ‖u_i‖² is the same whatever the signs.
    squares = float(((residual**2).sum(axis=1) * (features**2).sum(axis=1)).sum())
    seen = float(((residual.T @ features) ** 2).sum()) - squares
    if len(y) <= _FEW or residual.shape[1] * features.shape[1] > _MANY:
        drawn = _signed(residual, features, rng) - squares
    else:
        drawn = _chi_squares(_moments(residual, features), rng)
    return float((1 + (drawn >= seen - 1e-9 * squares).sum()) / (1 + len(drawn)))


def _signed(residual: FloatArray, features: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw ``‖Σ_i ±u_i‖²``; many rows and labels get fewer draws."""
    n, size = len(residual), residual.shape[1] * features.shape[1]
    draws = int(np.clip(_WORK / (n * min(size, n)), _LEAST_SIGNS, _SIGNS))
    signs = rng.integers(0, 2, size=(draws, n), dtype=np.int8) * 2 - 1
    if n <= _FEW and size > n:
        gram = (residual @ residual.T) * (features @ features.T)
        found: FloatArray = ((signs.astype(float) @ gram) * signs).sum(axis=1)
        return found
    found = np.zeros(draws)
    wide = max(1, _BLOCK // features.shape[1])
    for first in range(0, residual.shape[1], wide):
        part = residual[:, first : first + wide]
        found += (_signed_sums(signs, part, features) ** 2).sum(axis=1)
    return found


def _signed_sums(signs: AnyArray, residual: FloatArray, features: FloatArray) -> FloatArray:
    total = np.zeros((len(signs), residual.shape[1] * features.shape[1]))
    for start in range(0, len(residual), _BLOCK):
        rows = slice(start, start + _BLOCK)
        total += signs[:, rows].astype(float) @ _products(residual[rows], features[rows])
    return total


def _moments(residual: FloatArray, features: FloatArray) -> FloatArray:
    size = residual.shape[1] * features.shape[1]
    total = np.zeros((size, size))
    for start in range(0, len(residual), _BLOCK):
        rows = slice(start, start + _BLOCK)
        u = _products(residual[rows], features[rows])
        total += u.T @ u
    return total


def _products(residual: FloatArray, features: FloatArray) -> FloatArray:
    return np.asarray((residual[:, :, None] * features[:, None, :]).reshape(len(residual), -1))


def _chi_squares(moments: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw ``Σ λ (χ² − 1)`` with the eigenvalues λ of the moments."""
    weights = np.linalg.eigvalsh(moments)
    weights = weights[weights > 1e-9 * weights.max()]
    parts = [(rng.standard_normal((1000, len(weights))) ** 2 - 1) @ weights for _ in range(_DRAWS)]
    return np.concatenate(parts)


def _parts(y: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    residual = y - h
    size = np.sqrt((residual**2).mean(axis=0))
    size[size == 0] = 1.0
    v = NormalScores(h).own
    return residual / size, np.column_stack([np.ones(len(v)), v])


def pair_scores(y: FloatArray, h: FloatArray) -> FloatArray:
    """Return, for labels j and k, how far residuals of j go with the score of k, in z-values."""
    residual = y - h
    v = NormalScores(h).own
    size = np.sqrt((residual**2).T @ v**2)
    return np.asarray(np.divide(residual.T @ v, size, out=np.zeros(size.shape), where=size > 0))
