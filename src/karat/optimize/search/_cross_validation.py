"""The metric on rows that took no part in finding the classifier."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.metrics import MetricBase
from karat.metrics.estimates import count_limits, metric_range
from karat.optimize.feedback import gradients_at, values_at
from karat.optimize.probes import Sample
from karat.optimize.search._task import Task
from karat.optimize.search._value import metric_value, most_probable

__all__ = ["HeldOut", "folds", "held_out"]

_Z = 1.959963984540054  # the normal quantile of limits of 95 %
_DELTA = 0.025  # their probability on either side
_NONE = 1e-9  # spread of rows that all tell the same, but for rounding


class HeldOut(NamedTuple):
    """The metric on held-out rows, that of the most probable class there, and limits."""

    held_out: float
    held_out_baseline: float
    lower: float
    upper: float


def held_out(
    task: Task,
    fit: Callable[[IntArray], Callable[[FloatArray, FloatArray], FloatArray]],
    n_folds: int,
) -> HeldOut:
    """Measure classifiers on rows that took no part in finding them.

    ``fit(rows)`` finds a classifier with some of the validation rows, and returns it as a function
    of probabilities and basis functions that gives class shares.
    """
    shares = _held_out_shares(task.validation, fit, n_folds, seed=0)
    limits = (float("nan"), float("nan"))
    if isinstance(task.metric, MetricBase):
        limits = _limits_of(task.metric, task.validation, shares)
    return HeldOut(metric_value(task, shares), metric_value(task, most_probable(task)), *limits)


def folds(labels: IntArray, n: int, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield rows to use and rows to hold out; each class is spread evenly over the folds."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % n
    for i in range(n):
        yield np.flatnonzero(fold != i), np.flatnonzero(fold == i)


def _held_out_shares(
    sample: Sample,
    fit: Callable[[IntArray], Callable[[FloatArray, FloatArray], FloatArray]],
    n_folds: int,
    *,
    seed: int,
) -> FloatArray:
    """Return for each row the class shares of a classifier that was found without it."""
    assert sample.labels is not None
    shares = np.empty_like(sample.proba)
    for used, kept in folds(sample.truth, n_folds, seed):
        shares[kept] = fit(used)(sample.proba[kept], sample.basis[kept])
    return shares


def _limits_of(metric: MetricBase, sample: Sample, shares: FloatArray) -> tuple[float, float]:
    """Return limits of a metric of a randomised classifier on rows, by the delta method.

    Rows that all tell the same, such as those of a classifier that never errs, have no spread, and
    yet the next one may differ: limits then come from the counts.
    """
    assert sample.labels is not None
    confusion = sample.confusion(shares)
    slope = gradients_at(metric, confusion[None])[0]
    if not np.isfinite(slope).all():
        return float("nan"), float("nan")
    each = np.sum(slope[sample.truth] * shares, axis=1)
    centered = each - sample.weight @ each
    spread = float(np.sqrt(np.sum((sample.weight * centered) ** 2)))
    value = float(values_at(metric, confusion[None])[0])
    if spread > _NONE:
        low, high = metric_range(metric)
        return max(value - _Z * spread, min(low, value)), min(value + _Z * spread, max(high, value))
    n = 1.0 / float(sample.weight @ sample.weight)  # Kish's number of rows, whose shares are these
    found = count_limits(
        metric, n * confusion.ravel(), confusion.shape, delta=_DELTA, rng=np.random.default_rng(0)
    )
    return min(found.lower, value), max(found.upper, value)
