"""True labels of a few items in the estimate: limits that do not rest on the label model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from karat._typing import BoolArray, Column, FloatArray, IntArray
from karat.bounds.inputs import Inputs, Predictions, refitted
from karat.exceptions import UndefinedMetricWarning
from karat.limits.means import cluster_number, effective_number
from karat.limits.options import LimitRequest
from karat.limits.prediction_powered import (
    PredictionPowered,
    limits_of_mean,
    limits_of_ratio,
    result_of,
)
from karat.limits.pseudo import pseudo_count_limits
from karat.limits.resampling import enough_draws
from karat.limits.result import PredictionPoweredLimits
from karat.metrics import GroupMetric, LinearFractionalMetric, LinearMetric
from karat.metrics.base import MetricBase
from karat.metrics.estimates import Proportion, as_proportion, table_ends, table_limits, table_value
from karat.weak.checks import GoldRows
from karat.weak.label_model import has_seen_gold

# `read_sample` finds P(Y | Z) of label models that have each not seen one fold of the labels.
# `metric_limits` and `difference_limits` make limits of them: prediction-powered where the metric
# is linear or a ratio of successes (`karat.limits.prediction_powered_mean`), from the labels alone
# elsewhere.


def difference_limits(
    metric: MetricBase,
    inputs: Inputs,
    predicted: tuple[Predictions, Predictions],
    sample: GoldSample,
    *,
    confidence: float,
    rng: np.random.Generator,
) -> PredictionPoweredLimits | None:
    """Return limits of the metric of the first classifier minus that of the second."""
    items = gold_items(inputs, sample, None, f"difference in {metric.title}", confidence)
    k = len(inputs.classes)
    fixed = metric.for_classes(k)
    span = fixed.value_range
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
        found = limits_of_mean(
            f + 0.5,
            far,
            shift,
            items.n_total,
            delta=items.request.delta,
            finite=False,
            weight=items.label_weight,
            cluster=items.cluster,
        )
        return items.wrapped(found, (-reach, reach))
    return _from_counts(items, fixed, predicted, reach, rng)


def _from_counts(
    items: GoldItems,
    metric: MetricBase,
    predicted: Sequence[Predictions],
    reach: float,
    rng: np.random.Generator,
) -> PredictionPoweredLimits | None:
    """Return limits from counts of the truth and both predictions; None of too many cells."""
    sample, k = items.sample, int(items.sample.p.shape[-1])
    if k**3 > MOST_CELLS or not np.isfinite(reach):
        return None
    axes = (sample.labels, *(np.asarray(one.codes)[sample.rows] for one in predicted))
    cell = np.ravel_multi_index(axes, (k, k, k))
    counts = np.bincount(cell, items.label_weight, k**3).astype(np.float64)
    counts *= items.number / counts.sum()
    delta = items.request.delta

    def tables(shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        cube = shares.reshape(-1, k, k, k)
        return cube.sum(axis=3), cube.sum(axis=2)

    def ends(shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        first, second = (table_ends(metric, table) for table in tables(shares))
        return first[0] - second[1], first[1] - second[0]

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        one, other = (table_value(metric, t[0]) for t in tables(counts[None] / counts.sum()))
        low, high = pseudo_count_limits(
            ends,
            counts,
            (-reach, reach),
            delta=delta,
            rng=rng,
            draws=enough_draws(delta, least=1500, width=k**3),
            strata=np.indices((k, k, k))[0].ravel(),
        )
    return items.counted(one - other, low, high)


def metric_limits(
    metric: MetricBase,
    inputs: Inputs,
    predicted: Predictions,
    sample: GoldSample,
    q: FloatArray,
    *,
    confidence: float,
    rng: np.random.Generator,
    rows: BoolArray | None = None,
    groups: IntArray | None = None,
) -> PredictionPoweredLimits | None:
    """Return limits of the metric of the items in ``rows``; None where no label is among them.

    ``q`` is P(Ŷ | pattern), and ``groups`` the group of each item, for a metric that compares them.
    """
    items = gold_items(inputs, sample, rows, metric.title, confidence)
    if not len(items.sample):
        return None
    k = len(inputs.classes)
    fixed = metric.for_classes(k)
    span = fixed.value_range
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
) -> PredictionPoweredLimits:
    """Return limits of E gain[Y, Ŷ]; the control is its mean under the label model."""
    f = np.sum(gain[items.sample.labels] * at_labels, axis=1)

    def controls(p: FloatArray, calls: FloatArray) -> FloatArray:
        return np.asarray(np.sum((p @ gain) * calls, axis=1, keepdims=True))

    far, shift = crossed(items, controls, at_labels, at_all, patterns)
    found = limits_of_mean(
        f,
        far,
        shift,
        items.n_total,
        delta=items.request.delta,
        finite=False,
        weight=items.label_weight,
        cluster=items.cluster,
    )
    return items.wrapped(found, span)


def _ratio(
    items: GoldItems,
    metric: LinearFractionalMetric,
    own: Proportion,
    at_labels: FloatArray,
    at_all: FloatArray,
    q: FloatArray,
    patterns: IntArray,
) -> PredictionPoweredLimits:
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
    found = limits_of_ratio(
        top,
        bottom,
        far,
        shift,
        items.n_total,
        success=own.added,
        failure=(0.0, own.missed),
        delta=items.request.delta,
        finite=False,
        weight=items.label_weight,
        cluster=items.cluster,
    )
    return items.wrapped(found)


def _alone(
    items: GoldItems,
    metric: MetricBase,
    predicted: Predictions,
    groups: IntArray | None,
    span: tuple[float, float],
    rng: np.random.Generator,
) -> PredictionPoweredLimits | None:
    """Return limits of any other metric, from the labels alone."""
    y, called = items.sample.labels, np.asarray(predicted.codes)[items.sample.rows]
    k = int(items.sample.p.shape[-1])
    axes: tuple[IntArray, ...] = (y, called)
    shape: tuple[int, ...] = (k, k)
    if isinstance(metric, GroupMetric):
        axes, shape = (np.asarray(groups)[items.sample.rows], *axes), (metric.n_groups, *shape)
    if int(np.prod(shape)) > MOST_CELLS or not np.isfinite(span).all():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = table_limits(
            metric,
            np.ravel_multi_index(axes, shape),
            items.label_weight,
            items.cluster,
            shape,
            delta=items.request.delta,
            rng=rng,
        )
    return items.counted(found.value, found.lower, found.upper)


# --- What the limits of a metric need of the labels and of all items.

MOST_CELLS = 600  # of a table of counts that the worst next item is tried in


class GoldItems(NamedTuple):
    """What a kernel needs of the items that are meant: of the labels and of all."""

    sample: GoldSample
    ids: IntArray  # patterns of all items that are meant
    weight: FloatArray | None  # theirs
    label_weight: FloatArray | None
    cluster: IntArray | None  # of the labels
    title: str  # of the metric
    request: LimitRequest

    @property
    def n_total(self) -> float:
        if self.weight is None:
            return float(len(self.ids))
        return effective_number(float(self.weight.sum()), float(self.weight @ self.weight))

    @property
    def number(self) -> float:
        """How many independent labels the labels are."""
        n = len(self.sample)
        w = np.ones(n) if self.label_weight is None else self.label_weight
        kish = effective_number(float(w.sum()), float(w @ w))
        return kish if self.cluster is None else min(kish, cluster_number(w, self.cluster))

    def mean(self, values: FloatArray) -> FloatArray:
        """Return the mean over all items of columns (n, c)."""
        w = self.weight
        return np.asarray(values.mean(axis=0) if w is None else w @ values / w.sum())

    def counted(self, value: float, low: float, high: float) -> PredictionPoweredLimits:
        """Return the result from counts of the labels alone."""
        return self.wrapped(
            PredictionPowered(value, low, high, value, low, high, 1.0, 0.0), counted=True
        )

    def wrapped(
        self,
        found: PredictionPowered,
        span: tuple[float, float] = (0.0, 1.0),
        *,
        counted: bool = False,
    ) -> PredictionPoweredLimits:
        """Return the result; ``counted`` where it is from counts of the labels alone."""
        return result_of(
            found,
            self.request,
            of=self.title,
            n=len(self.sample),
            n_total=len(self.ids),
            finite=False,
            low=span[0],
            high=span[1],
            method="pseudo-count" if counted else None,
        )

    def label_mean(self, values: FloatArray) -> FloatArray:
        w = self.label_weight
        return np.asarray(values.mean(axis=0) if w is None else w @ values / w.sum())


def gold_items(
    inputs: Inputs, sample: GoldSample, rows: BoolArray | None, title: str, confidence: float
) -> GoldItems:
    ids, weight = inputs.votes.ids, inputs.weight
    own = sample.of(rows)
    cluster = None if inputs.cluster is None else inputs.cluster[own.rows]
    return GoldItems(
        own,
        ids if rows is None else ids[rows],
        weight if weight is None or rows is None else weight[rows],
        None if weight is None else weight[own.rows],
        None if cluster is None else np.unique(cluster, return_inverse=True)[1],
        title,
        LimitRequest(confidence, "both"),
    )


Controls = Callable[[FloatArray, FloatArray], FloatArray]  # of p (n, k) and predictions (n, j)


def crossed(
    items: GoldItems,
    controls: Controls,
    at_labels: FloatArray,
    at_all: FloatArray,
    patterns: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the controls of the labels, apart from their mean over all items, and the shift.

    Each label's are from the label model that has not seen it, and so is the mean. Where every item
    has a label the controls have nothing to tell, and are 0.
    """
    sample = items.sample
    own = patterns[sample.rows]
    far = None
    for f in np.unique(sample.fold):
        mine = sample.fold == f
        p = sample.p[f]
        x = controls(p[own[mine]], at_labels[mine]) - items.mean(controls(p[items.ids], at_all))
        if far is None:
            far = np.empty((len(sample), x.shape[1]))
        far[mine] = x
    assert far is not None
    if len(sample) == len(items.ids):
        far = np.zeros_like(far)
    return far, -items.label_mean(far)


