"""A metric from its name."""

import re
from typing import Any

from karat._validate import refuse_option
from karat.metrics._accuracy import accuracy
from karat.metrics._balanced_accuracy import balanced_accuracy
from karat.metrics._f_beta import f_beta
from karat.metrics._g_mean import g_mean
from karat.metrics._jaccard import jaccard
from karat.metrics._macro import macro
from karat.metrics._mcc import mcc
from karat.metrics._micro import micro
from karat.metrics._precision import precision
from karat.metrics._recall import recall
from karat.metrics.base import Metric, MetricBase

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


def as_metric(metric: Any) -> MetricBase:
    """Return a metric object for a metric or its name.

    Parameters
    ----------
    metric : Metric, GroupMetric or str
        A metric, which comes back as it is, or a name: those of `karat.metrics`, ``f1``, ``f2``,
        ``f0.5`` and so on, and these with ``macro_`` or ``micro_`` in front.

    Examples
    --------
    >>> as_metric("macro_f1").title
    'macro F1'
    """
    if isinstance(metric, MetricBase):
        return metric
    named = _of_name(metric) if isinstance(metric, str) else None
    if named is None:
        refuse_option(
            metric,
            "metric",
            f"a metric of karat.metrics or one of the names {[*_NAMED, 'f1', 'f0.5']}, with "
            "macro_ or micro_ in front for more than two classes",
        )
    return named


def _of_name(name: str) -> Metric | None:
    for prefix, average in (("macro_", macro), ("micro_", micro)):
        if name.startswith(prefix):
            inner = _of_name(name.removeprefix(prefix))
            return None if inner is None else average(inner)
    if beta := re.fullmatch(r"f(\d+(?:\.\d+)?)", name):
        return f_beta(float(beta[1]))
    return _NAMED.get(name)
