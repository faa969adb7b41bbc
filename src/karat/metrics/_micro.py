"""A binary metric of pooled one-against-the-rest tables."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat.metrics._linear_fractional_metric import LinearFractionalMetric
from karat.metrics._linear_metric import LinearMetric
from karat.metrics.base import Metric
from karat.metrics.families import Average, from_one_vs_rest, one_vs_rest

__all__ = ["Micro", "micro"]


class Micro(Average):
    """A binary metric of the 2×2 confusions of all classes against the rest, added up."""

    __slots__ = ()
    kind: ClassVar[str] = "micro"
    prefix: ClassVar[str] = "micro"

    def _values(self, confusions: FloatArray) -> FloatArray:
        return self.metric._values(one_vs_rest(confusions).mean(axis=1))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        tables = one_vs_rest(confusions)
        slope = self.metric._gradients(tables.mean(axis=1))[:, None] / tables.shape[1]
        return from_one_vs_rest(np.broadcast_to(slope, tables.shape))

    def for_classes(self, n_classes: int) -> Metric:
        """Return a pooled linear or linear-fractional metric as one on k classes."""
        self._require_classes(n_classes)
        inner = self.metric.for_classes(2)
        if isinstance(inner, LinearMetric):
            return LinearMetric(self._pooled(inner.weights, n_classes), name=self.title)
        if isinstance(inner, LinearFractionalMetric):
            numerator, denominator = (
                self._pooled(part, n_classes) for part in (inner.numerator, inner.denominator)
            )
            return LinearFractionalMetric(numerator, denominator, inner.constant, name=self.title)
        return self

    @staticmethod
    def _pooled(coefficients: FloatArray, n_classes: int) -> FloatArray:
        each = np.broadcast_to(coefficients / n_classes, (1, n_classes, 2, 2))
        return np.asarray(from_one_vs_rest(each)[0])

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what is pooled."""
        inner = self.metric.describe(["the rest", "the class"])
        return f"On the tables of each class against the rest, added up: {inner}"


def micro(metric: Metric) -> Metric:
    """Binary metric of the one-against-the-rest tables of all classes, added up.

    Parameters
    ----------
    metric : Metric
        A metric for two classes, such as `precision` or ``f_beta(1)``.

    Examples
    --------
    >>> from karat.metrics import jaccard
    >>> round(micro(jaccard).score([0, 1, 2, 2], [0, 1, 1, 2]), 4)
    0.6
    """
    return Micro(metric)
