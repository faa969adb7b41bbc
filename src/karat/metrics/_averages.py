"""Binary metrics on more than two classes: each class against the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from karat._typing import FloatArray
from karat.exceptions import MetricError
from karat.metrics._base import Metric
from karat.metrics._linear import LinearMetric
from karat.metrics._linear_fractional import LinearFractionalMetric

__all__ = ["Macro", "Micro", "macro", "micro"]


def _sides(k: int) -> FloatArray:
    """Return ``T[i, s, a]``: 1 if class a is on side s (0 the rest, 1 the class) of class i."""
    eye = np.eye(k)
    return np.stack([1 - eye, eye], axis=1)


def _one_vs_rest(confusions: FloatArray) -> FloatArray:
    """Return the 2×2 confusion of each class against the rest: (b, k, 2, 2)."""
    sides = _sides(confusions.shape[-1])
    return np.asarray(np.einsum("isa,bac,itc->bist", sides, confusions, sides, optimize=True))


def _pulled_back(slopes: FloatArray) -> FloatArray:
    """Return the gradient in C of a function of the 2×2 confusions: the chain rule."""
    sides = _sides(slopes.shape[1])
    return np.asarray(np.einsum("isa,bist,itc->bac", sides, slopes, sides, optimize=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Average(Metric):
    """A binary metric carried to k classes."""

    metric: Metric
    word: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.metric, Metric):
            raise MetricError(
                f"{self.word} was given {self.metric!r}; expected a metric for two classes, "
                f"such as {self.word}(f_beta(1))"
            )
        if self.metric.n_classes not in (None, 2):
            raise MetricError(
                f"{self.word} was given a metric for {self.metric.n_classes} classes; expected "
                "one for two classes"
            )

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return f"{self.word} {self.metric.title}"

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        from karat.metrics._load_metric import metric_from_dict

        inner: Any = metric_from_dict(fields["metric"])  # checked when the average is made
        return cls(metric=inner)


class Macro(_Average):
    """Mean of a binary metric over the classes, each against the rest."""

    __slots__ = ()
    kind: ClassVar[str] = "macro"
    word: ClassVar[str] = "macro"

    def _values(self, confusions: FloatArray) -> FloatArray:
        tables = _one_vs_rest(confusions)
        values = self.metric._values(tables.reshape(-1, 2, 2))
        return np.asarray(values.reshape(tables.shape[:2]).mean(axis=1))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        tables = _one_vs_rest(confusions)
        slopes = self.metric._gradients(tables.reshape(-1, 2, 2)).reshape(tables.shape)
        return _pulled_back(slopes / tables.shape[1])

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what is averaged."""
        inner = self.metric.describe(["the rest", "the class"])
        return f"Mean over the classes, each against the rest, of: {inner}"


class Micro(_Average):
    """A binary metric of the 2×2 confusions of all classes against the rest, added up."""

    __slots__ = ()
    kind: ClassVar[str] = "micro"
    word: ClassVar[str] = "micro"

    def _values(self, confusions: FloatArray) -> FloatArray:
        return self.metric._values(_one_vs_rest(confusions).mean(axis=1))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        tables = _one_vs_rest(confusions)
        slope = self.metric._gradients(tables.mean(axis=1))[:, None] / tables.shape[1]
        return _pulled_back(np.broadcast_to(slope, tables.shape))

    def for_classes(self, n_classes: int) -> Metric:
        """Return a pooled linear or linear-fractional metric as one on k classes."""
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
        return np.asarray(_pulled_back(each)[0])

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what is pooled."""
        inner = self.metric.describe(["the rest", "the class"])
        return f"On the tables of each class against the rest, added up: {inner}"


def macro(metric: Metric) -> Metric:
    """Mean of a binary metric over the classes, each against the rest.

    Parameters
    ----------
    metric : Metric
        A metric for two classes, such as `precision` or ``f_beta(1)``.

    Examples
    --------
    >>> from karat.metrics import f_beta
    >>> round(macro(f_beta(1)).score([0, 1, 2, 2], [0, 1, 1, 2]), 4)
    0.7778
    """
    return Macro(metric)


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
