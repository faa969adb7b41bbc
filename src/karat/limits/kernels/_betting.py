"""Limits of a mean that hold for any law on an interval, however few the values."""

import math

import numpy as np

from karat._typing import FloatArray

__all__ = ["betting_limits", "betting_lower"]

_TRUNCATED = 0.75  # share of the capital that one bet may lose at most
_HALVINGS = 50


def betting_lower(values: FloatArray, low: float, high: float, delta: float) -> float:
    """Return a limit that is at most the mean of the law with probability ``1 − delta``.

    A gambler who bets that the mean exceeds m multiplies the capital by ``1 + λ_t(x_t − m)``, with
    λ chosen from earlier values. If m is the mean or more, the capital reaches 1/δ with probability
    at most δ (Ville); every m at which it does is too small. Bets follow I. Waudby-Smith and
    A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86 (2024). Each
    factor falls in m, so the m that are too small are an interval and are found by halving.
    """
    x = (np.asarray(values) - low) / (high - low)
    n, t = len(x), np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    earlier = np.concatenate([[0.25], variance[:-1]])
    bet = np.sqrt(2 * math.log(1 / delta) / (n * earlier))
    floor, ceiling = 0.0, 1.0
    for _ in range(_HALVINGS):
        m = (floor + ceiling) / 2
        capital = np.cumsum(np.log1p(np.minimum(bet, _TRUNCATED / m) * (x - m)))
        if capital.max() >= math.log(1 / delta):
            floor = m
        else:
            ceiling = m
    return low + (high - low) * floor


def betting_limits(
    values: FloatArray, low: float, high: float, delta: float
) -> tuple[float, float]:
    """Return the lower limit, and the upper one as that of the mirrored values.

    The capital counts at its greatest, so at a low confidence every mean may have been ruled out
    at some time; limits that are kept around the mean of the values hold all the more.
    """
    mean, mirrored = float(np.mean(values)), low + high - np.asarray(values)
    lower = betting_lower(values, low, high, delta)
    upper = low + high - betting_lower(mirrored, low, high, delta)
    return min(lower, mean), max(upper, mean)
