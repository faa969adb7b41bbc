"""Limits of a mean that hold for any number of items, and are narrow where values vary little."""

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column
from karat.limits.kernels import bernstein_reach
from karat.limits.options import bounded_values, check_range, check_request
from karat.limits.result import Limits

__all__ = ["bernstein_mean"]


@keeps_kind
def bernstein_mean(
    values: Column,
    *,
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
    side: str = "both",
) -> Limits:
    r"""Limit the mean of bounded values by the empirical Bernstein inequality.

    .. math:: \bar x \mp \left(\sqrt{\frac{2 V \log(2/\delta)}{n}}
        + \frac{7\,(b-a)\log(2/\delta)}{3(n-1)}\right)

    with the sample variance V (n − 1 in the denominator), the range [a, b] and the error δ on each
    side (Maurer and Pontil 2009, Theorem 4). The limits hold for any law on the range and any n of
    at least 2; with one item they are the range. `betting_mean` is narrower; these do not depend on
    the order of the items.

    Parameters
    ----------
    values : column (n,)
        One number per item, independent and of one law. Weights would need another inequality:
        there are none.
    low, high : float
        The range that no item can leave, known beforehand.
    confidence : float, default 0.95
        Probability that the limits hold.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.

    Returns
    -------
    Limits
        Not beyond the range.

    References
    ----------
    A. Maurer, M. Pontil, Empirical Bernstein bounds and sample variance penalization, COLT 2009.

    Examples
    --------
    >>> import numpy as np
    >>> bernstein_mean(np.tile([0.4, 0.6], 500))
    <Limits: between 0.4804 and 0.5196 at 95 % confidence (empirical Bernstein limits,
    finite-sample); 0.5 was seen (n = 1,000)>
    """
    request = check_request(confidence, side)
    least, most = check_range(low, high)
    x = bounded_values(values, "values", least, most)
    mean, n = float(x.mean()), len(x)
    variance = float(x.var(ddof=1)) if n > 1 else 0.0
    reach = bernstein_reach(variance, n, most - least, request.delta)
    return request.limits(
        (float(np.maximum(mean - reach, least)), float(np.minimum(mean + reach, most))),
        estimate=mean,
        n=n,
        method="bernstein",
        guarantee="finite-sample",
        whole=(least, most),
    )
