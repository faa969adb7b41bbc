"""Prediction-powered limits: a few labels, and predictions of the rest.

The mean of the predictions is corrected by their mean error on the labelled items, with the
weight that makes the limits narrowest (Angelopoulos et al. 2023).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from karat._result import Estimate, keeps_kind
from karat._sentences import Argument, Remedy
from karat._typing import Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_confidence,
    check_flag,
    check_same_length,
    check_score_columns,
    check_scores,
    check_weights,
    is_matrix,
)
from karat.exceptions import ShapeError
from karat.limits.means import (
    bernstein_reach,
    cluster_number,
    effective_number,
    hoeffding_reach,
    normal_quantile,
    student_quantile,
)
from karat.limits.options import LimitRequest, bounded_values, check_range
from karat.limits.proportions import clopper_pearson_limits, wilson_limits
from karat.limits.pseudo import check_kinds
from karat.limits.result import Limits, PredictionPoweredLimits


@keeps_kind
def prediction_powered_mean(
    labelled: Column,
    predicted: Column | Frame,
    others: Column | Frame,
    *,
    sample_weight: Column | None = None,
    low: float = 0.0,
    high: float = 1.0,
    finite: bool = False,
    confidence: float = 0.95,
) -> PredictionPoweredLimits:
    r"""Limit a mean from a random sample of labels and predictions for every item.

    With values f and predictions m of the n labelled items among N,

    .. math:: a = \bar f_n + b \cdot (\bar m_N - \bar m_n), \quad
        n_{eff} = \left(\kappa\,(1 - n/N)/n + 1/N\right)^{-1}

    where b is a ridge regression of f on m, worth 10 labels at 0, and κ the share of the labels'
    squared errors that is left when each label is predicted from the others. The limits are
    Wilson's for the share a of n_eff labels. However bad the predictions are, the limits stay
    right; good ones narrow them towards :math:`\sqrt{1-\rho^2}` of those of the labels, at most to
    half. Predictions that explain less than 5 % are not used, and below 20 labels none are: the
    limits are then those of the labels alone, by Clopper and Pearson.

    Parameters
    ----------
    labelled : column (n,)
        The value of each labelled item, such as 1 where a classifier is right.
    predicted : column (n,) or matrix (n, s)
        What a model that has not seen these labels predicts of them, in the same range; several
        sources in columns, of which the mean is trusted sooner than what tells them apart.
    others : column (N − n,) or matrix (N − n, s)
        What it predicts of the items without a label; may be empty.
    sample_weight : column (n,), optional
        One over the probability with which each label was drawn, where these differ: strata of
        :math:`N_h` items with :math:`m_h` labels have :math:`N_h / m_h`. What strata gain beyond
        the weights is not counted. Where the rare value is also the one less likely to be
        labelled, a sample may hold none of it, and the limits are too narrow: a share of .8 at 30
        labels is covered .73 if the others are five times less likely to be labelled.
    low, high : float
        The range that no value can leave.
    finite : bool, default False
        Whether the mean of exactly these N items is asked for; the 1/N in n_eff is then left out.
        Otherwise that of the law they come from.
    confidence : float, default 0.95
        Probability that the limits hold. ``lower`` and ``upper`` are approximate and two-sided;
        ``certain`` holds for any n when items are independent and all weigh alike.

    Returns
    -------
    PredictionPoweredLimits

    References
    ----------
    A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, Prediction-powered
    inference, Science 382 (2023); A. N. Angelopoulos, J. C. Duchi, T. Zrnic, PPI++: efficient
    prediction-powered inference, arXiv:2311.01453 (2023); D. M. Allen, The relationship between
    variable selection and data augmentation and a method for prediction, Technometrics 16 (1974).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.beta(2, 1, 2000)
    >>> right = rng.random(2000) < chance
    >>> r = prediction_powered_mean(right[:100].astype(float), chance[:100], chance[100:])
    >>> bool(r.lower < 2 / 3 < r.upper), r.upper - r.lower < r.labels.width
    (True, True)
    """
    request = LimitRequest(check_confidence(confidence), "both")
    least, most = check_range(low, high)
    exactly = check_flag(finite, "finite")
    f = (bounded_values(labelled, "labelled", least, most) - least) / (most - least)
    given = read_labelled({"labelled": f}, predicted, others, sample_weight, least, most)
    found = limits_of_mean(
        f,
        given.x,
        given.shift,
        given.n_total,
        delta=request.delta,
        finite=exactly,
        weight=given.weight,
    )
    certain = None
    if given.weight is None:
        m = given.x.mean(axis=1)
        unseen = float(given.others.mean() if len(given.others) else m.mean())
        ends = bernstein_of_mean(f, m, unseen, len(given.others), delta=request.delta)
        certain = request.limits(
            (least + (most - least) * ends[0], least + (most - least) * ends[1]),
            value=least + (most - least) * float(np.mean(f)),
            n=len(f),
            method="bernstein",
            guarantee="finite-sample",
        )
    return result_of(
        found,
        request,
        of="mean",
        n=len(f),
        n_total=given.n_total,
        finite=exactly,
        certain=certain,
        low=least,
        high=most,
    )


@keeps_kind
def prediction_powered_ratio(
    numerator: Column,
    denominator: Column,
    predicted: Column | Frame,
    others: Column | Frame,
    *,
    success: tuple[float, float] = (1.0, 1.0),
    failure: tuple[float, float] = (0.0, 1.0),
    sample_weight: Column | None = None,
    finite: bool = False,
    confidence: float = 0.95,
) -> PredictionPoweredLimits:
    r"""Limit a ratio, such as precision, recall or F1, from a random sample of labels.

    Each labelled item adds (t, b) to numerator and denominator: a success (t₁, b₁), a failure
    (0, b₀), or nothing (0, 0). Then :math:`g = t_1 p / (b_1 p + b_0 (1 - p))` with the share p of
    the successes among the items that count, and the limits of p are those of
    `prediction_powered_mean`, numerator and denominator each regressed on the predictions; they are
    carried over to g. Fewer than 5 successes or 5 failures count alone, by Clopper and Pearson.

    Parameters
    ----------
    numerator, denominator : column (n,)
        What each labelled item adds. With h for "called positive" and y for "is positive",
        precision is h·y over h, recall h·y over y, F1 2·h·y over h + y.
    predicted : column (n,) or matrix (n, s)
        What is known of every labelled item: predictions by a model that has not seen these
        labels, and whatever else goes with numerator or denominator, such as h; from 0 to 1.
    others : column (N − n,) or matrix (N − n, s)
        The same of the items without a label.
    success, failure : pair of float
        What an item adds to numerator and denominator: (2, 2) and (0, 1) for F1.
    sample_weight, finite, confidence
        As in `prediction_powered_mean`.

    Returns
    -------
    PredictionPoweredLimits

    Examples
    --------
    The F1 of a classifier from 200 labels of 2,000 items, with the model's own probabilities:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.2, 0.4, 2000)
    >>> y, h = rng.random(2000) < p, p > 0.2
    >>> known = np.stack([p, h, h * p], axis=1)
    >>> top, bottom = 2.0 * (h & y)[:200], 1.0 * h[:200] + y[:200]
    >>> r = prediction_powered_ratio(top, bottom, known[:200], known[200:], success=(2, 2))
    >>> r.upper - r.lower < r.labels.width
    True
    """
    request = LimitRequest(check_confidence(confidence), "both")
    exactly = check_flag(finite, "finite")
    top, bottom = check_scores(numerator, "numerator"), check_scores(denominator, "denominator")
    check_same_length(numerator=top, denominator=bottom)
    ends = check_kinds(top, bottom, success, failure)
    given = read_labelled({"numerator": top}, predicted, others, sample_weight, 0.0, 1.0)
    found = limits_of_ratio(
        top,
        bottom,
        given.x,
        given.shift,
        given.n_total,
        success=ends[0],
        failure=ends[1],
        delta=request.delta,
        finite=exactly,
        weight=given.weight,
    )
    return result_of(found, request, of="ratio", n=len(top), n_total=given.n_total, finite=exactly)


# --- Labelled values and the predictions that help them.


class LabelledPredictions(NamedTuple):
    """Predictions of the labels (n, s), of the other items, and the weights of the labels."""

    x: FloatArray
    others: FloatArray
    weight: FloatArray | None

    @property
    def n_total(self) -> int:
        """Number of all items."""
        return len(self.x) + len(self.others)

    @property
    def shift(self) -> FloatArray:
        """Mean of each prediction over all items minus the mean over the labels."""
        n, w = len(self.x), self.weight
        own = self.x.mean(axis=0) if w is None else w @ self.x / w.sum()
        total = (self.x.sum(axis=0) + self.others.sum(axis=0)) / self.n_total
        return np.asarray(total - own) if n else np.zeros(self.x.shape[1])


def read_labelled(
    labels: dict[str, FloatArray],
    predicted: Column | Frame,
    others: Column | Frame,
    sample_weight: Column | None,
    low: float,
    high: float,
) -> LabelledPredictions:
    """Check predictions, in one column or several, against the labelled values."""
    x = _columns(predicted, "predicted", low, high)
    rest = np.zeros((0, x.shape[1])) if _is_empty(others) else _columns(others, "others", low, high)
    if rest.shape[1] != x.shape[1]:
        raise ShapeError(
            Argument("predicted"),
            f" has {x.shape[1]} columns and others has {rest.shape[1]}",
            Remedy("pass one column per source, the same ones in both"),
        )
    weight = check_weights(sample_weight)
    check_same_length(**labels, predicted=x, sample_weight=weight)
    return LabelledPredictions(x, rest, weight)


def _columns(values: Any, name: str, low: float, high: float) -> FloatArray:
    if is_matrix(values):
        found = check_score_columns(values, name, each="source of predictions")
        columns = [bounded_values(column, name, low, high) for column in found.values()]
    else:
        columns = [bounded_values(values, name, low, high)]
    return (np.stack(columns, axis=1) - low) / (high - low)


def _is_empty(column: Any) -> bool:
    return hasattr(column, "__len__") and len(column) == 0


def result_of(
    found: PredictionPowered,
    request: LimitRequest,
    *,
    of: str,
    n: int,
    n_total: int,
    finite: bool,
    certain: Limits | None = None,
    low: float = 0.0,
    high: float = 1.0,
    method: str | None = None,
) -> PredictionPoweredLimits:
    """Wrap what a kernel found, moved back to the range of the values.

    ``method`` is that of the labels' own limits, if it is not the usual one.
    """

    def back(value: float) -> float:
        return low + (high - low) * value

    usual = "clopper-pearson" if found.exact else "wilson"
    labels = request.limits(
        (back(found.labels_lower), back(found.labels_upper)),
        value=back(found.labels),
        n=n,
        method=usual if method is None else method,
        guarantee="approximate",
    )
    ends = back(found.value), back(found.lower), back(found.upper)
    known = finite and n == n_total and ends[1] == ends[2]
    return PredictionPoweredLimits(
        of=of,
        estimate=Estimate.of(*ends, request.confidence, "complete" if known else "approximate"),
        used=found.left < 1,
        left=found.left,
        weight=found.weight,
        labels=labels,
        certain=certain,
        n=n,
        n_total=n_total,
        finite=finite,
    )


# --- Means and ratios of a few labelled items, helped by predictions for all items.
#
# A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, Prediction-powered inference,
# Science 382 (2023). Predictions enter by a ridge regression, its residuals are those of items that
# were left out (Allen 1974), and the limits are Wilson's at an effective number of labels: as many
# as would leave the labels alone with the residuals' variance. Values lie between 0 and 1.

FEWEST = 20  # labels below which predictions are not looked at
_FEWEST_OF_EACH = 5  # successes or failures of a ratio below which its labels count alone
_RIDGE = 10.0  # labels that a coefficient of 0 counts for
_APART = 4.0  # how much stronger the ridge is on what tells sources apart than on their mean
_LEAST_GAIN = 0.05  # share of the variance that predictions must explain, each label left out
_LEAST_LEFT = 0.25  # share of it that is taken to remain however well they seem to predict


class PredictionPowered(NamedTuple):
    """An estimate with its limits, the same of the labels alone, and what predictions explain.

    ``left`` is the share of the labels' variance that remains, 1 where predictions are not used,
    and ``weight`` the sum of their coefficients; ``exact`` says that the labels are few, so that
    their limits are Clopper and Pearson's.
    """

    value: float
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


def limits_of_mean(
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
) -> PredictionPowered:
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
        return PredictionPowered(*(known,) * 6, 1.0, 0.0)
    w = np.ones(n) if weight is None else weight * (n / weight.sum())
    mean = float(w @ f / n)
    units = n if cluster is None else cluster_number(w, cluster)
    spread, small = float(w @ (f - mean) ** 2 / n), 1 / (units + 2)
    narrow = min(1.0, (spread + small) / (mean * (1 - mean) + small))  # 1 if all values are 0 or 1
    found = regress(f[:, None], x, shift, w, sources=sources, units=units)
    off, alone = found.off[:, 0], found.alone[:, 0]
    few = _are_few(n, cluster, fewest)
    share = share_left(off, alone, n * small, spread + small, w, cluster, None if few else delta)
    number = share.number / narrow
    labels = labels_limits(mean, number, n_total, delta=delta, finite=finite, few=few)
    if few or share.left > 1 - _LEAST_GAIN:
        return PredictionPowered(mean, *labels, mean, *labels, 1.0, 0.0, few)
    estimate = float(np.clip(found.mean[0], 0.0, 1.0))
    left = max(share.left, _LEAST_LEFT)
    ends = _wilson(estimate, number, left, n_total, delta, finite=finite)
    return PredictionPowered(estimate, *ends, mean, *labels, left, float(found.weight[0]))


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


def limits_of_ratio(
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
) -> PredictionPowered:
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
        return PredictionPowered(*nothing, *nothing, 1.0, 0.0, _are_few(n, cluster))
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
        return PredictionPowered(alone, *labels, alone, *labels, 1.0, 0.0, few)
    p = ratio * failure[1] / (success[0] - ratio * success[1] + ratio * failure[1])
    left = max(share.left, _LEAST_LEFT)
    low, high = _wilson(float(np.clip(p, 0, 1)), number, left, whole, delta, finite=finite)
    return PredictionPowered(ratio, carried(low), carried(high), alone, *labels, left, 0.0)


def bernstein_of_mean(
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


# --- How many labels unequal weights and clusters leave, and what predictions leave of a variance.


class Share(NamedTuple):
    """What predictions leave of the variance of a mean, and how many labels the labels are."""

    left: float
    number: float


def share_left(
    off: FloatArray,
    alone: FloatArray,
    pseudo: float,
    spread: float,
    weight: FloatArray,
    cluster: IntArray | None,
    delta: float | None,
) -> Share:
    """Compare the variance of the residuals with that of the labels, ``pseudo`` added to either.

    ``spread`` is the variance of one label, an error added to those seen. Unequal weights count as
    Kish's number of labels, or as fewer where large weights go with large errors; where the labels
    of a cluster err together, the number falls by as much as their variance grows, and, for limits
    at a ``delta``, as Student's quantile at the number of clusters exceeds the normal one.
    """
    with_them, without = (_squares(weight * part, cluster) for part in (off, alone))
    square = float(weight @ weight)
    number = effective_number(float(weight.sum()), square)
    number /= _weight_effect(alone, weight, spread)
    if cluster is not None:
        number /= _cluster_effect(without, _squares(weight * alone, None), spread, weight, cluster)
        if delta is not None:
            freedom = max(cluster_number(weight, cluster) - 1, 1.0)
            number *= (normal_quantile(delta) / student_quantile(delta, freedom)) ** 2
    return Share((with_them + pseudo) / (without + pseudo), number)


def _weight_effect(alone: FloatArray, weight: FloatArray, spread: float) -> float:
    """Return by how much the variance grows as large weights go with large errors; at least 1.

    One label of the largest weight with an error of the usual size is added.
    """
    square = weight**2
    usual = float(square.mean())
    seen, expected = float(square @ alone**2), usual * float(weight @ alone**2)
    return max(1.0, (seen + spread * float(square.max())) / (expected + spread * usual))


def _cluster_effect(
    together: float, apart: float, spread: float, weight: FloatArray, cluster: IntArray
) -> float:
    """Return by how much the variance grows as labels of a cluster err together; at least 1.

    Two clusters of the usual size that err as one are added to those seen, so that labels that all
    agree are as many as their clusters, not as many as their rows.
    """
    total, square = float(weight.sum()), float(weight @ weight)
    size = max(effective_number(total, square) / cluster_number(weight, cluster), 1.0)
    two = 2 * size * spread * square / len(weight)
    return max(1.0, (together + size * two) / (apart + two))


def _squares(values: FloatArray, cluster: IntArray | None) -> float:
    summed = values if cluster is None else np.bincount(cluster, values)
    return float(summed @ summed)
