"""Net benefit of acting on scores: decision curves."""

from typing import Any

from karat._frames import keeps_kind
from karat._typing import Column
from karat._validate import check_number, refuse_option
from karat.ranking.measure_result import RankingMeasure
from karat.ranking.measure_results import measured_ranking
from karat.ranking.measures import NetBenefit

__all__ = ["net_benefit"]


@keeps_kind
def net_benefit(
    y_true: Column,
    y_score: Column,
    *,
    threshold: float,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    r"""Measure the net benefit of acting on probabilities of at least a threshold, with limits.

    .. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}}{n} - \frac{t}{1-t}\,\frac{\mathrm{FP}}{n}

    (Vickers & Elkin 2006). The threshold is the probability from which on acting is worth while:
    its odds are what a false positive costs in units of what a true positive gains. Acting on
    nobody has 0; ``.over_all`` is the advantage over acting on everybody, with limits. The picture
    is the decision curve, whose limits hold at each threshold by itself.

    Parameters
    ----------
    y_true : column (n,)
        Labels of two classes.
    y_score : column (n,)
        Probabilities of the positive class; they should be calibrated, since the threshold is a
        probability. Of two columns, one per class, that of the positive class is taken.
    threshold : float
        Above 0 and below 1.
    confidence : float, default 0.95
        Probability that the limits hold. They are approximate: the rows that are acted on are a
        binomial number, and so are the positives among them; the surprises of both are added.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 2, size=2000)
    >>> r = net_benefit(rng.random(2000) < p, p, threshold=0.2)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.049, 0.037, 0.063)
    """
    at = check_number(threshold, "threshold", above=0.0, at_most=1.0)
    if at >= 1:
        refuse_option(threshold, "threshold", "a number above 0 and below 1")
    return measured_ranking(
        NetBenefit(at), y_true, y_score, confidence=confidence, pos_label=pos_label,
        sample_weight=sample_weight, weighting=weighting, groups=groups, classes=classes,
    )  # fmt: skip
