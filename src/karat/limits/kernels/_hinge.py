"""Limits of a mean of numbers in [0, 1] by hinges, for sums below a binomial in convex order.

A sum S of m independent numbers in [0, 1] with the mean p satisfies ``E f(S) ≤ E f(B)`` for every
convex f, where ``B ~ Binomial(m, p)`` (Hoeffding 1963); so does an average of such sums, as a
U-statistic is one. With the hinge ``f(s) = (s − h)₊`` Markov's inequality gives

    P(S ≥ x) ≤ min over h < x of E(B − h)₊ / (x − h),

where the exponential in place of the hinge gives ``exp(−m·kl(x/m, p))``, which is larger.
"""

import math

import numpy as np

from karat._typing import FloatArray

__all__ = ["expected_excess", "hinge_limits"]

_STEPS = 100  # of Newton's method; a limit with delta takes about 5 + log(1/delta) of them
_CLOSE = 1e-10  # after a step this small what is left to the root is below a float's precision
_ROUNDING = 1e-13
_HINGES = 96  # that are tried; each alone gives a limit that holds
_REACH = 7.0  # standard deviations below the sum, from where on no hinge helps


def hinge_limits(total: float, m: int, delta: float) -> tuple[float, float]:
    """Return limits of the mean of a sum of m numbers in [0, 1], each wrong with ``delta``."""
    return _lower(total, m, delta), 1.0 - _lower(m - total, m, delta)


def _lower(x: float, m: int, delta: float) -> float:
    """Return the greatest p at which some hinge shows that a sum of x has ``delta`` at most."""
    if x <= 0:
        return 0.0
    h = _hinges(x, m)
    allowed = delta * (x - h)
    # E(B − h)₊ is convex in p and above what is allowed at x/m: Newton's method comes down to the
    # root of each hinge and never passes it.
    p = np.full(len(h), min(x / m, 1.0))
    for _ in range(_STEPS):
        excess, slope = _excess_and_slope(p, m, h)
        step = (excess - allowed) / slope
        p = p - step
        if (np.abs(step) <= _CLOSE * p).all():
            break
    # Above its root a hinge excludes nothing: one that has not come down to it is left out.
    p = np.where(np.abs(step) <= _CLOSE * p, p, 0.0)
    return max(float(p.max()) * (1.0 - _ROUNDING), 0.0)


def _hinges(x: float, m: int) -> FloatArray:
    last = math.ceil(x) - 1
    share = min(x / m, 1.0)
    spread = math.sqrt(m * share * (1.0 - share)) + 4.0
    first = max(0, last - math.ceil(_REACH * spread))
    return np.unique(np.linspace(first, last, _HINGES).astype(np.int64)).astype(float)


def expected_excess(p: FloatArray, m: int, h: FloatArray) -> FloatArray:
    """Return ``E(B − h)₊ = m·p·P(B' ≥ h) − h·P(B > h)``, B' of m − 1 trials, for whole h < m."""
    return _excess_and_slope(p, m, h)[0]


def _excess_and_slope(p: FloatArray, m: int, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``E(B − h)₊`` and its derivative in p, ``m·P(B' ≥ h)``."""
    from scipy.special import betainc

    slope = m * np.where(h > 0, betainc(np.maximum(h, 1.0), m - h, p), 1.0)
    return p * slope - h * betainc(h + 1.0, m - h, p), slope
