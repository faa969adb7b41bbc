"""Precision of the highest-ranked rows."""

from typing import Any

from karat._frames import keeps_kind
from karat._typing import Column
from karat.ranking.measure_result import RankingMeasure
from karat.ranking.measure_results import check_cut, measured_ranking

__all__ = ["precision_at"]


@keeps_kind
def precision_at(
    y_true: Column,
    y_score: Column,
    *,
    k: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
) -> RankingMeasure:
    """Measure the share of positives among the highest-ranked rows, with limits.

    Exactly one of ``k``, ``share`` and ``threshold`` says where to cut. The k highest of n rows
    stand for the highest ``k/n`` of the population: that is what the limits speak of, not the next
    k rows, nor a cut at the score that the k-th row happens to have. Rows that are level at the cut
    count in proportion, as if put in a random order; ``.note`` says what their order could change.

    Limits at a threshold are Clopper and Pearson's, exact given the number of rows above it. Those
    at a share are approximate: how many rows are above the population's cut is binomial, and so are
    the positives among them; all numbers that are likely are tried, and the surprises of both
    counts are added. They cover at least as often as they say in simulations from 10 positives on.

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
    threshold : float, optional
        The least score that is taken.
    confidence : float, default 0.95
        Probability that the limits hold.
    pos_label, sample_weight, weighting, groups, classes
        As in `average_precision`; each group is ranked by itself.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = precision_at(y, rng.normal(size=2000) + 2 * y, k=100)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3)
    (0.78, 0.678, 0.868)
    """
    measure = check_cut("precision", k=k, share=share, threshold=threshold)
    return measured_ranking(
        measure, y_true, y_score, confidence=confidence, pos_label=pos_label,
        sample_weight=sample_weight, weighting=weighting, groups=groups, classes=classes,
    )  # fmt: skip
