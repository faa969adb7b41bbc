"""How sure a metric of labelled items is: limits from counts, by group and by cluster.

`as_proportion` tells whether a metric is a function of one proportion, whose limits are exact;
`metric_range` what values a metric can have at all; `estimate_metric` counts and limits: it is
what ``Metric.estimate`` calls.
"""

from karat.metrics.estimates._counts import Counted, count_items
from karat.metrics.estimates._estimate import estimate_metric, mover_gap
from karat.metrics.estimates._limits import cluster_limits, count_limits, table_values
from karat.metrics.estimates._proportion import Proportion, as_proportion
from karat.metrics.estimates._range import metric_range

__all__ = [
    "Counted",
    "Proportion",
    "as_proportion",
    "cluster_limits",
    "count_items",
    "count_limits",
    "estimate_metric",
    "metric_range",
    "mover_gap",
    "table_values",
]
