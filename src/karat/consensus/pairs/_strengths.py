r"""Strengths of systems from judged pairs: Bradley and Terry's model with verdicts that may err.

The better answer of item i is that of system a with probability
:math:`\sigma(\theta_a - \theta_b)`. Strengths sum to 0 and have a weak normal prior, so that a
system that never loses stays finite.
"""

from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray

__all__ = ["Strengths", "judged_strengths", "powered_strengths"]

_PRIOR = 1 / 3.0**2  # inverse variance of a strength
_ROUNDS = 200
_CLOSE = 1e-9


class Strengths(NamedTuple):
    """Strengths that sum to 0, with their covariance."""

    value: FloatArray
    covariance: FloatArray


def judged_strengths(first: IntArray, second: IntArray, ratio: FloatArray, k: int) -> Strengths:
    r"""Return the strengths given the log-likelihood ratio of the verdicts of each item.

    ``ratio`` is log P(verdicts | the first is better) − log P(verdicts | the second is). The
    likelihood of an item is :math:`\sigma(d)e^{r} + 1 - \sigma(d)`; it is maximised by Newton steps
    on the expected complete likelihood, and the covariance is the sandwich's.
    """
    x = _design(first, second, k)
    theta = np.zeros(k)
    for _ in range(_ROUNDS):
        p = _sigmoid(x @ theta)
        soft = _sigmoid(x @ theta + ratio)
        step = _solve(x, p * (1 - p), x.T @ (soft - p) - _PRIOR * theta)
        theta = theta + step
        if np.abs(step).max() < _CLOSE:
            break
    p, soft = _sigmoid(x @ theta), _sigmoid(x @ theta + ratio)
    information = p * (1 - p) - soft * (1 - soft)
    return Strengths(theta, _sandwich(x, information, (soft - p)[:, None] * x))


def powered_strengths(
    first: IntArray, second: IntArray, soft: FloatArray, gold: FloatArray, k: int
) -> Strengths:
    """Return the strengths from a few gold pairs, helped by what the judges say of all.

    ``soft`` is what the judges make of each item (probability that the first is better), ``gold``
    the truth (1, 0 or ½), NaN where unknown. The gradient of the gold pairs is corrected by that of
    the predictions on all pairs with the weight of PPI++ (A. N. Angelopoulos, J. C. Duchi and
    T. Zrnic, 2023), which is 0 where the judges do not help.
    """
    x = _design(first, second, k)
    known = ~np.isnan(gold)
    weight = 0.0
    for _ in range(3):
        theta = _powered_root(x, soft, gold, known, weight)
        weight = _power(x, soft, gold, known, theta)
    theta = _powered_root(x, soft, gold, known, weight)
    p, n = _sigmoid(x @ theta), int(known.sum())
    off = (p - np.nan_to_num(gold))[:, None] * x
    guess = (p - soft)[:, None] * x
    hessian = _hessian(x, p, known, weight)
    few = (n / max(n - (k - 1), 1)) ** 2  # residuals of pairs that the strengths were fitted to
    meat = few * _cov(off[known] - weight * guess[known]) / n + weight**2 * _cov(guess) / len(x)
    inverse = np.linalg.inv(hessian)
    return Strengths(theta, inverse @ meat @ inverse)


def _powered_root(
    x: FloatArray, soft: FloatArray, gold: FloatArray, known: BoolArray, weight: float
) -> FloatArray:
    """Return where the corrected gradient is 0."""
    n, theta = known.sum(), np.zeros(x.shape[1])
    for _ in range(_ROUNDS):
        p = _sigmoid(x @ theta)
        gradient = weight * x.T @ (p - soft) / len(x) + _PRIOR / n * theta
        gradient += x[known].T @ ((p - gold)[known] - weight * (p - soft)[known]) / n
        step = np.linalg.solve(_hessian(x, p, known, weight), gradient)
        size = np.abs(step).max()
        theta = theta - step * min(1.0, 2.0 / max(size, 1e-12))
        if size < _CLOSE:
            break
    return theta


def _power(
    x: FloatArray, soft: FloatArray, gold: FloatArray, known: BoolArray, theta: FloatArray
) -> float:
    """Return how much the predictions help, between 0 and 1."""
    p, n = _sigmoid(x @ theta), known.sum()
    inverse = np.linalg.inv(_hessian(x, p, known, 0.0))
    off = (((p - gold)[:, None] * x) @ inverse)[known]
    guess = ((p - soft)[:, None] * x) @ inverse
    own = guess[known]
    both = ((off - off.mean(axis=0)) * (own - own.mean(axis=0))).sum() / n
    alone = guess.var(axis=0).sum() * (1 + n / len(x))
    return float(np.clip(both / max(alone, 1e-12), 0.0, 1.0))


def _hessian(x: FloatArray, p: FloatArray, known: BoolArray, weight: float) -> FloatArray:
    """Return the curvature of the corrected loss; strengths are kept to the sum 0."""
    spread, n = p * (1 - p), known.sum()
    all_items = (x * spread[:, None]).T @ x / len(x)
    labelled = (x[known] * spread[known, None]).T @ x[known] / n
    k = x.shape[1]
    ridge = (_PRIOR / n) * np.eye(k) + np.ones((k, k)) / k
    return np.asarray(weight * all_items + (1 - weight) * labelled + ridge)


def _design(first: IntArray, second: IntArray, k: int) -> FloatArray:
    x = np.zeros((len(first), k))
    x[np.arange(len(first)), first] += 1.0
    x[np.arange(len(first)), second] -= 1.0
    return x


def _sigmoid(values: FloatArray) -> FloatArray:
    from scipy.special import expit

    return np.asarray(expit(values))


def _solve(x: FloatArray, spread: FloatArray, gradient: FloatArray) -> FloatArray:
    k = x.shape[1]
    hessian = (x * spread[:, None]).T @ x + _PRIOR * np.eye(k)
    return np.asarray(np.linalg.solve(hessian, gradient))


def _sandwich(x: FloatArray, information: FloatArray, score: FloatArray) -> FloatArray:
    k, n = x.shape[1], len(x)
    hessian = (x * information[:, None]).T @ x + _PRIOR * np.eye(k) + n * np.ones((k, k)) / k
    inverse = np.linalg.inv(hessian)
    few = (n / max(n - (k - 1), 1)) ** 2
    return np.asarray(inverse @ (few * n * _cov(score)) @ inverse)


def _cov(values: FloatArray) -> FloatArray:
    centred = values - values.mean(axis=0)
    return np.asarray(centred.T @ centred / len(values))
