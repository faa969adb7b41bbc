"""A linear metric from class weights."""

import numpy as np

from karat._typing import Column
from karat._validate import check_finite_matrix
from karat.exceptions import MetricError
from karat.metrics._linear_metric import LinearMetric

__all__ = ["weighted_accuracy"]


def weighted_accuracy(weights: Column) -> LinearMetric:
    """Reward for right predictions, one weight per class: ``Σ_i weights[i]·C[i, i]``.

    Hiranandani (2021), eq. 3.6 and Definition 4.1.

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
