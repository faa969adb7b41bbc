"""Limits of a proportion from a count of successes: Clopper-Pearson, Wilson and the KL bound."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.limits.means import normal_quantile
from karat.limits.options import check_request, check_trials
from karat.limits.result import Limits


def binomial_kl(
    successes: float, n: float, *, confidence: float = 0.95, side: str = "both"
) -> Limits:
    r"""Limit a proportion, or a mean of values in [0, 1], by Chernoff's inequality.

    The limits are the p on either side of :math:`\hat p = x/n` with

    .. math:: n\,\mathrm{kl}(\hat p, p) = \log(1/\delta), \quad
        \mathrm{kl}(q, p) = q\log\frac{q}{p} + (1-q)\log\frac{1-q}{1-p}

    and the error δ on each side. They hold for every n, and, since Hoeffding's Theorem 1 bounds
    the same moments, not for counts alone: ``successes`` may be the sum of n independent values
    between 0 and 1. They are wider than those of `clopper_pearson`.

    Parameters
    ----------
    successes : float
        Sum of n values between 0 and 1; for trials, the number of successes.
    n : float
        Number of values. Without any the limits are 0 and 1. If n is not a whole number (an
        effective number), the guarantee is ``"approximate"``.
    confidence : float, default 0.95
        Probability that the limits hold.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.

    Returns
    -------
    Limits

    References
    ----------
    H. Chernoff, A measure of asymptotic efficiency for tests of a hypothesis based on the sum of
    observations, Annals of Mathematical Statistics 23 (1952); W. Hoeffding, Probability
    inequalities for sums of bounded random variables, JASA 58 (1963), Theorem 1.

    Examples
    --------
    >>> binomial_kl(7.4, 10)
    <Limits: between 0.3208 and 0.971 at 95 % confidence (binomial KL limits, finite-sample); 0.74
    was seen (n = 10)>
    """
    request = check_request(confidence, side)
    x, trials = check_trials(successes, n)
    low, high = kl_limits(x, trials, request.delta)
    return request.limits(
        (float(low), float(high)),
        value=x / trials if trials else math.nan,
        n=trials,
        method="binomial-kl",
        guarantee="finite-sample" if trials.is_integer() else "approximate",
    )


def clopper_pearson(
    successes: float, n: float, *, confidence: float = 0.95, side: str = "both"
) -> Limits:
    r"""Limit a proportion by the binomial law itself (Clopper and Pearson 1934).

    With x successes of n independent trials and an error δ on each side, the lower limit is the p
    for which :math:`P(X \ge x) = \delta` and the upper one the p for which
    :math:`P(X \le x) = \delta`, X being binomial:

    .. math:: B^{-1}(\delta;\, x,\, n-x+1), \quad B^{-1}(1-\delta;\, x+1,\, n-x)

    with the quantile :math:`B^{-1}` of a beta law. The limits cover at least as often as they say
    for every n and p, and mostly more often.

    Parameters
    ----------
    successes : float
        Number of successes, from 0 to ``n``.
    n : float
        Number of trials. Without trials the limits are 0 and 1. Where ``successes`` or ``n`` is
        not a whole number (sums of weights, with an effective n), the same formula interpolates
        and the guarantee is ``"approximate"``.
    confidence : float, default 0.95
        Probability that the limits hold.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.

    Returns
    -------
    Limits

    References
    ----------
    C. J. Clopper, E. S. Pearson, The use of confidence or fiducial limits illustrated in the case
    of the binomial, Biometrika 26 (1934).

    Examples
    --------
    >>> clopper_pearson(0, 10, side="upper").upper      # 1 − 0.05^(1/10)
    0.2588...
    >>> clopper_pearson(7, 10)
    <Limits: between 0.3475 and 0.9333 at 95 % confidence (Clopper–Pearson limits, exact); 0.7 was
    seen (n = 10)>
    """
    request = check_request(confidence, side)
    x, trials = check_trials(successes, n)
    low, high = clopper_pearson_limits(x, trials, request.delta)
    whole = x.is_integer() and trials.is_integer()
    return request.limits(
        (float(low), float(high)),
        value=x / trials if trials else math.nan,
        n=trials,
        method="clopper-pearson",
        guarantee="exact" if whole else "approximate",
    )


def wilson(successes: float, n: float, *, confidence: float = 0.95, side: str = "both") -> Limits:
    r"""Limit a proportion by inverting the score test (Wilson 1927).

    The limits are the two p with :math:`|\hat p - p| = z\sqrt{p(1-p)/n}`, where z is the normal
    quantile of the error δ on each side:

    .. math:: \frac{\hat p + z^2/2n \mp z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    They are narrower than those of `clopper_pearson`, and cover as often as they say on average
    over p, but not at every p: at a nominal .95 the least coverage, at p near 0.2/n and 1 − 0.2/n,
    is .84 for both sides and .80 for one. No continuity correction is made.

    Parameters
    ----------
    successes : float
        Number of successes, from 0 to ``n``; not necessarily whole.
    n : float
        Number of trials, or an effective number. Without trials the limits are 0 and 1.
    confidence : float, default 0.95
        Probability that the limits hold, approximately.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.

    Returns
    -------
    Limits

    References
    ----------
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22
    (1927); L. D. Brown, T. T. Cai, A. DasGupta, Interval estimation for a binomial proportion,
    Statistical Science 16 (2001).

    Examples
    --------
    >>> wilson(7, 10)
    <Limits: between 0.3968 and 0.8922 at 95 % confidence (Wilson limits, approximate); 0.7 was seen
    (n = 10)>
    """
    request = check_request(confidence, side)
    x, trials = check_trials(successes, n)
    low, high = wilson_limits(x, trials, request.delta)
    return request.limits(
        (float(low), float(high)),
        value=x / trials if trials else math.nan,
        n=trials,
        method="wilson",
        guarantee="approximate",
    )


# --- Limits of a proportion from arrays of successes and trials.
#
# All three are equivariant: the upper limit of x successes of n is one minus the lower limit of n −
# x. Without trials the limits are 0 and 1.

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
    # Sums of weights round to a little more than the number of trials, or to less than 0.
    x = np.clip(x, 0.0, size)
    seen = size > 0
    trials = np.where(seen, size, 1.0)
    low, high = lower(x, trials), 1.0 - lower(size - x, trials)
    return np.where(seen, low, 0.0), np.where(seen, high, 1.0)
