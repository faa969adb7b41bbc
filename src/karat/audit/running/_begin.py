"""A new run: the metric checked, the items in strata."""

from typing import Any

import numpy as np

from karat._validate import refuse_option
from karat.audit.design import make_calls, plan_audit
from karat.audit.inputs import Items, assumed
from karat.audit.running._run import Run
from karat.exceptions import AuditError, MetricError
from karat.metrics import Metric, MetricBase, as_metric
from karat.metrics.estimates import metric_range

__all__ = ["begin_run"]


def begin_run(
    items: Items, metric: MetricBase | str, pos_label: Any, seed: int, confidence: float
) -> Run:
    """Return a run in which nothing was asked for yet."""
    chosen = as_metric(metric)
    if not isinstance(chosen, Metric):
        raise MetricError(
            f"{chosen.title} compares groups; an audit is for metrics of one population. Pass "
            "such a metric with groups= for an estimate of each group"
        )
    fixed = chosen.for_classes(len(items.classes))
    if not np.isfinite(metric_range(fixed)).all():
        refuse_option(chosen.title, "metric", "a metric with a least and a greatest value")
    if pos_label is not None and fixed.n_classes not in (None, 2):
        refuse_option(pos_label, "pos_label", f"None: {chosen.title} has no positive class")
    calls = make_calls(items, fixed)
    if not calls.open.any():
        raise AuditError(
            "y_pred and against agree on every item, so there is nothing to label: the difference "
            "is 0"
        )
    strata = plan_audit(calls, assumed(items), informed=items.guess is not None)
    return Run(items, chosen, calls, strata, seed, confidence)
