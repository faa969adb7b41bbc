"""Limits of a ratio of means that hold however often one looks."""

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column
from karat._validate import (
    check_confidence,
    check_number,
    check_same_length,
    check_scores,
    check_weights,
)
from karat.exceptions import WeightError
from karat.limits.kernels import anytime_path, ratio_steps, value_grid
from karat.limits.options import check_kinds, path_result
from karat.limits.result import AnytimeLimits

__all__ = ["anytime_ratio"]


@keeps_kind
def anytime_ratio(
    numerator: Column,
    denominator: Column,
    *,
    success: tuple[float, float] = (1.0, 1.0),
    failure: tuple[float, float] = (0.0, 1.0),
    sample_weight: Column | None = None,
    heaviest: float | None = None,
    confidence: float = 0.95,
) -> AnytimeLimits:
    r"""Limit a ratio, such as precision, recall or F1, after every label.

    With what an item adds to numerator and denominator, a and b, and one over the chance with which
    it was drawn as its weight w, the ratio g is the one value with :math:`E[w(a - g b)] = 0`.
    Bets against that, as in `anytime_mean`, rule out every other g.

    Parameters
    ----------
    numerator, denominator : column (n,)
        What each item adds, in the order in which items came.
    success, failure : pair of float
        What an item can add: (2, 2) and (0, 1) for F1; or nothing, (0, 0).
    sample_weight : column (n,), optional
        One over the chance with which each item was drawn.
    heaviest : float, optional
        The greatest weight that any item could have had, known beforehand; by default the
        greatest of ``sample_weight``.
    confidence : float, default 0.95
        Probability that the limits hold after every label together.

    Returns
    -------
    AnytimeLimits

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.5
    >>> h = np.where(rng.random(400) < 0.8, y, ~y)
    >>> r = anytime_ratio(2.0 * (h & y), 1.0 * h + y, success=(2, 2))
    >>> round(r.lower, 2), round(r.upper, 2)
    (0.75, 0.86)
    """
    level = check_confidence(confidence)
    top, bottom = check_scores(numerator, "numerator"), check_scores(denominator, "denominator")
    check_same_length(numerator=top, denominator=bottom)
    ends = check_kinds(top, bottom, success, failure)
    weight = check_weights(sample_weight)
    check_same_length(numerator=top, sample_weight=weight)
    w = np.ones(len(top)) if weight is None else weight
    most = 1.0
    if weight is not None:
        most = float(w.max())
    if weight is not None and heaviest is not None:
        most = check_number(heaviest, "heaviest", above=0.0)
        if float(w.max()) > most * (1 + 1e-9):
            row = int(np.argmax(w))
            raise WeightError(
                f"sample_weight row {row} is {w[row]:g} and heaviest is {most:g}; expected no "
                "weight above it. Pass one over the least chance that any item had"
            )
    span = (0.0, ends[0][0] / ends[0][1])
    steps = ratio_steps(top, bottom, w / most, np.array([*ends, (0.0, 0.0)]), 1.0)
    path = anytime_path(steps, value_grid(span), delta=1 - level)
    below = np.cumsum(w * bottom)
    seen = np.divide(np.cumsum(w * top), below, out=np.full(len(top), np.nan), where=below > 0)
    return path_result("ratio", seen, path, span, confidence=level)
