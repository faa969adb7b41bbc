"""Linear metrics from costs and from class weights."""

import numpy as np

from karat._typing import Column, Frame
from karat._validate import check_finite_matrix
from karat.exceptions import MetricError
from karat.metrics._linear import LinearMetric, square_matrix

__all__ = ["cost_matrix", "weighted_accuracy"]


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


def weighted_accuracy(weights: Column) -> LinearMetric:
    """Reward for right predictions, one weight per class: ``Σ_i weights[i]·C[i, i]``.

    Seed 001, eq. 3.6 and Definition 4.1.

    Parameters
    ----------
    weights : array (k,)
        Reward for a right prediction of each class.

    Examples
    --------
    >>> weighted_accuracy([1, 5])([[0.5, 0.2], [0.1, 0.2]])
    1.5
    """
    rewards = check_finite_matrix(weights, "weights")
    if rewards.ndim != 1 or len(rewards) < 2:
        raise MetricError(f"weights has shape {rewards.shape}; expected one weight per class")
    return LinearMetric(np.diag(rewards), name="weighted accuracy")
