"""Approximate limits of a proportion that stay between 0 and 1."""

import math

from karat.limits.kernels import wilson_limits
from karat.limits.options import check_request, check_trials
from karat.limits.result import Limits

__all__ = ["wilson"]


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
        estimate=x / trials if trials else math.nan,
        n=trials,
        method="wilson",
        guarantee="approximate",
    )
