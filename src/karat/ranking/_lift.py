"""Lift of the highest-ranked rows."""

from typing import Any

from karat._frames import keeps_kind
from karat._typing import Column
from karat.ranking.measure_result import RankingMeasure
from karat.ranking.measure_results import check_cut, measured_ranking

__all__ = ["lift"]


@keeps_kind
def lift(
    y_true: Column,
    y_score: Column,
    *,
    k: int | None = None,
    share: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    """Measure how many times more positives are among the highest-ranked rows than by chance.

    It is the precision of the rows taken over the share of positives, and so the recall over the
    share that is taken; at most ``1/share``. Exactly one of ``k`` and ``share`` says where to cut;
    the k highest of n rows stand for the highest ``k/n`` of the population. The limits are those of
    `recall_at`, divided by the share. The cumulative gain is `recall_at` itself.

    Parameters
    ----------
    y_true : column (n,)
        Labels of two classes.
    y_score : column (n,)
        Scores; a higher one speaks for the positive class. Of two columns, one per class, that of
        the positive class is taken.
    k : int, optional
        How many rows are taken, the highest first.
    share : float, optional
        The share of all rows that is taken, above 0 and at most 1.
    confidence : float, default 0.95
        Probability that the limits hold.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`; each group is ranked by itself.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = lift(y, rng.normal(size=2000) + 2 * y, share=0.1)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (5.762, 5.124, 6.346)
    """
    measure = check_cut("lift", k=k, share=share)
    return measured_ranking(
        measure, y_true, y_score, confidence=confidence, pos_label=pos_label,
        sample_weight=sample_weight, weighting=weighting, groups=groups, classes=classes,
    )  # fmt: skip
