"""The ratio of two means of a few labelled items, helped by predictions for all."""

from typing import Any

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat._validate import (
    check_confidence,
    check_flag,
    check_number,
    check_same_length,
    check_scores,
    refuse_option,
)
from karat.exceptions import DataError
from karat.limits.kernels import powered_ratio as limits_of_ratio
from karat.limits.options import LimitRequest, powered_result, read_labelled
from karat.limits.result import PoweredLimits

__all__ = ["powered_ratio"]


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
    ends = _pair(success, "success"), _pair(failure, "failure")
    if min(ends[0]) <= 0 or ends[1][0] != 0 or ends[1][1] <= 0:
        refuse_option(
            (success, failure), "success, failure", "positive numbers, and 0 over a positive number"
        )
    top, bottom = check_scores(numerator, "numerator"), check_scores(denominator, "denominator")
    check_same_length(numerator=top, denominator=bottom)
    _check_kinds(top, bottom, *ends)
    given = read_labelled({"numerator": top}, predicted, others, sample_weight, 0.0, 1.0)
    found = limits_of_ratio(
        top, bottom, given.x, given.shift, given.n_total, success=ends[0], failure=ends[1],
        delta=request.delta, finite=exactly, weight=given.weight,
    )  # fmt: skip
    return powered_result(
        found, request, of="ratio", n=len(top), n_total=given.n_total, finite=exactly
    )


def _pair(value: Any, name: str) -> tuple[float, float]:
    if not isinstance(value, list | tuple | np.ndarray) or len(value) != 2:
        refuse_option(value, name, "two numbers: what it adds to numerator and denominator")
    return check_number(value[0], name), check_number(value[1], name)


def _check_kinds(
    top: FloatArray, bottom: FloatArray, success: tuple[float, float], failure: tuple[float, float]
) -> None:
    """Refuse items that are neither a success nor a failure nor nothing."""
    kinds = np.array([success, failure, (0.0, 0.0)])
    seen = np.stack([top, bottom], axis=1)
    strange = np.flatnonzero(~(seen[:, None] == kinds).all(axis=2).any(axis=1))
    if len(strange):
        row = int(strange[0])
        raise DataError(
            f"row {row} adds ({top[row]:g}, {bottom[row]:g}) to numerator and denominator; "
            f"expected {success} for a success, {failure} for a failure, or (0, 0). Pass success= "
            "and failure= as the ratio counts them"
        )
