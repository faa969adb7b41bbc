"""What a metric says of a question."""

from typing import Any, cast

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
    if isinstance(metric, Metric) and np.ndim(query.first) == 2:
        first, second = cast("FloatArray", metric(np.stack([query.first, query.second])))
        return float(first - second)
    return _value(metric, query.first) - _value(metric, query.second)


def _value(metric: MetricBase, confusion: FloatArray) -> float:
    value: Any = metric(confusion)
    if np.ndim(value):
        value = metric(np.asarray(confusion).sum(axis=0))
    return float(value)
