"""Limits of the difference of two classifiers, from the true labels of some items."""

import numpy as np

from karat._typing import FloatArray
from karat.bounds.gold._gold_items import crossed, gold_items, limits_from_counts, one_hot
from karat.bounds.gold._gold_sample import GoldSample
from karat.bounds.inputs import Inputs, Predictions
from karat.limits import PoweredLimits
from karat.limits.kernels import powered_limits
from karat.metrics import LinearMetric, MetricBase

__all__ = ["difference_limits"]


def difference_limits(
    metric: MetricBase,
    inputs: Inputs,
    predicted: tuple[Predictions, Predictions],
    sample: GoldSample,
    *,
    span: tuple[float, float],
    confidence: float,
    rng: np.random.Generator,
) -> PoweredLimits | None:
    """Return limits of the metric of the first classifier minus that of the second."""
    items = gold_items(inputs, sample, None, f"difference in {metric.title}", confidence)
    k = len(inputs.classes)
    fixed = metric.for_classes(k)
    reach = span[1] - span[0]
    if isinstance(fixed, LinearMetric):
        a, b = (one_hot(one, k) for one in predicted)
        calls = (a - b + 1) / 2  # from 0 to 1, and ½ where both say the same
        gain = (fixed.weights - span[0]) / reach
        centre = gain.sum(axis=1, keepdims=True) / 2
        f = np.sum(gain[sample.labels] * calls[sample.rows], axis=1) - centre[sample.labels, 0]

        def controls(p: FloatArray, calls: FloatArray) -> FloatArray:
            return np.asarray(np.sum((p @ gain) * calls, axis=1, keepdims=True) - p @ centre)

        far, shift = crossed(items, controls, calls[sample.rows], calls, inputs.votes.ids)
        found = powered_limits(
            f + 0.5, far, shift, items.n_total, delta=items.request.delta, finite=False,
            weight=items.label_weight, cluster=items.cluster,
        )  # fmt: skip
        return items.wrapped(found, (-reach, reach))
    axes = [sample.labels, *(np.asarray(one.codes)[sample.rows] for one in predicted)]

    def statistic(tables: FloatArray) -> FloatArray:
        cube = tables.reshape(-1, k, k, k)
        return np.asarray(np.asarray(fixed(cube.sum(axis=3))) - fixed(cube.sum(axis=2)))

    return limits_from_counts(items, axes, [k, k, k], statistic, (-reach, reach), rng)
