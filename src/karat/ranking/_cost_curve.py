"""Expected cost of the best threshold: cost curves."""

from typing import Any

from karat._frames import keeps_kind
from karat._typing import Column
from karat._validate import check_number, refuse_option
from karat.ranking.measure_result import RankingMeasure
from karat.ranking.measure_results import measured_ranking
from karat.ranking.measures import ExpectedCost

__all__ = ["cost_curve"]


@keeps_kind
def cost_curve(
    y_true: Column,
    y_score: Column,
    *,
    at: float = 0.5,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    r"""Measure the expected cost of the best threshold, with limits.

    .. math:: C(c) = \min_t\; c\,\mathrm{FNR}(t) + (1-c)\,\mathrm{FPR}(t),\qquad
              c = \frac{\pi\,C_{\mathrm{FN}}}{\pi\,C_{\mathrm{FN}} + (1-\pi)\,C_{\mathrm{FP}}}

    (Drummond & Holte 2006) is normalised: 0 for a perfect ranking, 1 where all is wrong, and
    ``min(c, 1 − c)`` without scores. c weighs misses against false alarms: π is the share of
    positives *where the scores will be used*, :math:`C_{\mathrm{FN}}` the cost of a miss and
    :math:`C_{\mathrm{FP}}` that of a false alarm. The rows need not have that share.

    Parameters
    ----------
    y_true : column (n,)
        Labels of two classes.
    y_score : column (n,)
        Scores, on any scale; a higher one speaks for the positive class. Of two columns, one per
        class, that of the positive class is taken.
    at : float, default 0.5
        The weight c of misses, above 0 and below 1.
    confidence : float, default 0.95
        Probability that the limits hold. The value is that of the threshold which is best on these
        rows, so it is low on average. The lower limit allows for that by itself; the upper limit is
        of the errors that rows have when each is left out of the choice of its threshold.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = cost_curve(y, rng.normal(size=2000) + 2 * y, at=0.5)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.174, 0.149, 0.22)
    """
    weight = check_number(at, "at", above=0.0, at_most=1.0)
    if weight >= 1:
        refuse_option(at, "at", "a number above 0 and below 1")
    return measured_ranking(
        ExpectedCost(weight), y_true, y_score, confidence=confidence, pos_label=pos_label,
        sample_weight=sample_weight, weighting=weighting, groups=groups, classes=classes,
    )  # fmt: skip
