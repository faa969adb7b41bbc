"""Limits of a mean of values between 0 and 1, from their sum alone."""

import math

from karat.limits.kernels import kl_limits
from karat.limits.options import check_request, check_trials
from karat.limits.result import Limits

__all__ = ["binomial_kl"]


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
        estimate=x / trials if trials else math.nan,
        n=trials,
        method="binomial-kl",
        guarantee="finite-sample" if trials.is_integer() else "approximate",
    )
