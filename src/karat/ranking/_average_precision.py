"""Average precision of a ranking."""

from typing import Any

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat.ranking.measure_result import RankingMeasure
from karat.ranking.measure_results import measured_ranking
from karat.ranking.measures import AveragePrecision

__all__ = ["average_precision"]


@keeps_kind
def average_precision(
    y_true: Column | Frame,
    y_score: Column | Frame,
    *,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    groups: Column | None = None,
    classes: Column | None = None,
    average: str = "macro",
) -> RankingMeasure:
    r"""Measure average precision, the area under the precision–recall curve, with limits.

    .. math:: \mathrm{AP} = \frac1{n_1}\sum_{i: y_i = 1}
              \frac{\#\{j: y_j = 1, s_j \ge s_i\}}{\#\{j: s_j \ge s_i\}}

    is the mean over positives of the precision at their score, as scikit-learn's
    ``average_precision_score``; ties are taken together. It depends on the share of positives: a
    ranking by chance has that share, and rows of another population have another value.

    Parameters
    ----------
    y_true : column (n,) or frame (n, labels)
        Labels of two classes; of more with one column of scores each; or one column of 0 and 1 for
        each of several labels that a row may have together.
    y_score : column (n,) or frame (n, classes or labels)
        Scores; a higher one speaks for the positive class.
    confidence : float, default 0.95
        Probability that the limits hold. They are approximate: on the scale of log-odds, with
        Student's t, and with one more positive, half right and half wrong. The lower limit leaves
        every positive out of its own precision. Simulations support them from 10 positives on.
    pos_label : label, optional
        The positive class; by default the larger label.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means, as in `weighted_auc`.
    groups : column (n,), optional
        The measure within each group is in ``.groups``, with limits that hold together.
    classes : column, optional
        The order of the columns of ``y_score``; with one column, the negative and the positive
        class.
    average : {"macro", "micro"}
        With several classes or labels: the mean of their values, with limits that hold for all of
        them together; or the value of all entries pooled, with limits that take the entries of one
        row together.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.1
    >>> r = average_precision(y, rng.normal(size=2000) + 2 * y)
    >>> round(r.value, 3), round(r.lower, 3), round(r.upper, 3), round(r.chance, 3)
    (0.643, 0.572, 0.704, 0.105)
    """
    return measured_ranking(
        AveragePrecision(), y_true, y_score, confidence=confidence, pos_label=pos_label,
        sample_weight=sample_weight, weighting=weighting, groups=groups, classes=classes,
        average=average,
    )  # fmt: skip
