"""The metric itself, where the truth is known after all."""

import warnings
from typing import Any

import numpy as np

from karat._typing import BoolArray, IntArray
from karat.bounds._build import Predictions
from karat.bounds._inputs import Inputs
from karat.exceptions import UndefinedMetricWarning
from karat.metrics import MetricBase

__all__ = ["truth_of"]


def truth_of(
    metric: MetricBase,
    inputs: Inputs,
    predicted: Predictions,
    gold: Any,
    rows: BoolArray | None = None,
    groups: IntArray | None = None,
) -> float | None:
    """Return the metric itself, if the truth is known for every item.

    ``groups`` are for a metric that compares them.
    """
    if gold is None or not gold[1].all():
        return None
    keep = np.ones(inputs.n, dtype=bool) if rows is None else rows
    shown = predicted.of(keep)
    weight = None if inputs.weight is None else inputs.weight[keep]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(
            metric.score(
                gold[0][keep],
                shown.codes if shown.proba is None else shown.proba,
                sample_weight=weight,
                groups=groups,
                classes=np.arange(len(inputs.classes)),
            )
        )
