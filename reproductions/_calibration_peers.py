"""Estimators of the canonical error that karat is compared with."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from karat.calibration import canonical_calibration_error, marginal_calibration_error
from karat.calibration._marginal import debiased_terms
from karat.calibration.models import Trees

__all__ = ["beta_kernel", "binned_marginal", "debiased_trees", "of_panda_and_garain"]

Array = NDArray[np.float64]

_BLOCK = 256
_BANDWIDTHS = (0.01, 0.03, 0.1, 0.3)
_FLOOR = 1e-4


def binned_marginal(y: Array, h: Array) -> float:
    """Return the squared binned error of every label by itself, as is usual: not debiased."""
    return marginal_calibration_error(y, h, p=2).value ** 2


def of_panda_and_garain(y: Array, h: Array, rng: np.random.Generator) -> float:
    """Return the square of the estimator of Panda & Garain (2023), p = 2."""
    found = canonical_calibration_error(y, h, method="dequantized", confidence=None, rng=rng)
    return found.value**2


def debiased_trees(y: Array, h: Array, rng: np.random.Generator) -> float:
    """Return the debiased squared error with boosted trees in place of the copula."""
    return float(debiased_terms(y, h, Trees, rng).terms.sum(axis=1).mean())


def beta_kernel(y: Array, h: Array) -> float:
    """Return the squared error by a regression on h with products of beta kernels.

    The estimator of T. Popordanoska, R. Sayer and M. Blaschko (A consistent and differentiable Lp
    canonical calibration error estimator, NeurIPS 2022) with a beta kernel per label in place of
    their Dirichlet kernel, since multi-label probabilities fill a cube. Rows leave themselves out.
    The bandwidth is the one that predicts best.
    """
    best, found = np.inf, 0.0
    for width in _BANDWIDTHS:
        meant = _regression(y, h, width)
        loss = float(((y - meant) ** 2).sum(axis=1).mean())
        if loss < best:
            best, found = loss, float(((meant - h) ** 2).sum(axis=1).mean())
    return found


def _regression(y: Array, h: Array, width: float) -> Array:
    inside = np.clip(h, _FLOOR, 1 - _FLOOR)
    up, down = np.log(inside), np.log1p(-inside)
    a, b = inside / width, (1 - inside) / width  # a kernel around each row, seen from all others
    norm = betaln(a + 1, b + 1).sum(axis=1)
    meant = np.empty_like(h)
    for start in range(0, len(h), _BLOCK):
        rows = slice(start, start + _BLOCK)
        log = up[rows] @ a.T + down[rows] @ b.T - norm
        log[np.arange(len(log)), np.arange(start, start + len(log))] = -np.inf
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        meant[rows] = weight @ y / weight.sum(axis=1, keepdims=True)
    return meant
