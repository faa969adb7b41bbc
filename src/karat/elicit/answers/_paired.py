"""Two metrics tried on the same answers: which of them predicts more."""

import numpy as np

from karat.limits.kernels import clopper_pearson_limits

__all__ = ["mcnemar_p_value", "paired_limits"]

_OF_THE_SIGN = 0.9  # how much of the error the limits of θ get


def mcnemar_p_value(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    Of the trials on which exactly one of two is right, each would be right on half of them.
    """
    from scipy.stats import binom

    n, fewer = only_first + only_second, min(only_first, only_second)
    return min(1.0, float(2.0 * binom.cdf(fewer, n, 0.5)))


def paired_limits(
    only_first: int, only_second: int, n: int, confidence: float
) -> tuple[float, float]:
    """Return limits of the difference of two paired shares that hold for any number of trials.

    The difference is ``D·(2θ − 1)``: D the share of trials on which exactly one is right, θ the
    first's part of them. Either has its Clopper–Pearson limits, which hold at once with the
    confidence; the difference lies between its extremes within them. θ, which alone decides the
    sign, gets most of the error: the limits then exclude 0 about when McNemar's test does.
    """
    delta = (1.0 - confidence) / 2
    apart = only_first + only_second
    part = clopper_pearson_limits(only_first, apart, _OF_THE_SIGN * delta)
    share = clopper_pearson_limits(apart, n, (1.0 - _OF_THE_SIGN) * delta)
    corners = np.outer([float(d) for d in share], [2.0 * float(p) - 1.0 for p in part])
    return float(corners.min()), float(corners.max())
