"""The best classifier for a linear metric."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._frozen import Frozen, frozen_array
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import check_classes
from karat.decisions.rules import decide, read_probabilities
from karat.exceptions import MetricError

__all__ = ["BayesClassifier"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BayesClassifier(Frozen):
    """Predicts the class of greatest expected gain; made by ``metric.bayes_classifier()``.

    Attributes
    ----------
    weights : array (k, k)
        The gain of (truth, prediction).
    classes : array (k,)
        The labels to predict.
    """

    weights: FloatArray
    classes: AnyArray

    @classmethod
    def of(cls, weights: FloatArray, classes: Column | None) -> "BayesClassifier":
        """Build the best classifier for a linear metric from the weights of the metric."""
        order = np.arange(len(weights)) if classes is None else check_classes(classes)
        if len(order) != len(weights):
            raise MetricError(
                f"classes names {len(order)} classes and the metric is for {len(weights)}; "
                "name each class once"
            )
        return cls(weights=weights, classes=frozen_array(order))

    @property
    def threshold(self) -> float:
        """Probability of the second of two classes from which that class is predicted.

        ``m₀₀ / (m₁₁ + m₀₀)`` with m the gain of being right over being wrong (Proposition 3.1). It
        is only a threshold where ``m₁₁ + m₀₀`` is positive.
        """
        if len(self.weights) != 2:
            raise MetricError(f"a threshold is for 2 classes and there are {len(self.weights)}")
        m00 = self.weights[0, 0] - self.weights[0, 1]
        m11 = self.weights[1, 1] - self.weights[1, 0]
        if m11 + m00 <= 0:
            raise MetricError(
                "the metric rewards errors (m₁₁ + m₀₀ is not positive), so no threshold on the "
                "probability is best; use predict"
            )
        return float(m00 / (m11 + m00))

    def expected_gain(self, proba: Column | Frame) -> FloatArray:
        """Return the expected gain of predicting each class, from class probabilities."""
        return self._probabilities(proba) @ self.weights

    def predict(self, proba: Column | Frame) -> AnyArray:
        """Predict from class probabilities (n, k), or (n,) of the second of two classes.

        A tie goes to the later class, as in Proposition 3.1.
        """
        return np.asarray(self.classes[decide(self._probabilities(proba), self.weights)])

    __call__ = predict

    def _probabilities(self, proba: Any) -> FloatArray:
        return read_probabilities(proba, self.classes)
