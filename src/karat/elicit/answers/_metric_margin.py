"""What a metric says of a question."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.elicit.transcript import Query
from karat.metrics import Metric, MetricBase

__all__ = ["ROUNDING", "metric_margin"]

# Values that differ by less are equal: which is greater would be chance of the last digit.
ROUNDING = 1e-14


def metric_margin(metric: MetricBase, query: Query) -> float:
    """Return the value of the first side less that of the second.

    Groups are pooled for a metric that knows none.
    """
    if isinstance(metric, Metric) and np.shape(query.first) == np.shape(query.second):
        # Each is checked alone: what sums to 1 only together are two groups, and no question.
        sides = [metric._checked(side)[0] for side in (query.first, query.second)]
        if len(sides[0]) == 1:
            first, second = metric._values(np.concatenate(sides))
            return float(first - second)
    return _value(metric, query.first) - _value(metric, query.second)


def _value(metric: MetricBase, confusion: FloatArray) -> float:
    value: Any = metric(confusion)
    if np.ndim(value):
        value = metric(np.asarray(confusion).sum(axis=0))
    return float(value)
