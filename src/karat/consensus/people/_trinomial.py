"""Tests of a difference of two shares that one sample gives: more, fewer or equal."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.limits.kernels import clopper_pearson_limits

__all__ = ["exact_p_value", "student_p_value"]

_GRID = 129  # values of the share that the hypothesis leaves open, before the best is refined
_MISSED = 1e-6  # how often the limits of the open share may miss it; added to the p-value
_SLACK = 1e-9  # samples whose statistics differ by less count as equally extreme


def student_p_value(plus: int, minus: int, n: int, margin: float) -> float:
    """Return the p-value of Student's test that the mean of +1, 0 and -1 is ``margin`` or more."""
    from scipy.special import stdtr

    mean = (plus - minus) / n
    variance = ((plus + minus) - n * mean**2) / max(n - 1, 1)
    if n < 2 or variance <= 0:
        return 0.0 if mean < margin and n > 1 else 1.0
    return float(stdtr(n - 1, (mean - margin) / np.sqrt(variance / n)))


def exact_p_value(plus: int, minus: int, n: int, margin: float) -> float:
    r"""Return the p-value of the exact test that :math:`p_+ - p_-` is ``margin`` or more.

    Of n items, ``plus`` count +1 and ``minus`` count -1. Samples are ordered by the score statistic
    of T. Tango, Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design, Statistics in Medicine 17 (1998); the p-value is the greatest probability,
    over the laws with :math:`p_+ - p_-` equal to the margin and a :math:`p_-` inside limits that
    miss it once in a million (R. L. Berger and D. D. Boos, P values maximized over a confidence set
    for the nuisance parameter, JASA 89, 1994), of a sample as extreme or more, plus that millionth.
    It holds for any number of items. Given how many count +1, the extreme samples are those with
    at least so many -1, so a law costs one sum of binomial probabilities.
    """
    observed = float(_score(np.array(plus), np.array(minus), n, margin))
    limits = clopper_pearson_limits(minus, n, _MISSED / 2)
    low, high = (float(np.clip(v, max(0.0, -margin), (1.0 - margin) / 2)) for v in limits)
    first = _likely(low + margin, high + margin, n)
    least = _least_minus(first, n, margin, observed)
    best = 0.0
    for _ in range(3):
        shares = np.linspace(low, high, _GRID)
        chance = _chance(first, least, n, shares, margin)
        top = int(chance.argmax())
        best = max(best, float(chance[top]))
        step = shares[1] - shares[0]
        low, high = max(low, shares[top] - step), min(high, shares[top] + step)
    return min(best + _MISSED, 1.0)


def _likely(low: float, high: float, n: int) -> IntArray:
    """Return the counts of n that a share between two may give; all others have no weight."""
    reach = 9 * np.sqrt(n) / 2 + 9
    return np.arange(max(0, int(low * n - reach)), min(n, int(high * n + reach)) + 1)


def _score(plus: IntArray, minus: IntArray, n: int, margin: float) -> FloatArray:
    """Return the difference from the margin in standard errors under the hypothesis."""
    inner = (plus + minus) * (1 - margin) - 2 * margin * (n - plus)
    root = np.sqrt(np.maximum(inner**2 + 8 * n * minus * margin * (1 - margin), 0.0))
    share = np.clip((inner + root) / (4 * n), max(0.0, -margin), (1 - margin) / 2)
    variance = n * (2 * share + margin - margin**2)
    off = plus - minus - n * margin
    out = np.zeros(np.shape(off))
    return np.asarray(np.divide(off, np.sqrt(variance), out=out, where=variance > 0))


def _least_minus(plus: IntArray, n: int, margin: float, observed: float) -> IntArray:
    """Return, for each number of +1, the fewest -1 that are as extreme; one too many if none."""
    low, high = np.zeros(len(plus), dtype=np.int64), n - plus + 1
    while (low < high).any():
        middle = (low + high) // 2
        inside = np.minimum(middle, n - plus)
        extreme = (_score(plus, inside, n, margin) <= observed + _SLACK) & (middle <= n - plus)
        open_ = low < high
        high = np.where(open_ & extreme, middle, high)
        low = np.where(open_ & ~extreme, middle + 1, low)
    return low


def _chance(
    plus: IntArray, least: IntArray, n: int, shares: FloatArray, margin: float
) -> FloatArray:
    """Return the probability of the extreme samples under each law."""
    from scipy.special import bdtrc, gammaln, xlog1py, xlogy

    p, q = shares[:, None] + margin, shares[:, None]
    choose = gammaln(n + 1) - gammaln(plus + 1) - gammaln(n - plus + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.exp(choose + xlogy(plus, p) + xlog1py(n - plus, -np.minimum(p, 1.0)))
        given = np.clip(np.where(p < 1, q / np.maximum(1 - p, 1e-300), 0.0), 0.0, 1.0)
    tail = bdtrc(least - 1.0, np.maximum(n - plus, 1), given)
    tail = np.where(least <= 0, 1.0, np.where(least > n - plus, 0.0, tail))
    return np.asarray((weight * tail).sum(axis=1))
