"""Ratios of the four counts of a binary problem; class 1, the last, is the positive one."""

from karat._validate import check_number
from karat.metrics._linear_fractional import LinearFractionalMetric

__all__ = ["f_beta", "jaccard", "precision", "recall"]

# [[TN, FP],
#  [FN, TP]]
_TP = [[0, 0], [0, 1]]

precision = LinearFractionalMetric(_TP, [[0, 1], [0, 1]], name="precision")
"""Share of the predicted positives that are positive: TP / (TP + FP)."""

recall = LinearFractionalMetric(_TP, [[0, 0], [1, 1]], name="recall")
"""Share of the positives that are found: TP / (TP + FN)."""

jaccard = LinearFractionalMetric(_TP, [[0, 1], [1, 1]], name="jaccard")
"""Positives found, among all that are or are called positive: TP / (TP + FP + FN)."""


def f_beta(beta: float) -> LinearFractionalMetric:
    """Weighted harmonic mean of precision and recall.

    ``F_β = (1+β²)·TP / ((1+β²)·TP + β²·FN + FP)`` (seed 001, eq. 3.8): recall counts β times as
    much as precision.

    Parameters
    ----------
    beta : float
        At least 0; 1 gives F1.

    Examples
    --------
    >>> round(f_beta(1)([[0.5, 0.2], [0.1, 0.2]]), 4)
    0.5714
    """
    squared = check_number(beta, "beta", at_least=0.0, at_most=1e6) ** 2
    return LinearFractionalMetric(
        [[0, 0], [0, 1 + squared]], [[0, 1], [squared, 1 + squared]], name=f"F{beta:g}"
    )
