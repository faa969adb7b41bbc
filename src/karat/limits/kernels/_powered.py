r"""Means and ratios of a few labelled items, helped by predictions for all items.

A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, Prediction-powered inference,
Science 382 (2023). Predictions enter by a ridge regression, its residuals are those of items that
were left out (Allen 1974), and the limits are Wilson's at an effective number of labels: as many
as would leave the labels alone with the residuals' variance. Values lie between 0 and 1.
"""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.limits.kernels._binomial import clopper_pearson_limits, wilson_limits
from karat.limits.kernels._design import share_left
from karat.limits.kernels._means import bernstein_reach, cluster_number, hoeffding_reach

__all__ = [
    "FEWEST",
    "Powered",
    "Regressed",
    "labels_limits",
    "powered_bernstein",
    "powered_limits",
    "powered_ratio",
    "regress",
]

FEWEST = 20  # labels below which predictions are not looked at
_FEWEST_OF_EACH = 5  # successes or failures of a ratio below which its labels count alone
_RIDGE = 10.0  # labels that a coefficient of 0 counts for
_APART = 4.0  # how much stronger the ridge is on what tells sources apart than on their mean
_LEAST_GAIN = 0.05  # share of the variance that predictions must explain, each label left out
_LEAST_LEFT = 0.25  # share of it that is taken to remain however well they seem to predict


class Powered(NamedTuple):
    """An estimate with its limits, the same of the labels alone, and what predictions explain.

    ``left`` is the share of the labels' variance that remains, 1 where predictions are not used,
    and ``weight`` the sum of their coefficients; ``exact`` says that the labels are few, so that
    their limits are Clopper and Pearson's.
    """

    estimate: float
    lower: float
    upper: float
    labels: float
    labels_lower: float
    labels_upper: float
    left: float
    weight: float
    exact: bool = False


class Regressed(NamedTuple):
    """Means of the columns of values with predictions and without, and the residuals of each.

    ``off`` and ``alone`` (n, columns) are the errors with which the other labels predict a label,
    by the regression and by their mean.
    """

    mean: FloatArray
    labels: FloatArray
    off: FloatArray
    alone: FloatArray
    weight: FloatArray


def regress(
    values: FloatArray,
    x: FloatArray,
    shift: FloatArray,
    weight: FloatArray,
    *,
    sources: bool,
    units: float | None = None,
) -> Regressed:
    """Regress columns of values (n, c) on predictions (n, s) by ridge, each label left out in turn.

    ``shift`` is the mean of each prediction over all items minus that over the labels; ``weight``
    averages 1. With ``sources`` all columns of x predict the same thing: their mean is trusted
    sooner than what tells them apart. ``units`` is the number of clusters that the labels are in:
    the ridge is so many of them, not so many rows.
    """
    n = len(values)
    mean = weight @ values / n
    apart, far = values - mean, x - weight @ x / n
    gram = (far * weight[:, None]).T @ far
    # A prediction that hardly varies among the labels but does among all items has a shift beyond
    # its spread, and would carry the mean away: its spread is taken to be no less.
    moments = gram / n
    moments = moments + np.diag(np.maximum(shift**2 - np.diag(moments), 0.0))
    own = np.diag(moments)
    ridge = np.diag(_RIDGE * own)
    if sources and x.shape[1] > 1:
        ridge = _source_ridge(moments)
    ridge = ridge * (1.0 if units is None else max(n / units, 1.0))
    # A prediction that is the same for all labels has no coefficient; nor have two equal ones.
    least = 1e-9 * own.max(initial=0.0) or 1.0
    inverse = np.linalg.inv(gram + ridge + least * np.eye(len(gram)))
    coefficient = inverse @ (far * weight[:, None]).T @ apart
    pull = np.minimum(weight / n, 0.9)
    leverage = np.minimum(weight / n + weight * np.sum((far @ inverse) * far, axis=1), 0.9)
    off = (apart - far @ coefficient) / (1 - leverage)[:, None]
    return Regressed(
        mean + shift @ coefficient, mean, off, apart / (1 - pull)[:, None], coefficient.sum(axis=0)
    )


