"""Exact limits of a proportion."""

import math

from karat.limits.kernels import clopper_pearson_limits
from karat.limits.options import check_request, check_trials
from karat.limits.result import Limits

__all__ = ["clopper_pearson"]


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
        estimate=x / trials if trials else math.nan,
        n=trials,
        method="clopper-pearson",
        guarantee="exact" if whole else "approximate",
    )
