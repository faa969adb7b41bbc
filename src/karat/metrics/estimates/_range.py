"""What values a metric can have at all."""

import numpy as np

from karat.metrics import (
    GroupMetric,
    LinearFractionalMetric,
    LinearMetric,
    MetricBase,
    PowerMeanMetric,
)
from karat.metrics.families import MCC

__all__ = ["metric_range"]


def metric_range(metric: MetricBase) -> tuple[float, float]:
    """Return the least and the greatest value of the metric that its form implies."""
    if isinstance(metric, LinearMetric):
        return float(metric.weights.min()), float(metric.weights.max())
    if isinstance(metric, GroupMetric):
        return -_greatest_cost(metric), 0.0
    if isinstance(metric, MCC):
        return -1.0, 1.0
    if isinstance(metric, PowerMeanMetric):
        return (-1.0, 0.0) if metric.decreasing else (0.0, 1.0)
    if isinstance(metric, LinearFractionalMetric):
        top, bottom = metric.numerator, metric.denominator + metric.constant
        return (0.0, 1.0) if (top >= 0).all() and (top <= bottom).all() else (-np.inf, np.inf)
    inner = getattr(metric, "metric", None)
    return (0.0, 1.0) if inner is None else metric_range(inner.for_classes(2))


def _greatest_cost(metric: GroupMetric) -> float:
    """Return a cost that no confusions of the groups exceed: gaps are at most 1."""
    cost = metric.cost.reshape(metric.n_classes, -1).max(axis=1).sum()  # rates of a class sum to 1
    half = 1.0 if metric.form == "gaps" else 0.5
    unfair = half * np.abs(metric.violation).sum()
    return float((1 - metric.tradeoff) * cost + metric.tradeoff * unfair)
