"""Values and gradients of a metric on the confusions that a search sums up."""

from karat._typing import FloatArray
from karat.metrics import GroupMetric, MetricBase

__all__ = ["gradients_at", "values_at"]


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


def _apart(stack: FloatArray) -> FloatArray:
    k = stack.shape[2]
    return stack.reshape(len(stack), -1, k, k)
