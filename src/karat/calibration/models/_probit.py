"""The form of the latent model, fitted by maximum likelihood."""

import numpy as np

from karat._typing import FloatArray
from karat.calibration.models._normal_scores import NormalScores

__all__ = ["ProbitCopula", "probit_weights"]

_STEPS = 30  # Newton's method needs fewer than ten unless labels can be separated
_RIDGE = 1.0  # of one observation's worth: keeps separable labels finite


class ProbitCopula:
    """A probit regression of each label on the normal scores v of all probabilities.

    ``P(y_j = 1 | h) = Φ(a_j + b_jᵀv)``, by Newton's method.
    """

    def __init__(self, y: FloatArray, h: FloatArray, weight: FloatArray | None = None) -> None:
        self.scores = NormalScores(h, weight)
        v = self.scores.own
        x = np.column_stack([np.ones(len(v)), v])
        self.weight = np.array([probit_weights(x, y[:, j], weight) for j in range(y.shape[1])])

    def __call__(self, h: FloatArray) -> FloatArray:
        return self._conditional_mean(self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._conditional_mean(self.scores.own)

    def _conditional_mean(self, v: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        return np.asarray(ndtr(v @ self.weight[:, 1:].T + self.weight[:, 0]))


def probit_weights(x: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the weights of a probit regression with a small ridge on all but the intercept."""
    from scipy.special import log_ndtr, ndtri

    each = np.ones(len(y)) if weight is None else weight
    half = 0.5 / (each.sum() + 1)
    share = float(np.clip(each @ y / each.sum(), half, 1 - half))
    beta = np.zeros(x.shape[1])
    beta[0] = ndtri(share)
    if share in (half, 1 - half):
        return beta
    ridge = np.full(x.shape[1], _RIDGE)
    ridge[0] = 1e-6
    sign = 2 * y - 1
    for _ in range(_STEPS):
        t = sign * (x @ beta)
        mills = np.exp(-(t**2) / 2 - log_ndtr(t)) / np.sqrt(2 * np.pi)
        curve = each * mills * (mills + t)
        gradient = x.T @ (each * sign * mills) - ridge * beta
        step = np.linalg.solve((x * curve[:, None]).T @ x + np.diag(ridge), gradient)
        beta = beta + step
        if np.abs(step).max() < 1e-8:
            break
    return beta
