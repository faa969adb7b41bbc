"""How far a judge's verdict follows the style of an answer and not which one is better."""

import numpy as np

from karat._typing import FloatArray
from karat.limits.kernels import normal_quantile

__all__ = ["style_effect"]

_ROUNDS = 100
_CLOSE = 1e-8
_PRIOR = 1 / 2.5**2  # inverse variance of the slopes, on covariates of unit spread


def style_effect(
    says_first: FloatArray, better: FloatArray, style: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    r"""Return the effect of each covariate on the log-odds of "A", its limits, and the skill.

    .. math:: P(\text{A} \mid y, x) = \sigma(a\,y + \gamma^\top x), \quad y = \pm 1

    ``says_first`` is 1 where the judge says A (½: split), ``better`` the probability, from the
    other judges, that A is better, and ``style`` (items × covariates) the difference of A and B.
    The class is summed out by expectation and maximisation; limits are the sandwich's.
    """
    from scipy.special import expit

    n, k = style.shape
    theta = np.zeros(1 + k)
    theta[0] = 1.0
    plus, minus = (np.column_stack([np.full(n, s), style]) for s in (1.0, -1.0))
    for _ in range(_ROUNDS):
        up, down = expit(plus @ theta), expit(minus @ theta)
        like_up = up**says_first * (1 - up) ** (1 - says_first)
        like_down = down**says_first * (1 - down) ** (1 - says_first)
        r = better * like_up / np.maximum(better * like_up + (1 - better) * like_down, 1e-300)
        gradient = plus.T @ (r * (says_first - up)) + minus.T @ ((1 - r) * (says_first - down))
        hessian = (plus * (r * up * (1 - up))[:, None]).T @ plus
        hessian += (minus * ((1 - r) * down * (1 - down))[:, None]).T @ minus
        hessian += _PRIOR * np.eye(1 + k)
        step = np.linalg.solve(hessian, gradient - _PRIOR * theta)
        theta = theta + step
        if np.abs(step).max() < _CLOSE:
            break
    score = (
        plus * (r * (says_first - up))[:, None] + minus * ((1 - r) * (says_first - down))[:, None]
    )
    spread = plus * (says_first - up)[:, None] - minus * (says_first - down)[:, None]
    information = hessian - (spread * (r * (1 - r))[:, None]).T @ spread
    value, vector = np.linalg.eigh(information)
    inverse = (vector / np.maximum(value, 1e-3 * n**0.5)) @ vector.T
    covariance = inverse @ (score.T @ score) @ inverse
    reach = normal_quantile(delta) * np.sqrt(np.maximum(np.diag(covariance)[1:], 0.0))
    return theta[1:], theta[1:] - reach, theta[1:] + reach, float(theta[0])
