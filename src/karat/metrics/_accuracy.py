"""Accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from karat._typing import Column, FloatArray
from karat._validate import check_classes
from karat.exceptions import MetricError
from karat.metrics._linear_metric import LinearMetric
from karat.metrics.base import Form, Metric

if TYPE_CHECKING:
    from karat.decisions import BayesClassifier

__all__ = ["Accuracy", "accuracy"]


@dataclass(frozen=True, slots=True, eq=False)
class Accuracy(Metric):
    """Share of right predictions: ``Σ_i C[i, i]``, for any number of classes."""

    kind: ClassVar[str] = "accuracy"

    @property
    def form(self) -> Form:
        """What a solver may rely on: the metric is linear."""
        return "linear"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return "accuracy"

    def _values(self, confusions: FloatArray) -> FloatArray:
        return np.asarray(np.trace(confusions, axis1=1, axis2=2))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        return np.broadcast_to(np.eye(confusions.shape[-1]), confusions.shape).copy()

    def for_classes(self, n_classes: int) -> LinearMetric:
        """Return accuracy as a linear metric."""
        self._require_classes(n_classes)
        return _linear_accuracy(n_classes)

    def bayes_classifier(self, classes: Column | None = None) -> "BayesClassifier":
        """Return the classifier that predicts the most probable of ``classes``."""
        if classes is None:
            raise MetricError(
                "accuracy is for any number of classes; pass classes=, or use "
                "accuracy.for_classes(k).bayes_classifier()"
            )
        order = check_classes(classes)
        return self.for_classes(len(order)).bayes_classifier(order)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what accuracy rewards."""
        return "Accuracy: the share of right predictions; every error costs the same."


@lru_cache(maxsize=32)
def _linear_accuracy(n_classes: int) -> LinearMetric:
    return LinearMetric(np.eye(n_classes), name="accuracy")


accuracy = Accuracy()
"""Share of right predictions, for any number of classes."""
