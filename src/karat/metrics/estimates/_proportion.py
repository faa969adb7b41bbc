"""Metrics that are a function of one proportion, so that their limits are exact."""

from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.metrics import LinearFractionalMetric, LinearMetric, MetricBase

__all__ = ["Proportion", "as_proportion"]


class Proportion(NamedTuple):
    """Cells (k, k) that succeed and cells that fail; what each adds to a ratio.

    With the share p of the successes among the items of both kinds the metric is
    ``shift + t₁p / (b₁p + b₀(1 − p))``.
    """

    success: BoolArray
    failure: BoolArray
    added: tuple[float, float]
    missed: float
    shift: float = 0.0

    def counts(self, table: FloatArray) -> tuple[float, float]:
        """Return the successes, and successes and failures together, of a table of counts."""
        won = float(table[self.success].sum())
        return won, won + float(table[self.failure].sum())

    def value(self, p: float) -> float:
        """Return the metric at a share of successes; it grows with the share."""
        if p <= 0 or np.isnan(p):
            return self.shift + 0.0 * p
        top, bottom = self.added
        return self.shift + top * p / (bottom * p + self.missed * (1 - p))


def as_proportion(metric: MetricBase) -> Proportion | None:
    """Return the proportion that the metric is a function of, or None.

    Accuracy and other linear metrics of two values, precision, recall, and, since
    J = TP/(TP + FP + FN) is the share of true positives among the items that are or are called
    positive, the Jaccard index and F1 = 2J/(1 + J).
    """
    if isinstance(metric, LinearMetric):
        low, high = float(metric.weights.min()), float(metric.weights.max())
        won, lost = metric.weights == high, metric.weights == low
        if low < high and bool((won | lost).all()):
            return Proportion(won, lost, (high - low, 1.0), 1.0, low)
    if isinstance(metric, LinearFractionalMetric) and metric.constant == 0:
        return _ratio(metric)
    return None


def _ratio(metric: LinearFractionalMetric) -> Proportion | None:
    top, bottom = metric.numerator, metric.denominator
    counted = (top != 0) | (bottom != 0)
    won, lost = counted & (top > 0), counted & (top == 0)
    kinds = [{(float(a), float(b)) for a, b in zip(top[m], bottom[m], strict=True)}
             for m in (won, lost)]  # fmt: skip
    if (top < 0).any() or len(kinds[0]) != 1 or len(kinds[1]) != 1:
        return None
    (added,), (missed,) = kinds
    return Proportion(won, lost, added, missed[1]) if added[1] > 0 and missed[1] > 0 else None
