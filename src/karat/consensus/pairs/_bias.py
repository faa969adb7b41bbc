"""From verdicts in two orders to the bias of a judge and to votes without it."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.limits.kernels import normal_quantile

__all__ = ["balanced_limits", "net_votes", "picks_first", "predictive_limits"]


def picks_first(score: FloatArray) -> FloatArray:
    """Return, items × judges, how far the verdicts follow the position: 1 always the first.

    ``score`` (2, items, judges) is +1 where a judge says A and -1 where it says B; A is shown first
    in the first order. A judge that says the same in both orders counts 0; NaN without both.
    """
    return np.asarray((score[0] - score[1]) / 2)


def net_votes(score: FloatArray) -> IntArray:
    """Return, items × judges, 0 for A, 1 for B, -1 where the orders cancel, -2 without both."""
    total = score[0] + score[1]
    vote = np.where(total > 0, 0, np.where(total < 0, 1, -1))
    return np.where(np.isnan(total), -2, vote)


def predictive_limits(
    bias: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    spread: FloatArray,
    n: float,
    delta: float,
) -> tuple[FloatArray, FloatArray]:
    """Return limits of the bias that n further items will show.

    To the distance of a limit comes that of a mean of n items of variance ``spread``.
    """
    more = normal_quantile(delta) ** 2 * spread / n
    low = bias - np.sqrt((bias - lower) ** 2 + more)
    high = bias + np.sqrt((upper - bias) ** 2 + more)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def balanced_limits(
    wrong: tuple[FloatArray, FloatArray, FloatArray], split: tuple[FloatArray, ...]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return e·(1 − s) + s/2 with limits, from those of e and s (value, lower, upper).

    Distances are added in squares (the method of variance estimates recovery of G. Y. Zou and
    A. Donner, Construction of confidence limits about effect measures, Statistics in Medicine 27,
    2008).
    """
    (e, e_low, e_high), (s, s_low, s_high) = wrong, split
    value = e * (1 - s) + s / 2
    slope = 0.5 - e
    toward = np.where(slope > 0, s - s_low, s_high - s)
    away = np.where(slope > 0, s_high - s, s - s_low)
    low = value - np.hypot((e - e_low) * (1 - s), slope * toward)
    high = value + np.hypot((e_high - e) * (1 - s), slope * away)
    return value, np.clip(low, 0, 1), np.clip(high, 0, 1)
