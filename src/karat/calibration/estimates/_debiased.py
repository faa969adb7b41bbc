"""The squared canonical error without the bias of a plug-in."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models import Fit, folds_of

__all__ = ["DebiasedTerms", "debiased_terms"]


class DebiasedTerms(NamedTuple):
    """The terms of the debiased estimate and of the certificate, one row each, by label."""

    terms: FloatArray
    gains: FloatArray


def debiased_terms(
    y: FloatArray, h: FloatArray, fit: Fit, rng: np.random.Generator
) -> DebiasedTerms:
    r"""Return terms whose mean is the squared canonical error, with models of other folds.

    ``T_i = (y−h)·(G₁−h) + (y−h)·(G₂−h) − (G₁−h)·(G₂−h)``, where G₁ and G₂ are fitted to the two
    folds that row i is not in. They are independent, so their variance drops out and
    ``E T = CE₂² − ‖E[G] − g‖²``. ``gains`` are ``(y−h)² − (y−G)²`` with the mean G of both, whose
    expectation is at most CE₂² for any G.
    """
    fold = folds_of(len(y), 3, rng)
    models = [fit(y[fold == k], h[fold == k]) for k in range(3)]
    terms, gains = np.empty(y.shape), np.empty(y.shape)
    for k in range(3):
        here = fold == k
        residual = y[here] - h[here]
        off = [models[other](h[here]) - h[here] for other in range(3) if other != k]
        terms[here] = residual * (off[0] + off[1]) - off[0] * off[1]
        mean = (off[0] + off[1]) / 2
        gains[here] = mean * (2 * residual - mean)
    return DebiasedTerms(terms, gains)
