"""The weighted harmonic mean of precision and recall."""

from karat._validate import check_number
from karat.metrics._linear_fractional_metric import LinearFractionalMetric

__all__ = ["f_beta"]


def f_beta(beta: float) -> LinearFractionalMetric:
    """Weighted harmonic mean of precision and recall.

    ``F_β = (1+β²)·TP / ((1+β²)·TP + β²·FN + FP)`` (Hiranandani 2021, eq. 3.8): recall counts β
    times as much as precision.

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