def _source_ridge(moments: FloatArray) -> FloatArray:
    """Return the ridge of several sources of the same thing: their mean, and deviations from it."""
    s = len(moments)
    even = np.full((s, s), 1.0 / s)
    rest = np.eye(s) - even
    together = float(moments.mean())
    apart = np.diag(rest @ moments @ rest)
    ridge = _RIDGE * together * np.ones((s, s)) + _APART * _RIDGE * rest @ np.diag(apart) @ rest
    return np.asarray(ridge)


def powered_limits(
    f: FloatArray,
    x: FloatArray,
    shift: FloatArray,
    n_total: float,
    *,
    delta: float,
    finite: bool,
    weight: FloatArray | None = None,
    cluster: IntArray | None = None,
    sources: bool = True,
    fewest: int = FEWEST,
) -> Powered:
    r"""Return the mean of f, with a limit on either side.

    ``f`` (n,) are values and ``x`` (n, s) predictions of the labelled items, ``shift`` (s,) the
    mean prediction of all ``n_total`` items minus that of the labelled ones. With the ridge
    coefficients b and the share κ of the labels' squared errors that remains when each label is
    predicted from the others,

    .. math:: a = \bar f + b \cdot shift, \quad
        n_{eff} = \left(\kappa\,(1 - n/N)/n + 1/N\right)^{-1}

    (for the mean of exactly these N items without 1/N), and Wilson's limits at a and n_eff. κ is
    at least ¼, one error of 1 in n + 2 is added to either side of it, and predictions that explain
    less than 5 % are not used. Fewer than ``fewest`` labels count alone, by Clopper and Pearson.
    Where all of exactly these items have a label the mean is known.
    """
    n = len(f)
    if finite and n >= n_total:
        known = float(f.mean())  # every item has its label
        return Powered(*(known,) * 6, 1.0, 0.0)
    w = np.ones(n) if weight is None else weight * (n / weight.sum())
    mean = float(w @ f / n)
    units = n if cluster is None else cluster_number(w, cluster)
    spread, small = float(w @ (f - mean) ** 2 / n), 1 / (units + 2)
    narrow = min(1.0, (spread + small) / (mean * (1 - mean) + small))  # 1 if all values are 0 or 1
    found = regress(f[:, None], x, shift, w, sources=sources, units=units)
    off, alone = found.off[:, 0], found.alone[:, 0]
    few = _are_few(n, cluster, fewest)
    share = share_left(
        off, alone, n * small, spread + small, w, cluster, None if few else delta
    )  # fmt: skip
    number = share.number / narrow
    labels = labels_limits(mean, number, n_total, delta=delta, finite=finite, few=few)
    if few or share.left > 1 - _LEAST_GAIN:
        return Powered(mean, *labels, mean, *labels, 1.0, 0.0, few)
    estimate = float(np.clip(found.mean[0], 0.0, 1.0))
    left = max(share.left, _LEAST_LEFT)
    ends = _wilson(estimate, number, left, n_total, delta, finite=finite)
    return Powered(estimate, *ends, mean, *labels, left, float(found.weight[0]))


def _are_few(n: int, cluster: IntArray | None, fewest: int = FEWEST) -> bool:
    """Return whether the labels, or the clusters they are in, are too few for predictions."""
    return n < fewest or (cluster is not None and int(cluster.max()) + 1 < fewest)


def labels_limits(
    mean: float, number: float, n_total: float, *, delta: float, finite: bool, few: bool
) -> tuple[float, float]:
    """Return the limits of a proportion from ``number`` labels alone: exact ones if they are few.

    For few labels of a finite number of items the exact limits ignore that it is finite.
    """
    if not few:
        return _wilson(mean, number, 1.0, n_total, delta, finite=finite)
    low, high = clopper_pearson_limits(mean * number, number, delta)
    return float(low), float(high)


def _wilson(
    mean: float, number: float, left: float, n_total: float, delta: float, *, finite: bool
) -> tuple[float, float]:
    """Return Wilson's limits if predictions leave a share of the variance of ``number`` labels.

    The number of successes among finitely many items is whole, so half an item is added.
    """
    seen = min(number / n_total, 1.0)
    variance = left * (1 - seen) / number + (0.0 if finite else 1 / n_total)
    if variance <= 0:
        return mean, mean
    low, high = wilson_limits(mean / variance, 1 / variance, delta)
    half = 0.5 / n_total if finite else 0.0
    return max(float(low) - half, 0.0), min(float(high) + half, 1.0)


