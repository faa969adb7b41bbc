"""Items with the same predictions, and what a label of one of them adds to the metric."""

from dataclasses import dataclass

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.audit.inputs import Items
from karat.metrics import LinearFractionalMetric, LinearMetric, Metric, recall
from karat.metrics.estimates import metric_range, table_values
from karat.metrics.families import BalancedAccuracy, Macro, one_vs_rest

__all__ = ["Calls", "Part", "make_calls", "ratios_of"]


@dataclass(frozen=True)
class Part:
    """A ratio whose limits hold at every look, and the factor with which it enters the metric.

    ``top`` and ``bottom`` (calls, outcomes) are what an item adds.
    """

    factor: float
    top: FloatArray
    bottom: FloatArray
    span: tuple[float, float]


@dataclass(frozen=True)
class Calls:
    """Kinds of items by their predictions: ``code`` of each item, and what each kind is.

    An outcome is a class, or, for a difference of linear metrics, a value of the difference:
    ``outcome`` (calls, classes) says which a label is. Calls that are not ``open`` need no labels:
    whatever the truth is, they add the same.
    """

    metric: Metric
    code: IntArray
    first: IntArray
    second: IntArray | None
    group: IntArray | None
    outcome: IntArray
    n_outcomes: int
    worth: FloatArray | None  # of outcomes, for a difference of linear metrics
    span: tuple[float, float]
    number: IntArray  # of items in each call

    @property
    def open(self) -> BoolArray:
        """Whether labels of a call tell anything."""
        if self.worth is None:
            return np.ones(len(self.first), dtype=bool)
        return np.asarray((self.outcome != self.outcome[:, :1]).any(axis=1))

    def values(self, totals: FloatArray) -> FloatArray:
        """Return the metric, or the difference, of numbers of items (b, calls, classes)."""
        n = totals.sum(axis=(1, 2))[:, None, None]
        first = table_values(self.metric, self.confusions(totals, self.first) / n)
        if self.second is None:
            return first
        second = table_values(self.metric, self.confusions(totals, self.second) / n)
        return np.asarray(first - second)

    def confusions(self, totals: FloatArray, called: IntArray) -> FloatArray:
        """Return the confusions (b, k, k) of one of the two predictions."""
        k = self.outcome.shape[1]
        return np.asarray(np.einsum("bcy,cj->byj", totals, np.eye(k)[called]))

    def parts(self) -> list[Part] | None:
        """Return the ratios that the metric is a sum of; None if it is no such sum."""
        if self.worth is not None:
            top = np.broadcast_to(self.worth, (len(self.first), self.n_outcomes))
            return [Part(1.0, top, np.ones(top.shape), self.span)]
        own = ratios_of(self.metric, self.outcome.shape[1])
        if own is None:
            return None
        sides = [(1.0, self.first)] + ([] if self.second is None else [(-1.0, self.second)])
        return [
            Part(sign * factor, top[:, called].T, bottom[:, called].T, span)
            for sign, called in sides
            for factor, top, bottom, span in own
        ]


_Ratio = tuple[float, FloatArray, FloatArray, tuple[float, float]]


def ratios_of(metric: Metric, k: int) -> list[_Ratio] | None:
    """Return a metric as a sum of ratios of linear functions of the confusion."""
    if isinstance(metric, LinearMetric):
        return [(1.0, metric.weights, np.ones((k, k)), metric_range(metric))]
    if isinstance(metric, LinearFractionalMetric):
        return [(1.0, metric.numerator, metric.denominator + metric.constant, metric_range(metric))]
    if isinstance(metric, BalancedAccuracy):
        return _one_by_one(recall, k)
    if isinstance(metric, Macro):
        inner = metric.metric.for_classes(2)
        return _one_by_one(inner, k) if isinstance(inner, LinearFractionalMetric) else None
    return None


def _one_by_one(inner: LinearFractionalMetric, k: int) -> list[_Ratio]:
    """Return a ratio of two classes for every class against the rest, each worth 1/k."""
    cells = np.eye(k * k).reshape(-1, k, k)
    apart = one_vs_rest(cells).reshape(k, k, k, 2, 2)  # true, called, class, side, side
    found = []
    for c in range(k):
        top = np.einsum("abst,st->ab", apart[:, :, c], inner.numerator)
        bottom = np.einsum("abst,st->ab", apart[:, :, c], inner.denominator + inner.constant)
        found.append((1 / k, top, bottom, metric_range(inner)))
    return found


def make_calls(items: Items, metric: Metric) -> Calls:
    """Sort the items by what was predicted of them, and, with groups, by group."""
    k = len(items.classes)
    code = items.called.astype(np.int64)
    if items.other is not None:
        code = code * k + items.other
    if items.group is not None:
        code = code + k**2 * items.group
    # A table is much faster than a sort of all items.
    number = np.bincount(code)
    kinds = np.flatnonzero(number)
    codes = (np.cumsum(number > 0) - 1)[code]
    number = number[kinds]
    group = None if items.group is None else kinds // k**2
    rest = kinds if group is None else kinds % k**2
    first, second = (rest, None) if items.other is None else (rest // k, rest % k)
    outcome = np.broadcast_to(np.arange(k), (len(kinds), k)).copy()
    span = metric_range(metric)
    if second is None:
        return Calls(metric, codes, first, None, group, outcome, k, None, span, number)
    span = (span[0] - span[1], span[1] - span[0])
    if not isinstance(metric, LinearMetric):
        return Calls(metric, codes, first, second, group, outcome, k, None, span, number)
    # Of a linear metric only the difference of the two weights of an item counts.
    apart = metric.weights[:, first].T - metric.weights[:, second].T
    worth, outcome = np.unique(np.round(apart, 12), return_inverse=True)
    return Calls(
        metric, codes, first, second, group, outcome.reshape(apart.shape), len(worth), worth, span,
        number,
    )  # fmt: skip
