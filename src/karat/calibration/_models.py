"""Maps from all probabilities to what they mean: copulas and boosted trees."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from karat._typing import FloatArray
from karat.calibration._debiased import folds_of
from karat.calibration._dequantized import DequantizedCopula
from karat.calibration._latent import LatentCopula
from karat.calibration._probit import ProbitCopula
from karat.exceptions import DataError

__all__ = ["METHODS", "Fit", "Model", "Moved", "Trees", "fit_of", "fit_shrunk"]


class Model(Protocol):
    """A map of probabilities; ``fitted`` is its value at the rows it was fitted to."""

    @property
    def fitted(self) -> FloatArray: ...

    def __call__(self, h: FloatArray) -> FloatArray: ...


Fit = Callable[[FloatArray, FloatArray], Model]
_MANY = 50_000
METHODS = ("latent", "probit", "trees", "dequantized")


def fit_of(method: str, rng: np.random.Generator) -> Fit:
    """Return how a model of a method is fitted."""
    if method == "latent":
        return LatentCopula
    if method == "probit":
        return ProbitCopula
    if method == "dequantized":
        return lambda y, h: DequantizedCopula(y, h, rng)
    if method == "trees":
        return Trees
    raise DataError(f"method is {method!r}; expected one of {list(METHODS)}")


class Trees:
    """Gradient-boosted trees, one per label: they see interactions that a copula cannot."""

    def __init__(self, y: FloatArray, h: FloatArray) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        self.models: list[Any] = []
        for j in range(y.shape[1]):
            share = y[:, j].mean()
            if share in (0.0, 1.0):
                self.models.append(float(share))
                continue
            model = HistGradientBoostingClassifier(
                max_iter=60, learning_rate=0.08, max_leaf_nodes=8, min_samples_leaf=20,
                l2_regularization=1.0, early_stopping=False, random_state=0,
            )  # fmt: skip
            # Trees of few rows lose more time to waiting threads than these save.
            with threadpool_limits(1 if len(h) < _MANY else None, user_api="openmp"):
                self.models.append(model.fit(h, y[:, j]))
        self.rows = h

    @property
    def fitted(self) -> FloatArray:
        """What the rows that it was fitted to mean."""
        return self(self.rows)

    def __call__(self, h: FloatArray) -> FloatArray:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1 if len(h) < _MANY else None, user_api="openmp"):
            columns = [
                np.full(len(h), m) if isinstance(m, float) else m.predict_proba(h)[:, 1]
                for m in self.models
            ]
        return np.column_stack(columns)


class Moved:
    """A model whose move away from h is shortened, not longer than a radius, and within [0, 1]."""

    def __init__(self, model: Model, share: float, radius: float = np.inf) -> None:
        self.model, self.share, self.radius = model, share, radius

    def __call__(self, h: FloatArray) -> FloatArray:
        move = self.share * (np.clip(self.model(h), 0.0, 1.0) - h)
        length = np.abs(move).sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.asarray(h + move * np.minimum(1.0, self.radius / length))


def fit_shrunk(
    y: FloatArray, h: FloatArray, fit: Fit, rng: np.random.Generator, *, radius: bool = False
) -> Moved:
    """Fit a model and shorten its move by what held-out rows say it is worth.

    The share ``Σ(y−h)·(G−h) / Σ‖G−h‖²`` of cross-fitted moves is the least-squares one, kept
    between 0 and 1: a model that learned nothing leaves h as it is.
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
        return Moved(model, share)
    moves = np.abs(share * (np.clip(model.fitted, 0.0, 1.0) - h)).sum(axis=1)
    return Moved(model, share, max(float(np.quantile(moves, 0.95)), 1e-3))
