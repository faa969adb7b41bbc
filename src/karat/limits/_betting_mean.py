"""Limits of a mean that hold for any number of items, by a bet against every wrong mean."""

from karat._frames import keeps_kind
from karat._typing import Column
from karat.limits.kernels import betting_limits
from karat.limits.options import bounded_values, check_range, check_request
from karat.limits.result import Limits

__all__ = ["betting_mean"]


@keeps_kind
def betting_mean(
    values: Column,
    *,
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
    side: str = "both",
) -> Limits:
    r"""Limit the mean of bounded values by betting.

    With values scaled to [0, 1], a gambler who thinks that the mean exceeds m has the capital

    .. math:: K_t(m) = \prod_{s \le t} \left(1 + \lambda_s(m)\,(x_s - m)\right), \quad
        \lambda_s(m) = \min\left(\sqrt{\frac{2\log(1/\delta)}{n\,\hat\sigma^2_{s-1}}},\,
        \frac{0.75}{m}\right)

    where the variance :math:`\hat\sigma^2_{s-1}` is that of earlier values with a prior of one
    value of variance ¼. If m is at least the mean, the capital ever reaches 1/δ with a probability
    of at most δ (Ville); the lower limit is the greatest m at which it does. The upper limit is
    that of the mirrored values. The limits hold for any law on the range and any n.

    Parameters
    ----------
    values : column (n,)
        One number per item, independent and of one law, in an order that does not depend on the
        values: bets learn from earlier items, so another order gives slightly other limits.
    low, high : float
        The range that no item can leave, known beforehand.
    confidence : float, default 0.95
        Probability that the limits hold for this n, fixed beforehand.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.

    Returns
    -------
    Limits
        Within the range, and around the mean of the values.

    References
    ----------
    I. Waudby-Smith, A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86
    (2024), Theorem 3, one side at a time, with predictable plug-in bets for a fixed n.

    Examples
    --------
    >>> import numpy as np
    >>> betting_mean(np.tile([0.4, 0.6], 500))
    <Limits: between 0.4914 and 0.5086 at 95 % confidence (betting limits, finite-sample); 0.5 was
    seen (n = 1,000)>
    """
    request = check_request(confidence, side)
    least, most = check_range(low, high)
    x = bounded_values(values, "values", least, most)
    return request.limits(
        betting_limits(x, least, most, request.delta),
        estimate=float(x.mean()),
        n=len(x),
        method="betting",
        guarantee="finite-sample",
        whole=(least, most),
    )
