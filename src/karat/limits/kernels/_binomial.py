"""Limits of a proportion from arrays of successes and trials.

All three are equivariant: the upper limit of x successes of n is one minus the lower limit of
n − x. Without trials the limits are 0 and 1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.limits.kernels._means import normal_quantile

__all__ = ["clopper_pearson_limits", "hypergeometric_limits", "kl_limits", "wilson_limits"]

_HALVINGS = 60  # of an interval no longer than 1: beyond the precision of a float


def clopper_pearson_limits(
    successes: FloatArray | float, n: FloatArray | float, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return the p at which as many successes, or as few, have the probability ``delta``."""
    from scipy.special import betaincinv

    def lower(x: FloatArray, n: FloatArray) -> FloatArray:
        # With no success every p is possible; betaincinv has no limit at the shape 0.
        found = betaincinv(np.where(x > 0, x, 1.0), n - x + 1.0, delta)
        return np.where(x > 0, found, 0.0)

    return _both(lower, successes, n)


def hypergeometric_limits(successes: int, n: int, total: int, delta: float) -> tuple[float, float]:
    """Return the shares of ``total`` items at which as many successes, or as few, have ``delta``.

    n of the items were drawn without replacement. A share at which more than ``delta`` is left is
    between the limits.
    """
    if n == 0:
        return 0.0, 1.0

    from scipy.special import gammaln

    def ways(a: FloatArray | float, b: FloatArray | float) -> Any:
        return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)

    def tail(x: int, among: int) -> float:
        """Return the probability of x or more if so many of all items are successes."""
        j = np.arange(x, min(n, among) + 1, dtype=np.float64)
        j = j[n - j <= total - among]
        out = ways(among, j) + ways(total - among, n - j)
        return float(np.exp(out - ways(total, n)).sum())

    def fewest(x: int) -> int:
        """Return the least number of successes among all under which x or more are not rare."""
        low, high = x, total - (n - x)  # what was seen is there
        while low < high:
            middle = (low + high) // 2
            if tail(x, middle) > delta:
                high = middle
            else:
                low = middle + 1
        return low

    return fewest(successes) / total, 1 - fewest(n - successes) / total


def wilson_limits(
    successes: FloatArray | float, n: FloatArray | float, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return the p whose score test has the one-sided p-value ``delta``."""
    z = normal_quantile(delta)

    def lower(x: FloatArray, n: FloatArray) -> FloatArray:
        share = x / n
        middle = share + z * z / (2 * n)
        root = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
        if z < 0:
            return np.asarray((middle - root) / (1 + z * z / n))
        # The same root of the quadratic, from the product of both: nothing cancels near 0.
        return np.divide(share**2, middle + root, out=np.zeros(x.shape), where=share > 0)

    return _both(lower, successes, n)


def kl_limits(
    successes: FloatArray | float, n: FloatArray | float, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return the p at which ``n·kl(p̂, p)`` is ``log(1/delta)``, rounded away from p̂."""
    from scipy.special import rel_entr

    most = -np.log(delta)

    def lower(x: FloatArray, n: FloatArray) -> FloatArray:
        share = x / n
        floor, ceiling = np.zeros(x.shape), share
        for _ in range(_HALVINGS):
            p = (floor + ceiling) / 2
            off = n * (rel_entr(share, p) + rel_entr(1 - share, 1 - p)) > most
            floor, ceiling = np.where(off, p, floor), np.where(off, ceiling, p)
        return floor

    return _both(lower, successes, n)


def _both(
    lower: Callable[[FloatArray, FloatArray], FloatArray],
    successes: FloatArray | float,
    n: FloatArray | float,
) -> tuple[FloatArray, FloatArray]:
    """Return the lower limits, and the upper ones as those of the failures; 0 and 1 if n is 0."""
    x, size = np.broadcast_arrays(np.asarray(successes, float), np.asarray(n, float))
    seen = size > 0
    trials = np.where(seen, size, 1.0)
    low, high = lower(x, trials), 1.0 - lower(size - x, trials)
    return np.where(seen, low, 0.0), np.where(seen, high, 1.0)
