"""Limits of the mean of bounded values: normal, Bernstein, hinge, and by betting on each value."""

import math
from typing import NamedTuple

import numpy as np

from karat._result import keeps_kind
from karat._typing import Column, FloatArray, IntArray
from karat._validate import check_same_length, check_scores, check_weights, encode_names
from karat.limits.options import bounded_values, check_range, check_request
from karat.limits.result import Limits


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
        value=mean,
        n=n,
        method="bernstein",
        guarantee="finite-sample",
        whole=(least, most),
    )


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
        value=float(x.mean()),
        n=len(x),
        method="betting",
        guarantee="finite-sample",
        whole=(least, most),
    )


@keeps_kind
def normal_mean(
    values: Column,
    *,
    sample_weight: Column | None = None,
    clusters: Column | None = None,
    confidence: float = 0.95,
    side: str = "both",
) -> Limits:
    r"""Limit a mean by its standard error and Student's t.

    .. math:: \bar x \mp t_{\nu,\,1-\delta}\, s, \quad
        s^2 = \frac{\nu+1}{\nu} \frac{\sum_i w_i^2 (x_i - \bar x)^2}{(\sum_i w_i)^2}, \quad
        \nu = \frac{(\sum_i w_i)^2}{\sum_i w_i^2} - 1

    with the weighted mean :math:`\bar x` and the error δ on each side (Student 1908; the effective
    number of items is that of Kish 1965). Without weights this is the usual interval. With clusters
    the residuals are summed within each before they are squared, and ν + 1 is Kish's number of
    clusters, by their total weights, if that is smaller: the number of clusters if all weigh alike.

    Parameters
    ----------
    values : column (n,)
        One number per item.
    sample_weight : column (n,), optional
        Importance of each item. A weight of 2 is not two items: to count an item twice, pass it
        twice.
    clusters : column (n,), optional
        Items of one cluster may depend on each other; clusters do not.
    confidence : float, default 0.95
        Probability that the limits hold, approximately. It falls short for skewed values and few
        items: with all values equal the limits are the mean itself.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.

    Returns
    -------
    Limits
        Infinite where one item, or one cluster, is nearly all of the sample.

    Examples
    --------
    >>> normal_mean([0.2, 0.5, 0.3, 0.6, 0.4])
    <Limits: between 0.2037 and 0.5963 at 95 % confidence (normal limits, approximate); 0.4 was seen
    (n = 5)>
    """
    request = check_request(confidence, side)
    x, weight = check_scores(values, "values"), check_weights(sample_weight)
    cluster = None if clusters is None else encode_names(clusters, "clusters")[0]
    check_same_length(values=x, sample_weight=weight, clusters=cluster)
    w = np.ones(len(x)) if weight is None else weight
    n = effective_number(float(w.sum()), float(w @ w))
    if cluster is None:
        mean, error = weighted_moments(x, w, w**2)
    else:
        mean, error = cluster_moments(x, w, cluster)
        n = min(n, cluster_number(w, cluster))
    quantile = student_quantile(request.delta, n - 1)
    reach = quantile * error if np.isfinite(quantile) else np.inf
    return request.limits(
        (mean - reach, mean + reach),
        value=mean,
        n=n,
        method="normal",
        guarantee="approximate",
        whole=(-np.inf, np.inf),
    )


# --- Quantiles, standard errors of means, and how far from a mean its limit is.

_LEAST_FREEDOM = 0.5  # degrees of freedom below which one item is nearly all of the sample


