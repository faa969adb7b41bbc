"""What every metric can do, whatever its formula.

`MetricBase` holds what metrics of one population (`Metric`) and metrics that compare groups
(`GroupMetric`) have in common: a title, a form that solvers rely on, JSON, the order of classes.
`Metric` adds values, gradients, scores, a scikit-learn scorer and a test of equivalence;
`GroupMetric` adds the rates of each group and the gaps between them. `warn_undefined` is the one
warning for a ratio whose denominator is 0.
"""

from karat.metrics.base._group_metric import GroupMetric
from karat.metrics.base._metric import Metric
from karat.metrics.base._metric_base import SCHEMA, SCHEMA_VERSION, Form, MetricBase
from karat.metrics.base._undefined import warn_undefined

__all__ = [
    "SCHEMA",
    "SCHEMA_VERSION",
    "Form",
    "GroupMetric",
    "Metric",
    "MetricBase",
    "warn_undefined",
]
