"""Quantiles, standard errors of means, and how far from a mean its limit is."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = [
    "Moments",
    "bernstein_reach",
    "cluster_moments",
    "cluster_number",
    "effective_number",
    "hoeffding_reach",
    "normal_quantile",
    "student_quantile",
    "weighted_moments",
]

_LEAST_FREEDOM = 0.5  # degrees of freedom below which one item is nearly all of the sample


class Moments(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float


def normal_quantile(delta: float) -> float:
    """Return the z that a standard normal variable exceeds with the probability ``delta``."""
    from scipy.special import ndtri

    return -float(ndtri(delta))


def student_quantile(delta: float, freedom: float) -> float:
    """Return what Student's t exceeds with the probability ``delta``; infinite for one item."""
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, delta)) if freedom > _LEAST_FREEDOM else np.inf


def effective_number(total: float, squares: float) -> float:
    """Return Kish's number of items, ``(Σw)²/Σw²``, from a sum of weights and one of squares."""
    return total**2 / squares


def cluster_number(weight: FloatArray, cluster: IntArray) -> float:
    """Return Kish's number of clusters, by the total weight of each."""
    total = np.bincount(cluster, weight)
    return effective_number(float(total.sum()), float(total @ total))


def weighted_moments(values: FloatArray, weight: FloatArray, square: FloatArray) -> Moments:
    """Return the weighted mean of independent items and its standard error.

    Items may be counted in cells: ``weight`` and ``square`` are then the sums of the weights and
    of their squares in each cell of one value.
    """
    total = float(weight.sum())
    mean = float(np.sum(weight * values) / total)
    n = effective_number(total, float(square.sum()))
    few = n / max(n - 1.0, 1.0)
    return Moments(mean, float(np.sqrt(few * np.sum(square * (values - mean) ** 2))) / total)


def cluster_moments(values: FloatArray, weight: FloatArray, cluster: IntArray) -> Moments:
    """Return the weighted mean and its standard error when whole clusters are independent."""
    total = float(weight.sum())
    mean = float(weight @ values / total)
    sums = np.bincount(cluster, weights=weight * (values - mean))
    few = len(sums) / max(len(sums) - 1, 1)
    return Moments(mean, float(np.sqrt(few * np.sum(sums**2))) / total)


def bernstein_reach(variance: float, n: float, span: float, delta: float) -> float:
    """Return how far the mean may be on one side of that of n values of a range ``span``.

    A. Maurer, M. Pontil, Empirical Bernstein bounds and sample variance penalization, COLT 2009,
    Theorem 4; ``variance`` is the sample's, with n − 1 in the denominator.
    """
    if n < 2:
        return np.inf
    log = np.log(2.0 / delta)
    return float(np.sqrt(2 * variance * log / n) + 7 * span * log / (3 * (n - 1)))


def hoeffding_reach(n: float, span: float, delta: float) -> float:
    """Return how far the mean may be on one side of that of n values of a range ``span``.

    W. Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58 (1963),
    Theorem 2.
    """
    return float(span * np.sqrt(-np.log(delta) / (2 * n)))
