"""The mean of a few labelled items, helped by predictions for all."""

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import check_confidence, check_flag
from karat.limits.kernels import powered_bernstein, powered_limits
from karat.limits.options import (
    LimitRequest,
    bounded_values,
    check_range,
    powered_result,
    read_labelled,
)
from karat.limits.result import PoweredLimits

__all__ = ["powered_mean"]


@keeps_kind
def powered_mean(
    labelled: Column,
    predicted: Column | Frame,
    others: Column | Frame,
    *,
    sample_weight: Column | None = None,
    low: float = 0.0,
    high: float = 1.0,
    finite: bool = False,
    confidence: float = 0.95,
) -> PoweredLimits:
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
    PoweredLimits

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
    >>> r = powered_mean(right[:100].astype(float), chance[:100], chance[100:])
    >>> bool(r.lower < 2 / 3 < r.upper), r.upper - r.lower < r.labels.width
    (True, True)
    """
    request = LimitRequest(check_confidence(confidence), "both")
    least, most = check_range(low, high)
    exactly = check_flag(finite, "finite")
    f = (bounded_values(labelled, "labelled", least, most) - least) / (most - least)
    given = read_labelled({"labelled": f}, predicted, others, sample_weight, least, most)
    found = powered_limits(
        f, given.x, given.shift, given.n_total, delta=request.delta, finite=exactly,
        weight=given.weight,
    )  # fmt: skip
    certain = None
    if given.weight is None:
        m = given.x.mean(axis=1)
        unseen = float(given.others.mean() if len(given.others) else m.mean())
        ends = powered_bernstein(f, m, unseen, len(given.others), delta=request.delta)
        certain = request.limits(
            (least + (most - least) * ends[0], least + (most - least) * ends[1]),
            estimate=least + (most - least) * float(np.mean(f)),
            n=len(f),
            method="bernstein",
            guarantee="finite-sample",
        )
    return powered_result(
        found, request, of="mean", n=len(f), n_total=given.n_total, finite=exactly,
        certain=certain, low=least, high=most,
    )  # fmt: skip
