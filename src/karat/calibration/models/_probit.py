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

    def __init__(self, y: FloatArray, h: FloatArray) -> None:
        self.scores = NormalScores(h)
        v = self.scores.own
        x = np.column_stack([np.ones(len(v)), v])
        self.weight = np.array([probit_weights(x, y[:, j]) for j in range(y.shape[1])])

    def __call__(self, h: FloatArray) -> FloatArray:
        return self._conditional_mean(self.scores(h))

    @property
    def fitted(self) -> FloatArray:
        """E[y | h] of the rows that the model was fitted to."""
        return self._conditional_mean(self.scores.own)

    def _conditional_mean(self, v: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        return np.asarray(ndtr(v @ self.weight[:, 1:].T + self.weight[:, 0]))


def probit_weights(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the weights of a probit regression with a small ridge on all but the intercept."""
    from scipy.special import log_ndtr, ndtri

    share = float(np.clip(y.mean(), 0.5 / (len(y) + 1), 1 - 0.5 / (len(y) + 1)))
    beta = np.zeros(x.shape[1])
    beta[0] = ndtri(share)
    if y.min() == y.max():
        return beta
    ridge = np.full(x.shape[1], _RIDGE)
    ridge[0] = 1e-6
    sign = 2 * y - 1
    for _ in range(_STEPS):
        t = sign * (x @ beta)
        mills = np.exp(-(t**2) / 2 - log_ndtr(t)) / np.sqrt(2 * np.pi)
        curve = mills * (mills + t)
        gradient = x.T @ (sign * mills) - ridge * beta
        step = np.linalg.solve((x * curve[:, None]).T @ x + np.diag(ridge), gradient)
        beta = beta + step
        if np.abs(step).max() < 1e-8:
            break
    return beta
