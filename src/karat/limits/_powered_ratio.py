"""The ratio of two means of a few labelled items, helped by predictions for all."""

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat._validate import check_confidence, check_flag, check_same_length, check_scores
from karat.limits.kernels import powered_ratio as limits_of_ratio
from karat.limits.options import LimitRequest, check_kinds, powered_result, read_labelled
from karat.limits.result import PoweredLimits

__all__ = ["powered_ratio"]


@keeps_kind
def powered_ratio(
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
) -> PoweredLimits:
    r"""Limit a ratio, such as precision, recall or F1, from a random sample of labels.

    Each labelled item adds (t, b) to numerator and denominator: a success (t₁, b₁), a failure
    (0, b₀), or nothing (0, 0). Then :math:`g = t_1 p / (b_1 p + b_0 (1 - p))` with the share p of
    the successes among the items that count, and the limits of p are those of `powered_mean`,
    numerator and denominator each regressed on the predictions; they are carried over to g.
    Fewer than 5 successes or 5 failures count alone, by Clopper and Pearson.

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
        As in `powered_mean`.

    Returns
    -------
    PoweredLimits

    Examples
    --------
    The F1 of a classifier from 200 labels of 2,000 items, with the model's own probabilities:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.2, 0.4, 2000)
    >>> y, h = rng.random(2000) < p, p > 0.2
    >>> known = np.stack([p, h, h * p], axis=1)
    >>> top, bottom = 2.0 * (h & y)[:200], 1.0 * h[:200] + y[:200]
    >>> r = powered_ratio(top, bottom, known[:200], known[200:], success=(2, 2))
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
        top, bottom, given.x, given.shift, given.n_total, success=ends[0], failure=ends[1],
        delta=request.delta, finite=exactly, weight=given.weight,
    )  # fmt: skip
    return powered_result(
        found, request, of="ratio", n=len(top), n_total=given.n_total, finite=exactly
    )
