"""A metric from its name."""

import re
from typing import Any

from karat.exceptions import MetricError
from karat.metrics._accuracy import accuracy
from karat.metrics._averages import macro, micro
from karat.metrics._balanced_accuracy import balanced_accuracy
from karat.metrics._base import Metric
from karat.metrics._binary_ratios import f_beta, jaccard, precision, recall
from karat.metrics._g_mean import g_mean
from karat.metrics._mcc import mcc

__all__ = ["as_metric"]

_NAMED: dict[str, Metric] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "g_mean": g_mean,
    "jaccard": jaccard,
    "mcc": mcc,
    "precision": precision,
    "recall": recall,
}


def as_metric(metric: Any) -> Metric:
    """Return a metric object for a metric or its name.

    Names are those of `karat.metrics`, ``f1``, ``f2``, ``f0.5`` and so on, and these with
    ``macro_`` or ``micro_`` in front.

    >>> as_metric("macro_f1").title
    'macro F1'
    """
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        for prefix, average in (("macro_", macro), ("micro_", micro)):
            if metric.startswith(prefix):
                return average(as_metric(metric.removeprefix(prefix)))
        if metric in _NAMED:
            return _NAMED[metric]
        if beta := re.fullmatch(r"f(\d+(?:\.\d+)?)", metric):
            return f_beta(float(beta[1]))
    raise MetricError(
        f"metric is {metric!r}; expected a metric of karat.metrics or one of the names "
        f"{[*_NAMED, 'f1', 'f0.5']}, with macro_ or micro_ in front for more than two classes"
    )
