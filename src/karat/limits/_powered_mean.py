"""The mean of a few labelled items, helped by predictions for all."""

from typing import Any

import numpy as np

from karat._typing import Column, FloatArray
from karat._validate import check_confidence, check_flag, check_same_length
from karat.exceptions import DataError
from karat.limits.kernels import FEWEST, powered_bernstein, powered_estimate
from karat.limits.options import LimitRequest, bounded_values, check_range
from karat.limits.result import Limits, PoweredMean

__all__ = ["powered_mean"]


def powered_mean(
    labelled: Column,
    predicted: Column,
    others: Column,
    *,
    low: float = 0.0,
    high: float = 1.0,
    finite: bool = False,
    confidence: float = 0.95,
) -> PoweredMean:
    r"""Limit a mean from a random sample of labels and predictions for every item.

    With values f and predictions m of the n labelled items, predictions of N − n others and
    :math:`\lambda = Cov(f, m) / Var(m)`,

    .. math:: a = \bar f_n + \lambda\, (1 - n/N)\, (\bar m_{N-n} - \bar m_n), \quad
        Var(a) = \frac{Var(f)}{n} (1 - \rho^2 (1 - n/N))

    (PPI++: Angelopoulos, Duchi and Zrnic 2023). However bad the predictions are, the limits stay
    right; good ones narrow them towards :math:`\sqrt{1-\rho^2}` of those of the labels. To Var(f)
    one value at each end of the range is added, and to the variance that m leaves unexplained one
    wrong prediction, so that n equal values are not reported as certain.

    Parameters
    ----------
    labelled : column (n,)
        The value of each labelled item, such as 1 where a classifier is right. At least 5, drawn
        at random from all items.
    predicted : column (n,)
        What a model that has not seen these labels predicts of them, in the same range.
    others : column (N − n,)
        What it predicts of the items without a label; may be empty.
    low, high : float
        The range that no value can leave.
    finite : bool, default False
        Whether the mean of exactly these N items is asked for; its variance is
        :math:`(1/n - 1/N)\,Var(f)\,(1-\rho^2)`. Otherwise that of the law they come from.
    confidence : float, default 0.95
        Probability that the limits hold. ``lower`` and ``upper`` are approximate and two-sided;
        ``certain`` holds for any n when items are independent; good predictions narrow it from
        some hundred labels on.

    Returns
    -------
    PoweredMean

    References
    ----------
    A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, Prediction-powered
    inference, Science 382 (2023); A. N. Angelopoulos, J. C. Duchi, T. Zrnic, PPI++: efficient
    prediction-powered inference, arXiv:2311.01453 (2023).

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
    f = _scaled(labelled, "labelled", least, most)
    m = _scaled(predicted, "predicted", least, most)
    check_same_length(labelled=f, predicted=m)
    if len(f) < FEWEST:
        raise DataError(
            f"labelled has {len(f)} rows; expected at least {FEWEST}. Label more items, or limit "
            "the share of a few labels with clopper_pearson"
        )
    rest = np.zeros(0) if _is_empty(others) else _scaled(others, "others", least, most)
    unseen, mean = float(rest.mean() if len(rest) else m.mean()), float(f.mean())
    found = powered_estimate(f, m, unseen, len(rest), delta=request.delta, finite=exactly)
    certain = powered_bernstein(f, m, unseen, len(rest), delta=request.delta)

    def back(value: float) -> float:
        return least + (most - least) * min(max(value, 0.0), 1.0)

    def alone(ends: tuple[float, float], method: str, guarantee: str) -> Limits:
        low, high = (back(end) for end in ends)
        return request.limits(
            (low, high), estimate=back(mean), n=len(f), method=method, guarantee=guarantee
        )

    reach = found.labels_reach
    return PoweredMean(
        estimate=back(found.estimate),
        lower=back(found.estimate - found.reach),
        upper=back(found.estimate + found.reach),
        confidence=request.confidence,
        weight=found.weight,
        labels=alone((mean - reach, mean + reach), "normal", "approximate"),
        certain=alone(certain, "bernstein", "finite-sample"),
        n=len(f),
        n_total=len(f) + len(rest),
        finite=exactly,
    )


def _scaled(column: Column, name: str, low: float, high: float) -> FloatArray:
    """Check a column and bring its range to 0 and 1."""
    return np.asarray((bounded_values(column, name, low, high) - low) / (high - low))


def _is_empty(column: Any) -> bool:
    return hasattr(column, "__len__") and len(column) == 0
