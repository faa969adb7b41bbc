"""What the limits of a metric need of the labels and of all items."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.bounds.gold._gold_sample import GoldSample
from karat.bounds.inputs import Inputs, Predictions
from karat.exceptions import UndefinedMetricWarning
from karat.limits import PoweredLimits
from karat.limits.kernels import Powered, cluster_number, effective_number, surprise_limits
from karat.limits.options import LimitRequest, powered_result

__all__ = ["GoldItems", "crossed", "gold_items", "limits_from_counts", "one_hot"]

_DRAWS = 1500
_MOST_CELLS = 600  # of a table of counts that the worst next item is tried in


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

    def wrapped(
        self, found: Powered, span: tuple[float, float] = (0.0, 1.0), *, counted: bool = False
    ) -> PoweredLimits:
        """Return the result; ``counted`` where it is from counts of the labels alone."""
        return powered_result(
            found, self.request, of=self.title, n=len(self.sample), n_total=len(self.ids),
            finite=False, low=span[0], high=span[1], method="surprise" if counted else None,
        )  # fmt: skip

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


def limits_from_counts(
    items: GoldItems,
    axes: list[IntArray],
    shape: list[int],
    statistic: Callable[[FloatArray], FloatArray],
    span: tuple[float, float],
    rng: np.random.Generator,
    *,
    draws: int = _DRAWS,
    truth: int = 0,
) -> PoweredLimits | None:
    """Return limits of a statistic of counts of the labels; None where the cells are too many.

    The axis ``truth`` is that of the true classes, of which each needs labels.
    """
    size = int(np.prod(shape))
    if size > _MOST_CELLS or not np.isfinite(span).all():
        return None
    cell = np.ravel_multi_index(tuple(axes), tuple(shape))
    counts = np.bincount(cell, weights=items.label_weight, minlength=size).astype(np.float64)
    counts *= items.number / counts.sum()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        estimate = float(statistic(counts[None] / counts.sum())[0])
        low, high = surprise_limits(
            statistic, counts, span, delta=items.request.delta, draws=draws, rng=rng,
            strata=np.indices(shape)[truth].ravel(),
        )  # fmt: skip
    return items.wrapped(Powered(estimate, low, high, estimate, low, high, 1.0, 0.0), counted=True)