def powered_ratio(
    top: FloatArray,
    bottom: FloatArray,
    x: FloatArray,
    shift: FloatArray,
    n_total: float,
    *,
    success: tuple[float, float],
    failure: tuple[float, float],
    delta: float,
    finite: bool,
    weight: FloatArray | None = None,
    cluster: IntArray | None = None,
) -> Powered:
    r"""Return the ratio of the means of ``top`` and ``bottom``, with a limit on either side.

    An item counts as a success (t₁, b₁), a failure (0, b₀) or not at all (0, 0), so that the ratio
    is a function of the share p of the successes among those that count,
    :math:`g = t_1 p / (b_1 p + b_0 (1 - p))`: precision and recall have (1, 1) and (0, 1), F1 has
    (2, 2) and (0, 1). Numerator and denominator are each regressed on the predictions; κ is what
    they leave of the variance of top − g·bottom, a success and a failure added; the limits are
    those of p, Wilson's at the number of labels that count over κ, carried over to g. Fewer than 5
    successes or failures count alone, by Clopper and Pearson.
    """
    n = len(top)
    w = np.ones(n) if weight is None else weight * (n / weight.sum())
    counts = bottom > 0
    total = float(w @ counts)

    def carried(p: float) -> float:
        if p <= 0:
            return 0.0
        return success[0] * p / (success[1] * p + failure[1] * (1 - p))

    nothing = (float("nan"), 0.0, 1.0)
    if total <= 0:
        return Powered(*nothing, *nothing, 1.0, 0.0, _are_few(n, cluster))
    share_alone = float(w @ (top > 0)) / total
    units = None if cluster is None else cluster_number(w, cluster)
    found = regress(np.stack([top, bottom], axis=1), x, shift, w, sources=False, units=units)
    ratio = float(np.clip(found.mean[0] / max(found.mean[1], 1e-12), 0.0, success[0] / success[1]))
    level = np.array([1.0, -ratio])
    pseudo = sum((a - ratio * b) ** 2 for a, b in (success, failure))
    # The variance of top − g·bottom of one label, a success and a failure among those that count.
    usual = float(w @ (found.alone @ level) ** 2 + pseudo) / (n + 2)
    won, lost = int(np.sum(top > 0)), int(np.sum(counts & (top <= 0)))
    few = _are_few(n, cluster) or min(won, lost) < _FEWEST_OF_EACH
    off, apart = found.off @ level, found.alone @ level
    share = share_left(off, apart, pseudo, usual, w, cluster, None if few else delta)
    number, whole = share.number * total / n, n_total * total / n
    ends = labels_limits(share_alone, number, whole, delta=delta, finite=finite, few=few)
    labels = carried(ends[0]), carried(ends[1])
    alone = carried(share_alone)
    if few or share.left > 1 - _LEAST_GAIN:
        return Powered(alone, *labels, alone, *labels, 1.0, 0.0, few)
    p = ratio * failure[1] / (success[0] - ratio * success[1] + ratio * failure[1])
    left = max(share.left, _LEAST_LEFT)
    low, high = _wilson(float(np.clip(p, 0, 1)), number, left, whole, delta, finite=finite)
    return Powered(ratio, carried(low), carried(high), alone, *labels, left, 0.0)


def powered_bernstein(
    f: FloatArray, m: FloatArray, unseen: float, n_others: float, *, delta: float
) -> tuple[float, float]:
    """Return limits of the mean of f that hold for any n: weights 0 and 1, fixed beforehand.

    ``unseen`` is the mean prediction of the ``n_others`` items without a label. Each of the two
    intervals gets half the error, and both hold at once, so their intersection does. The
    predictions of all items get Hoeffding's bound.
    """
    n, off = len(f), f - m
    if n < 2:
        return 0.0, 1.0
    left = 1 - n / (n + n_others)
    labels = bernstein_reach(float(f.var(ddof=1)), n, 1.0, delta / 2)
    power = bernstein_reach(float(off.var(ddof=1)), n, 2.0, delta / 4)
    power += hoeffding_reach(n + n_others, 1.0, delta / 4)
    centre = left * unseen + (1 - left) * float(m.mean()) + float(off.mean())
    low = max(float(f.mean()) - labels, centre - power, 0.0)
    high = min(float(f.mean()) + labels, centre + power, 1.0)
    return (low, high) if low <= high else (0.0, 1.0)
