"""Limits of a metric from the true labels of some items, with the label model as a control."""

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.bounds.gold._gold_items import (
    GoldItems,
    crossed,
    gold_items,
    limits_from_counts,
    one_hot,
)
from karat.bounds.gold._gold_sample import GoldSample
from karat.bounds.inputs import Inputs, Predictions
from karat.limits import PoweredLimits
from karat.limits.kernels import powered_limits, powered_ratio
from karat.metrics import GroupMetric, LinearFractionalMetric, LinearMetric, MetricBase
from karat.metrics.estimates import Proportion, as_proportion

__all__ = ["metric_limits"]

_GROUP_DRAWS = 500  # a metric of groups is evaluated one draw at a time


def metric_limits(
    metric: MetricBase,
    inputs: Inputs,
    predicted: Predictions,
    sample: GoldSample,
    q: FloatArray,
    *,
    span: tuple[float, float],
    confidence: float,
    rng: np.random.Generator,
    rows: BoolArray | None = None,
    groups: IntArray | None = None,
) -> PoweredLimits | None:
    """Return limits of the metric of the items in ``rows``; None where no label is among them.

    ``q`` is P(Ŷ | pattern), and ``groups`` the group of each item, for a metric that compares them.
    """
    items = gold_items(inputs, sample, rows, metric.title, confidence)
    if not len(items.sample):
        return None
    k = len(inputs.classes)
    fixed = metric.for_classes(k)
    calls = one_hot(predicted, k)
    at_labels, at_all = calls[items.sample.rows], calls if rows is None else calls[rows]
    if isinstance(fixed, LinearMetric):
        gain = (fixed.weights - span[0]) / (span[1] - span[0])
        return _linear(items, gain, at_labels, at_all, inputs.votes.ids, span)
    if isinstance(fixed, LinearFractionalMetric) and predicted.proba is None and k == 2:
        own = as_proportion(fixed)
        if own is not None:
            return _ratio(items, fixed, own, at_labels, at_all, q, inputs.votes.ids)
    if predicted.proba is not None:
        return None
    return _alone(items, fixed, predicted, groups, span, rng)


def _linear(
    items: GoldItems,
    gain: FloatArray,
    at_labels: FloatArray,
    at_all: FloatArray,
    patterns: IntArray,
    span: tuple[float, float],
) -> PoweredLimits:
    """Return limits of E gain[Y, Ŷ]; the control is its mean under the label model."""
    f = np.sum(gain[items.sample.labels] * at_labels, axis=1)

    def controls(p: FloatArray, calls: FloatArray) -> FloatArray:
        return np.asarray(np.sum((p @ gain) * calls, axis=1, keepdims=True))

    far, shift = crossed(items, controls, at_labels, at_all, patterns)
    found = powered_limits(
        f, far, shift, items.n_total, delta=items.request.delta, finite=False,
        weight=items.label_weight, cluster=items.cluster,
    )  # fmt: skip
    return items.wrapped(found, span)


def _ratio(
    items: GoldItems,
    metric: LinearFractionalMetric,
    own: Proportion,
    at_labels: FloatArray,
    at_all: FloatArray,
    q: FloatArray,
    patterns: IntArray,
) -> PoweredLimits:
    """Return limits of a ratio of two classes.

    The controls are the call h, P(Y=1 | z), their product, and the least and greatest chance that
    a call is right, (p+q−1)₊/q and min(1, p/q), times h.
    """
    y, called = items.sample.labels, at_labels.argmax(axis=1)
    top, bottom = metric.numerator[y, called], metric.denominator[y, called]

    def controls(p: FloatArray, calls: FloatArray) -> FloatArray:
        h, one = calls[:, 1], p[:, 1]
        share = np.maximum(calls[:, 2], 1e-9)
        least = np.maximum(one + share - 1, 0) / share
        return np.stack([h * one, one, h, h * np.minimum(1, one / share), h * least], axis=1)

    with_q = [
        np.column_stack([calls, q[ids, 1]])
        for calls, ids in ((at_labels, patterns[items.sample.rows]), (at_all, items.ids))
    ]
    far, shift = crossed(items, controls, with_q[0], with_q[1], patterns)
    found = powered_ratio(
        top, bottom, far, shift, items.n_total, success=own.added, failure=(0.0, own.missed),
        delta=items.request.delta, finite=False, weight=items.label_weight, cluster=items.cluster,
    )  # fmt: skip
    return items.wrapped(found)


def _alone(
    items: GoldItems,
    metric: MetricBase,
    predicted: Predictions,
    groups: IntArray | None,
    span: tuple[float, float],
    rng: np.random.Generator,
) -> PoweredLimits | None:
    """Return limits of any other metric, from the labels alone."""
    y, called = items.sample.labels, np.asarray(predicted.codes)[items.sample.rows]
    k = int(items.sample.p.shape[-1])
    if isinstance(metric, GroupMetric):
        shape, whole = [metric.n_groups, k, k], metric
        axes = [np.asarray(groups)[items.sample.rows], y, called]
        return limits_from_counts(
            items, axes, shape,
            lambda tables: np.array([whole(table.reshape(shape)) for table in tables]),
            span, rng, draws=_GROUP_DRAWS, truth=1,
        )  # fmt: skip
    return limits_from_counts(
        items, [y, called], [k, k],
        lambda tables: np.asarray(metric(tables.reshape(-1, k, k))), span, rng,
    )  # fmt: skip
