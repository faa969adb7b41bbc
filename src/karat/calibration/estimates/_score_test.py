"""A test of canonical calibration: whether residuals go with any label's score."""

from typing import NamedTuple

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat.calibration.estimates._rare_labels import rare_p_values
from karat.calibration.models import NormalScores

__all__ = [
    "DrawSizes",
    "chi_square_statistics",
    "pair_scores",
    "score_parts",
    "score_test",
    "signed_statistics",
]

_SIGNS, _LEAST_SIGNS = 1999, 199
_DRAWS = 20  # thousands
_COMMON = 30  # labels that are expected to be 1, and 0, from which on signs have the right law


class DrawSizes(NamedTuple):
    """Sizes at which the test changes how it draws, so that time and memory stay bounded.

    Attributes
    ----------
    few : int
        Rows up to which signs are drawn; more rows have the law of a sum of χ² variables.
    many : int
        Products of a residual and a score above which signs are drawn whatever the rows: their
        moments would be a matrix too large to decompose.
    block : int
        Rows, and columns of products, that are in memory at a time.
    work : float
        Products of a sign and a residual for all draws together; beyond it there are fewer draws.
    """

    few: int = 4000
    many: int = 1000
    block: int = 4096
    work: float = 2e10


_SIZE = DrawSizes()


def score_test(
    y: FloatArray, h: FloatArray, rng: np.random.Generator, *, size: DrawSizes = _SIZE
) -> float:
    """Return the p-value of ``E[y | h] = h`` against a dependence on normal scores of h.

    With ``u_i = (y_i − h_i) ⊗ (1, v_i)``, each label's residual scaled, the statistic is
    ``Σ_{i≠j} u_i·u_j``. Under the null each u_i has mean zero given h, so giving rows random signs
    draws from the null (a wild bootstrap of a degenerate U-statistic); labels may depend on each
    other in any way. For many rows the same law is a weighted sum of χ² variables.

    Labels of which few are expected to be 1, or 0, are tested one by one (`rare_p_values`): signs
    do not know how skewed their sums are. The parts share the error (Bonferroni).
    """
    expected = np.minimum(h.sum(axis=0), (1 - h).sum(axis=0))
    rare = expected < _COMMON
    residual, features = score_parts(y, h)
    p_values = []
    if rare.any():
        each = rare_p_values(y[:, rare], h[:, rare], features, rng)
        p_values.append(float(rare.sum() * each.min()))
    if not rare.all():
        p_values.append(_signed_p_value(residual[:, ~rare], features, rng, size))
    return min(1.0, len(p_values) * min(p_values))


def _signed_p_value(
    residual: FloatArray, features: FloatArray, rng: np.random.Generator, size: DrawSizes
) -> float:
    if not residual.any():
        return 1.0
    # Σ_i ‖u_i‖² is the same whatever the signs.
    squares = float(((residual**2).sum(axis=1) * (features**2).sum(axis=1)).sum())
    seen = float(((residual.T @ features) ** 2).sum()) - squares
    if len(residual) <= size.few or residual.shape[1] * features.shape[1] > size.many:
        drawn = signed_statistics(residual, features, rng, size=size) - squares
    else:
        drawn = chi_square_statistics(residual, features, rng, size=size)
    return float((1 + (drawn >= seen - 1e-9 * squares).sum()) / (1 + len(drawn)))


def signed_statistics(
    residual: FloatArray,
    features: FloatArray,
    rng: np.random.Generator,
    *,
    size: DrawSizes = _SIZE,
) -> FloatArray:
    """Draw ``‖Σ_i ±u_i‖²``; many rows and labels get fewer draws."""
    n, products = len(residual), residual.shape[1] * features.shape[1]
    draws = int(np.clip(size.work / (n * min(products, n)), _LEAST_SIGNS, _SIGNS))
    signs = rng.integers(0, 2, size=(draws, n), dtype=np.int8) * 2 - 1
    if n <= size.few and products > n:  # the Gram matrix of rows is the smaller one
        gram = (residual @ residual.T) * (features @ features.T)
        found: FloatArray = ((signs.astype(float) @ gram) * signs).sum(axis=1)
        return found
    found = np.zeros(draws)
    wide = max(1, size.block // features.shape[1])
    for first in range(0, residual.shape[1], wide):
        part = residual[:, first : first + wide]
        found += (_signed_sums(signs, part, features, size.block) ** 2).sum(axis=1)
    return found


def _signed_sums(
    signs: AnyArray, residual: FloatArray, features: FloatArray, block: int
) -> FloatArray:
    total = np.zeros((len(signs), residual.shape[1] * features.shape[1]))
    for start in range(0, len(residual), block):
        rows = slice(start, start + block)
        total += signs[:, rows].astype(float) @ _products(residual[rows], features[rows])
    return total


def _moments(residual: FloatArray, features: FloatArray, block: int) -> FloatArray:
    products = residual.shape[1] * features.shape[1]
    total = np.zeros((products, products))
    for start in range(0, len(residual), block):
        rows = slice(start, start + block)
        u = _products(residual[rows], features[rows])
        total += u.T @ u
    return total


def _products(residual: FloatArray, features: FloatArray) -> FloatArray:
    return np.asarray((residual[:, :, None] * features[:, None, :]).reshape(len(residual), -1))


def chi_square_statistics(
    residual: FloatArray,
    features: FloatArray,
    rng: np.random.Generator,
    *,
    size: DrawSizes = _SIZE,
) -> FloatArray:
    """Draw ``Σ λ (χ² − 1)`` with the eigenvalues λ of ``Σ_i u_i u_iᵀ``."""
    weights = np.linalg.eigvalsh(_moments(residual, features, size.block))
    # Eigenvalues that are rounding would add draws and no variance.
    weights = weights[weights > 1e-9 * weights.max()]
    parts = [(rng.standard_normal((1000, len(weights))) ** 2 - 1) @ weights for _ in range(_DRAWS)]
    return np.concatenate(parts)


def score_parts(y: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the scaled residuals (n, K), and (1, v) with the normal scores v of h: (n, 1 + K)."""
    residual = y - h
    size = np.sqrt((residual**2).mean(axis=0))
    size[size == 0] = 1.0
    v = NormalScores(h).own
    return residual / size, np.column_stack([np.ones(len(v)), v])


def pair_scores(y: FloatArray, h: FloatArray, v: FloatArray) -> FloatArray:
    """Return, for labels j and k, how far residuals of j go with the score v of k, in z-values."""
    residual = y - h
    size = np.sqrt((residual**2).T @ v**2)
    return np.asarray(np.divide(residual.T @ v, size, out=np.zeros(size.shape), where=size > 0))
