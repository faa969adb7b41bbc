"""Values and gradients of a metric on stacks of confusions, and the entries it depends on."""

import numpy as np

from karat._typing import FloatArray
from karat.metrics import GroupMetric, MetricBase

__all__ = ["gradients_at", "is_diagonal", "values_at"]


def values_at(metric: MetricBase, stack: FloatArray, rounded: float = 0.0) -> FloatArray:
    """Return the values of confusions (b, k, k), or (b, groups·k, k) for a metric of groups.

    ``rounded`` is the width to which corners of absolute differences are rounded.
    """
    if isinstance(metric, GroupMetric):
        return metric._values(_apart(stack), rounded)
    return metric._values(stack)


def gradients_at(metric: MetricBase, stack: FloatArray, rounded: float = 0.0) -> FloatArray:
    """Return the gradients, in the shape of the stack; not finite where there is none."""
    if isinstance(metric, GroupMetric):
        return metric._gradients(_apart(stack), rounded).reshape(stack.shape)
    return metric._gradients(stack)


def is_diagonal(metric: MetricBase, k: int) -> bool:
    """Whether, with given class priors, only the diagonal of the confusion matters.

    Then the gradient is the same in all off-diagonal entries of a row, which is checked at some
    confusions of different priors.
    """
    if metric.n_groups is not None:
        return False  # it may weigh every kind of error
    rng = np.random.default_rng(0)
    confusions = rng.dirichlet(np.ones(k * k), size=5).reshape(5, k, k)
    slopes = metric._gradients(confusions)
    off = ~np.eye(k, dtype=bool)
    rows = slopes[:, off].reshape(5, k, k - 1)
    scale = np.abs(slopes).max()
    return bool(np.ptp(rows, axis=2).max() <= 1e-9 * max(scale, 1e-300))


def _apart(stack: FloatArray) -> FloatArray:
    k = stack.shape[2]
    return stack.reshape(len(stack), -1, k, k)
