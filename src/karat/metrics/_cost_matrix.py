"""A linear metric from costs."""

from karat._typing import Frame
from karat.metrics._linear_metric import LinearMetric
from karat.metrics.coefficients import square_matrix

__all__ = ["cost_matrix"]


def cost_matrix(costs: Frame) -> LinearMetric:
    """Minus the expected cost.

    Parameters
    ----------
    costs : array (k, k)
        ``costs[i, j]`` is what predicting j costs when the truth is i.

    Examples
    --------
    >>> cost_matrix([[0, 1], [5, 0]])([[0.5, 0.2], [0.1, 0.2]])
    -0.7
    """
    return LinearMetric(0.0 - square_matrix(costs, "costs"), name="minus the expected cost")
