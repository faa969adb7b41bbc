"""Logistic regressions of labels on the logits of probabilities."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["logistic_weights", "logits"]

_EDGE = 1e-6  # nearer to 0 or 1 a probability is taken as this far
_STEPS = 50
_TOLERANCE = 1e-8


def logits(h: FloatArray) -> FloatArray:
    """Return ``log(h / (1 − h))``, finite."""
    from scipy.special import logit

    return np.asarray(logit(np.clip(h, _EDGE, 1 - _EDGE)))


def logistic_weights(x: FloatArray, y: FloatArray, weight: FloatArray, c: float) -> FloatArray:
    """Return intercept and slopes of a logistic regression, by Newton's method.

    They minimise ``‖slopes‖²/2 + c·Σ weight·log-loss``, which is scikit-learn's
    ``LogisticRegression(C=c)``. A label of one value alone has no finite intercept; it is given the
    frequency that half a row of the other value would leave.
    """
    share = float(weight @ y / weight.sum())
    beta = np.zeros(1 + x.shape[1])
    half = 0.5 / (weight.sum() + 1)
    beta[0] = np.log(max(share, half) / max(1 - share, half))
    if share in (0.0, 1.0):
        return beta
    design = np.column_stack([np.ones(len(x)), x])
    penalty = np.append(0.0, np.full(x.shape[1], 1 / c))
    now = _objective(design, y, weight, penalty, beta)
    for _ in range(_STEPS):
        step = _newton_step(design, y, weight, penalty, beta)
        size = 1.0
        while (then := _objective(design, y, weight, penalty, beta + size * step)) > now + 1e-12:
            size /= 2
            if size < 1e-6:
                return beta
        beta, now = beta + size * step, then
        if np.abs(step).max() < _TOLERANCE:
            break
    return beta


def _objective(
    x: FloatArray, y: FloatArray, weight: FloatArray, penalty: FloatArray, beta: FloatArray
) -> float:
    at = x @ beta
    return float(weight @ (np.logaddexp(0.0, at) - y * at) + penalty @ beta**2 / 2)


def _newton_step(
    x: FloatArray, y: FloatArray, weight: FloatArray, penalty: FloatArray, beta: FloatArray
) -> FloatArray:
    from scipy.special import expit

    p = expit(x @ beta)
    slope = x.T @ (weight * (y - p)) - penalty * beta
    curve = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
    curve[0, 0] += 1e-10  # where every probability is 0 or 1
    return np.asarray(np.linalg.solve(curve, slope))
