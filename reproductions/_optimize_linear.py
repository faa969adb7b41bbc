"""Baselines of Hiranandani (2021), section 7.7, that train a logistic regression again.

The gradients of a logistic regression are written out, so none of them needs a deep-learning
library: fine-tuning; learning to reweight (Ren et al. 2018, whose weights are the products of each
row's gradient with that of the validation loss, where these are positive); and forward correction
(Patrini et al. 2017), with the noise rates read off the most certain predictions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, xlogy

__all__ = ["fine_tuned", "forward_corrected", "rates", "reweighted"]

Array = NDArray[np.float64]

_RATES = (0.01, 0.1, 1.0)  # learning rates of fine-tuning; the best on held-out rows is taken
_STEPS = 300
_BATCH, _BATCHES = 200, 600
_QUANTILE = 0.97  # of the model's probability, at which a row counts as certain


def rates(*, quick: bool) -> tuple[float, ...]:
    """Return the learning rates of reweighting that are tried."""
    return (0.5, 2.0) if quick else (0.1, 0.5, 2.0)


def fine_tuned(model: Any, x_val: Any, y_val: Any, *, seed: int = 0) -> Any:
    """Go on from a fitted model with two thirds of the validation rows; the others stop it."""
    x, y = _with_one(x_val), np.asarray(y_val, float)
    order = np.random.default_rng(seed).permutation(len(y))
    used, kept = order[len(y) // 3 :], order[: len(y) // 3]
    start = np.append(model.coef_[0], model.intercept_[0])
    best = (_loss(start, x[kept], y[kept]), start)
    for rate in _RATES:
        weights = start.copy()
        for _ in range(_STEPS):
            weights -= rate * _slope(weights, x[used], y[used])
            loss = _loss(weights, x[kept], y[kept])
            if loss < best[0]:
                best = (loss, weights.copy())
    return _predictor(best[1])


def reweighted(x: Any, y: Any, x_val: Any, y_val: Any, *, rate: float, seed: int = 0) -> Any:
    """Train from scratch; in each batch a row counts as far as it lowers the validation loss.

    The mean of the second half of the steps is taken: single ones swing with their batch.
    """
    x, y, x_val, y_val = _with_one(x), np.asarray(y, float), _with_one(x_val), np.asarray(y_val)
    rng, weights, mean = np.random.default_rng(seed), np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for t in range(_BATCHES):
        rows = rng.integers(0, len(y), _BATCH)
        each = (expit(x[rows] @ weights) - y[rows])[:, None] * x[rows]
        share = np.maximum(each @ _slope(weights, x_val, y_val), 0.0)
        if share.sum() > 0:
            weights -= rate * (share / share.sum()) @ each
        mean += weights * (2 * t >= _BATCHES)
    return _predictor(mean)


def forward_corrected(model: Any, x: Any, y: Any) -> tuple[Any, Array]:
    """Train with the loss of what noise makes of the prediction; return it and the noise rates."""
    proba = model.predict_proba(x)
    flips = np.empty((2, 2))
    for c in (0, 1):
        certain = proba[:, c] >= np.quantile(proba[:, c], _QUANTILE)
        flips[c] = proba[certain][np.argmin(proba[certain, c])]  # as at the quantile itself
    x, y = _with_one(x), np.asarray(y, float)
    low, high = flips[0, 1], flips[1, 1]  # P(label 1 | truth 0) and P(label 1 | truth 1)

    def loss(weights: Array) -> tuple[float, Array]:
        p = expit(x @ weights)
        noisy = np.clip(low + (high - low) * p, 1e-12, 1 - 1e-12)
        value = -float(np.mean(xlogy(y, noisy) + xlogy(1 - y, 1 - noisy)))
        inner = (noisy - y) / (noisy * (1 - noisy)) * (high - low) * p * (1 - p)
        return value + 5e-6 * float(weights @ weights), x.T @ inner / len(y) + 1e-5 * weights

    start = np.append(model.coef_[0], model.intercept_[0])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150})
    return _predictor(found.x), flips


def _predictor(weights: Array) -> Any:
    def predict(x: Any) -> NDArray[np.int64]:
        return (_with_one(x) @ weights >= 0).astype(np.int64)

    return predict


def _with_one(x: Any) -> Array:
    rows = np.asarray(x, float)
    return np.column_stack([rows, np.ones(len(rows))])


def _slope(weights: Array, x: Array, y: Any) -> Array:
    return np.asarray(x.T @ (expit(x @ weights) - y) / len(y))


def _loss(weights: Array, x: Array, y: Array) -> float:
    p = np.clip(expit(x @ weights), 1e-12, 1 - 1e-12)
    return -float(np.mean(xlogy(y, p) + xlogy(1 - y, 1 - p)))