def one_hot(predicted: Predictions, k: int) -> FloatArray:
    if predicted.proba is not None:
        return predicted.proba
    return np.asarray(np.eye(k)[np.asarray(predicted.codes)])


# --- The labelled items, and label models that have not seen their labels.

_FOLDS = 5


@dataclass(frozen=True, slots=True)
class GoldSample:
    """Items with a true label: their places, classes and folds.

    ``p[f]`` is P(Y | pattern) of a label model that has not seen the labels of fold f; all labels
    are of one fold where the label model has seen none.
    """

    rows: IntArray
    labels: IntArray
    fold: IntArray
    p: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, rows: BoolArray | None) -> GoldSample:
        """Return the labels among the selected items."""
        if rows is None:
            return self
        kept = rows[self.rows]
        return GoldSample(self.rows[kept], self.labels[kept], self.fold[kept], self.p)

    def judged(self, ids: IntArray) -> GoldRows:
        """Return the labels, and P(Y | Z) of their items from models that have not seen them."""
        return GoldRows(self.labels, self.posterior(ids))

    def posterior(self, ids: IntArray) -> FloatArray:
        """Return P(Y | Z) of every label from a model without it; ``ids`` of all items."""
        return np.asarray(self.p[self.fold, ids[self.rows]])


def read_sample(
    inputs: Inputs,
    label_model: Any,
    gold: tuple[IntArray, BoolArray],
    class_prior: Column | None,
    rng: np.random.Generator,
) -> GoldSample | None:
    """Refit the label model without each fold of the labels, if it has seen them.

    It has if it was fitted here, or if it was fitted with true labels (``gold_n_``); P(Y | Z) as
    an array and models that cannot be refitted are taken not to have. ``gold`` is what `read_gold`
    returned. Labels of one cluster are in one fold.
    """
    if not gold[1].any():
        return None
    rows = np.flatnonzero(gold[1])
    labels = gold[0][rows]
    if label_model is not None and not has_seen_gold(label_model):
        return GoldSample(rows, labels, np.zeros(len(rows), dtype=int), inputs.p[None])
    unit = np.arange(len(rows)) if inputs.cluster is None else inputs.cluster[rows]
    _, unit = np.unique(unit, return_inverse=True)
    n_units = int(unit.max()) + 1
    folds = min(_FOLDS, n_units)
    fold = rng.permutation(np.arange(n_units) % folds)[unit]
    p = []
    for f in range(folds):
        known = gold[0].copy()
        known[rows[fold == f]] = -1
        p.append(refitted(inputs, label_model, known, class_prior))
    return GoldSample(rows, labels, fold, np.array(p))
