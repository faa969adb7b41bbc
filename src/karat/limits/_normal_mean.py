"""Approximate limits of a mean."""

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column
from karat._validate import check_same_length, check_scores, check_weights, encode_labels
from karat.limits.kernels import (
    cluster_moments,
    cluster_number,
    effective_number,
    student_quantile,
    weighted_moments,
)
from karat.limits.options import check_request
from karat.limits.result import Limits

__all__ = ["normal_mean"]


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
    cluster = None if clusters is None else encode_labels({"clusters": clusters})[0][0]
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
        estimate=mean,
        n=n,
        method="normal",
        guarantee="approximate",
        whole=(-np.inf, np.inf),
    )
