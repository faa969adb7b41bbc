"""Binary metrics on more than two classes: each class against the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat.exceptions import MetricError
from karat.metrics.base import Metric

__all__ = ["Average", "Macro", "from_one_vs_rest", "one_vs_rest"]


def _sides(k: int) -> FloatArray:
    """Return ``T[i, s, a]``: 1 if class a is on side s (0 the rest, 1 the class) of class i."""
    eye = np.eye(k)
    return np.stack([1 - eye, eye], axis=1)


def one_vs_rest(confusions: FloatArray) -> FloatArray:
    """Return the 2×2 confusion of each class against the rest: (b, k, 2, 2)."""
    sides = _sides(confusions.shape[-1])
    return np.asarray(np.einsum("isa,bac,itc->bist", sides, confusions, sides, optimize=True))


def from_one_vs_rest(slopes: FloatArray) -> FloatArray:
    """Return the gradient in C of a function of the 2×2 confusions: the chain rule."""
    sides = _sides(slopes.shape[1])
    return np.asarray(np.einsum("isa,bist,itc->bac", sides, slopes, sides, optimize=True))


@dataclass(frozen=True, slots=True, eq=False)
class Average(Metric):
    """A binary metric carried to k classes."""

    metric: Metric
    prefix: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.metric, Metric):
            raise MetricError(
                f"{self.prefix} was given {self.metric!r}; expected a metric for two classes, "
                f"such as {self.prefix}(f_beta(1))"
            )
        if self.metric.n_classes not in (None, 2):
            raise MetricError(
                f"{self.prefix} was given a metric for {self.metric.n_classes} classes; expected "
                "one for two classes"
            )

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return f"{self.prefix} {self.metric.title}"


class Macro(Average):
    """Mean of a binary metric over the classes, each against the rest."""

    __slots__ = ()
    kind: ClassVar[str] = "macro"
    prefix: ClassVar[str] = "macro"

    def _values(self, confusions: FloatArray) -> FloatArray:
        tables = one_vs_rest(confusions)
        values = self.metric._values(tables.reshape(-1, 2, 2))
        return np.asarray(values.reshape(tables.shape[:2]).mean(axis=1))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        tables = one_vs_rest(confusions)
        slopes = self.metric._gradients(tables.reshape(-1, 2, 2)).reshape(tables.shape)
        return from_one_vs_rest(slopes / tables.shape[1])

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Say in words what is averaged."""
        inner = self.metric.describe(["the rest", "the class"])
        return f"Mean over the classes, each against the rest, of: {inner}"
