"""A fitted map whose move away from the probabilities is shortened."""

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models._folds import folds_of
from karat.calibration.models._methods import Fit, Model

__all__ = ["ShrunkModel", "fit_shrunk"]


class ShrunkModel:
    """A model whose difference from h is shortened.

    ``h + share·(G(h) − h)``, with G clipped to [0, 1] and the sum of absolute differences of a row
    at most ``radius``: a bounded difference is what the limits of a certificate rest on.
    """

    def __init__(self, model: Model, share: float, radius: float = np.inf) -> None:
        self.model, self.share, self.radius = model, share, radius

    def __call__(self, h: FloatArray) -> FloatArray:
        move = self.share * (np.clip(self.model(h), 0.0, 1.0) - h)
        length = np.abs(move).sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.asarray(h + move * np.minimum(1.0, self.radius / length))


def fit_shrunk(
    y: FloatArray, h: FloatArray, fit: Fit, rng: np.random.Generator, *, radius: bool = False
) -> ShrunkModel:
    """Fit a model and shorten its difference from h by the share that held-out rows support.

    The share ``Σ(y−h)·(G−h) / Σ‖G−h‖²`` of cross-fitted differences is the least-squares one, kept
    between 0 and 1: a model that learned nothing leaves h as it is. With ``radius``, the difference
    of a row is at most the 95 % quantile of those of the fitted rows.
    """
    fold = folds_of(len(y), 4, rng)
    gained = length = 0.0
    for k in range(4):
        here = fold == k
        move = fit(y[~here], h[~here])(h[here]) - h[here]
        gained += float(((y[here] - h[here]) * move).sum())
        length += float((move**2).sum())
    share = float(np.clip(gained / length, 0.0, 1.0)) if length > 0 else 0.0
    model = fit(y, h)
    if not radius:
        return ShrunkModel(model, share)
    moves = np.abs(share * (np.clip(model.fitted, 0.0, 1.0) - h)).sum(axis=1)
    return ShrunkModel(model, share, max(float(np.quantile(moves, 0.95)), 1e-3))
