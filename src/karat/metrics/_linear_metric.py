"""Metrics that are linear in the confusion."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from karat._typing import Column, FloatArray, Frame
from karat.metrics.base import Form, Metric
from karat.metrics.coefficients import square_matrix
from karat.metrics.wording import class_names, describe_gains

if TYPE_CHECKING:
    from karat.decisions import BayesClassifier

__all__ = ["LinearMetric"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class LinearMetric(Metric):
    """The expected gain of a prediction, linear in the confusion.

    ``φ(C) = Σ_ij weights[i, j] · C[i, j]`` (Hiranandani 2021, Definitions 3.1 and 4.2).

    Parameters
    ----------
    weights : array (k, k)
        ``weights[i, j]`` is the gain when the truth is i and the prediction j. Costs are negative
        gains.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = LinearMetric([[0, -1], [-5, 0]])
    >>> metric([[0.5, 0.2], [0.1, 0.2]])
    -0.7
    >>> metric.bayes_classifier().predict([[0.8, 0.2], [0.9, 0.1]])
    array([1, 0])
    """

    weights: FloatArray
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "linear"

    def __init__(self, weights: Frame, name: str | None = None) -> None:
        object.__setattr__(self, "weights", square_matrix(weights, "weights"))
        object.__setattr__(self, "name", None if name is None else str(name))

    @property
    def form(self) -> Form:
        """What a solver may rely on: the metric is linear."""
        return "linear"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or "linear metric"

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return len(self.weights)

    def _values(self, confusions: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("ij,bij->b", self.weights, confusions))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        return np.broadcast_to(self.weights, confusions.shape).copy()

    def normalized(self) -> "LinearMetric":
        """Return the canonical equivalent: no gain for a right prediction, errors of norm 1.

        Subtracting the diagonal from each row shifts the metric by a constant of the population,
        which leaves ``⟨a, off-diagonal⟩`` with ``‖a‖₂ = 1`` (Hiranandani 2021, Definition 4.2). A
        metric that has the same value for every classifier becomes 0.
        """
        relative = self.weights - np.diag(self.weights)[:, None]
        size = np.linalg.norm(relative)
        return LinearMetric(relative / size if size > 0 else relative, name=self.name)

    def bayes_classifier(self, classes: Column | None = None) -> "BayesClassifier":
        """Return the classifier that maximises the expected gain of each item.

        It predicts ``argmax_j Σ_i P(Y=i | x) weights[i, j]`` (Hiranandani 2021, Propositions 3.1
        and B.1).

        Parameters
        ----------
        classes : column (k,), optional
            The labels to predict, in the order of the weights; by default 0..k-1.
        """
        from karat.decisions import BayesClassifier

        return BayesClassifier.of(self.weights, classes)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what each error costs, and for two classes where to put the threshold."""
        names = class_names(classes, self.n_classes)
        return describe_gains(self.title, self.weights, names)
