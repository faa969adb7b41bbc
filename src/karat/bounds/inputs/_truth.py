"""The metric itself, where every true label is known."""

import warnings
from typing import Any

import numpy as np

from karat._typing import BoolArray, IntArray
from karat.bounds.inputs._predictions import Predictions
from karat.bounds.inputs._read import Inputs
from karat.exceptions import UndefinedMetricWarning
from karat.metrics import MetricBase

__all__ = ["true_value"]


def true_value(
    metric: MetricBase,
    inputs: Inputs,
    predicted: Predictions,
    gold: Any,
    rows: BoolArray | None = None,
    groups: IntArray | None = None,
) -> float | None:
    """Return the metric on the true labels, or None unless they are known for every item.

    ``gold`` is what `read_gold` returned, ``rows`` selects items, and ``groups`` are the groups of
    the items, for a metric that compares groups.
    """
    if gold is None or not gold[1].all():
        return None
    keep = np.ones(inputs.n, dtype=bool) if rows is None else rows
    labels = predicted.of(keep)
    weight = None if inputs.weight is None else inputs.weight[keep]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(
            metric.score(
                gold[0][keep],
                labels.codes if labels.proba is None else labels.proba,
                sample_weight=weight,
                groups=groups,
                classes=np.arange(len(inputs.classes)),
            )
        )