class Moments(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float


def normal_quantile(delta: float) -> float:
    """Return the z that a standard normal variable exceeds with the probability ``delta``."""
    from scipy.special import ndtri

    return -float(ndtri(delta))


def student_quantile(delta: float, freedom: float) -> float:
    """Return what Student's t exceeds with the probability ``delta``; infinite for one item."""
    from scipy.special import stdtrit

    return -float(stdtrit(freedom, delta)) if freedom > _LEAST_FREEDOM else np.inf


def effective_number(total: float, squares: float) -> float:
    """Return Kish's number of items, ``(Σw)²/Σw²``, from a sum of weights and one of squares."""
    return total**2 / squares


def cluster_number(weight: FloatArray, cluster: IntArray) -> float:
    """Return Kish's number of clusters, by the total weight of each."""
    total = np.bincount(cluster, weight)
    return effective_number(float(total.sum()), float(total @ total))


def weighted_moments(values: FloatArray, weight: FloatArray, square: FloatArray) -> Moments:
    """Return the weighted mean of independent items and its standard error.

    Items may be counted in cells: ``weight`` and ``square`` are then the sums of the weights and
    of their squares in each cell of one value.
    """
    total = float(weight.sum())
    mean = float(np.sum(weight * values) / total)
    n = effective_number(total, float(square.sum()))
    few = n / max(n - 1.0, 1.0)
    return Moments(mean, float(np.sqrt(few * np.sum(square * (values - mean) ** 2))) / total)


def cluster_moments(values: FloatArray, weight: FloatArray, cluster: IntArray) -> Moments:
    """Return the weighted mean and its standard error when whole clusters are independent."""
    total = float(weight.sum())
    mean = float(weight @ values / total)
    sums = np.bincount(cluster, weights=weight * (values - mean))
    few = len(sums) / max(len(sums) - 1, 1)
    return Moments(mean, float(np.sqrt(few * np.sum(sums**2))) / total)


def bernstein_reach(variance: float, n: float, span: float, delta: float) -> float:
    """Return how far the mean may be on one side of that of n values of a range ``span``.

    A. Maurer, M. Pontil, Empirical Bernstein bounds and sample variance penalization, COLT 2009,
    Theorem 4; ``variance`` is the sample's, with n − 1 in the denominator.
    """
    if n < 2:
        return np.inf
    log = np.log(2.0 / delta)
    return float(np.sqrt(2 * variance * log / n) + 7 * span * log / (3 * (n - 1)))


def hoeffding_reach(n: float, span: float, delta: float) -> float:
    """Return how far the mean may be on one side of that of n values of a range ``span``.

    W. Hoeffding, Probability inequalities for sums of bounded random variables, JASA 58 (1963),
    Theorem 2.
    """
    return float(span * np.sqrt(-np.log(delta) / (2 * n)))


# --- Limits of a mean that hold for any law on an interval, however few the values.

_TRUNCATED = 0.75  # share of the capital that one bet may lose at most
_HALVINGS = 50


def betting_lower(values: FloatArray, low: float, high: float, delta: float) -> float:
    """Return a limit that is at most the mean of the law with probability ``1 − delta``.

    A gambler who bets that the mean exceeds m multiplies the capital by ``1 + λ_t(x_t − m)``, with
    λ chosen from earlier values. If m is the mean or more, the capital reaches 1/δ with probability
    at most δ (Ville); every m at which it does is too small. Bets follow I. Waudby-Smith and
    A. Ramdas, Estimating means of bounded random variables by betting, JRSS B 86 (2024). Each
    factor falls in m, so the m that are too small are an interval and are found by halving.
    """
    x = (np.asarray(values) - low) / (high - low)
    n, t = len(x), np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    earlier = np.concatenate([[0.25], variance[:-1]])
    bet = np.sqrt(2 * math.log(1 / delta) / (n * earlier))
    floor, ceiling = 0.0, 1.0
    for _ in range(_HALVINGS):
        m = (floor + ceiling) / 2
        capital = np.cumsum(np.log1p(np.minimum(bet, _TRUNCATED / m) * (x - m)))
        if capital.max() >= math.log(1 / delta):
            floor = m
        else:
            ceiling = m
    return low + (high - low) * floor


def betting_limits(
    values: FloatArray, low: float, high: float, delta: float
) -> tuple[float, float]:
    """Return the lower limit, and the upper one as that of the mirrored values.

    The capital counts at its greatest, so at a low confidence every mean may have been ruled out
    at some time; limits that are kept around the mean of the values hold all the more.
    """
    mean, mirrored = float(np.mean(values)), low + high - np.asarray(values)
    lower = betting_lower(values, low, high, delta)
    upper = low + high - betting_lower(mirrored, low, high, delta)
    return min(lower, mean), max(upper, mean)


# --- Limits of a mean of numbers in [0, 1] by hinges, for sums below a binomial in convex order.
#
# A sum S of m independent numbers in [0, 1] with the mean p satisfies ``E f(S) ≤ E f(B)`` for every
# convex f, where ``B ~ Binomial(m, p)`` (Hoeffding 1963); so does an average of such sums, as a
# U-statistic is one. With the hinge ``f(s) = (s − h)₊`` Markov's inequality gives
#
#     P(S ≥ x) ≤ min over h < x of E(B − h)₊ / (x − h),
#
# where the exponential in place of the hinge gives ``exp(−m·kl(x/m, p))``, which is larger.

_STEPS = 100  # of Newton's method; a limit with delta takes about 5 + log(1/delta) of them
_CLOSE = 1e-10  # after a step this small what is left to the root is below a float's precision
_ROUNDING = 1e-13
_HINGES = 96  # that are tried; each alone gives a limit that holds
_REACH = 7.0  # standard deviations below the sum, from where on no hinge helps


def hinge_limits(total: float, m: int, delta: float) -> tuple[float, float]:
    """Return limits of the mean of a sum of m numbers in [0, 1], each wrong with ``delta``."""
    # A sum of weights rounds to a little more than m, and no sum of m numbers reaches that: a hinge
    # at m would exclude every mean.
    total = min(max(total, 0.0), float(m))
    return _lower(total, m, delta), 1.0 - _lower(m - total, m, delta)


def _lower(x: float, m: int, delta: float) -> float:
    """Return the greatest p at which some hinge shows that a sum of x has ``delta`` at most."""
    if x <= 0:
        return 0.0
    h = _hinges(x, m)
    allowed = delta * (x - h)
    # E(B − h)₊ is convex in p and above what is allowed at x/m: Newton's method comes down to the
    # root of each hinge and never passes it.
    p = np.full(len(h), x / m)
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
    share = x / m
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
