"""Metrics that are a ratio of two linear ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray, Frame
from karat._validate import check_number
from karat.exceptions import MetricError
from karat.metrics.base import Form, Metric, warn_undefined
from karat.metrics.coefficients import square_matrix
from karat.metrics.wording import class_names, linear_form

__all__ = ["LinearFractionalMetric"]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class LinearFractionalMetric(Metric):
    """A ratio of two linear functions of the confusion.

    ``φ(C) = ⟨numerator, C⟩ / (⟨denominator, C⟩ + constant)`` (Hiranandani 2021, Definition 3.2 and
    eq. 3.7). Where the denominator is 0 the value is 0, with a warning, as in scikit-learn.

    Parameters
    ----------
    numerator, denominator : array (k, k)
        Coefficients of (truth, prediction).
    constant : float, default 0
        Added to the denominator.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> jaccard = LinearFractionalMetric([[0, 0], [0, 1]], [[0, 1], [1, 1]])
    >>> round(jaccard([[0.5, 0.2], [0.1, 0.2]]), 6)
    0.4
    """

    numerator: FloatArray
    denominator: FloatArray
    constant: float
    name: str | None = field(compare=False)
    kind: ClassVar[str] = "linear-fractional"

    def __init__(
        self,
        numerator: Frame,
        denominator: Frame,
        constant: float = 0.0,
        name: str | None = None,
    ) -> None:
        top = square_matrix(numerator, "numerator")
        bottom = square_matrix(denominator, "denominator")
        if top.shape != bottom.shape:
            raise MetricError(
                f"numerator has shape {top.shape} and denominator {bottom.shape}; expected the same"
            )
        offset = check_number(constant, "constant")
        if not (bottom + offset).any():  # confusions sum to 1, so this is the whole denominator
            raise MetricError(
                "denominator and constant are 0 together; give the ratio a denominator"
            )
        object.__setattr__(self, "numerator", top)
        object.__setattr__(self, "denominator", bottom)
        object.__setattr__(self, "constant", offset)
        object.__setattr__(self, "name", None if name is None else str(name))

    @property
    def form(self) -> Form:
        """What a solver may rely on: the metric is a ratio."""
        return "ratio"

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or "linear-fractional metric"

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return len(self.numerator)

    def _parts(self, confusions: FloatArray) -> tuple[FloatArray, FloatArray]:
        top = np.einsum("ij,bij->b", self.numerator, confusions)
        bottom = np.einsum("ij,bij->b", self.denominator, confusions) + self.constant
        return np.asarray(top), np.asarray(bottom)

    def _values(self, confusions: FloatArray) -> FloatArray:
        top, bottom = self._parts(confusions)
        undefined = bottom == 0
        if undefined.any():
            warn_undefined(self.title, undefined, "it is set to 0 there")
        return np.asarray(np.where(undefined, 0.0, top / np.where(undefined, 1.0, bottom)))

    def _gradients(self, confusions: FloatArray) -> FloatArray:
        top, bottom = self._parts(confusions)
        bottom = np.where(bottom == 0, np.nan, bottom)[:, None, None]
        ratio = top[:, None, None] / bottom
        return np.asarray((self.numerator - ratio * self.denominator) / bottom)

    def normalized(self) -> "LinearFractionalMetric":
        """Return the same function with no constant and coefficients of norm 1.

        Confusions sum to 1, so the constant can be added to every coefficient of the denominator.
        The sign is such that the denominator's first coefficient that is not 0 is positive.
        """
        denominator = self.denominator + self.constant
        size = np.sqrt(np.sum(self.numerator**2) + np.sum(denominator**2))
        size *= np.sign(denominator[denominator != 0][0])
        return LinearFractionalMetric(self.numerator / size, denominator / size, name=self.name)

    def describe(self, classes: Sequence[Any] | None = None) -> str:
        """Write the ratio with the probability of each (truth, prediction) spelt out."""
        names = class_names(classes, self.n_classes)
        top = linear_form(self.numerator, names)
        bottom = linear_form(self.denominator, names, self.constant)
        return f"{self.title[:1].upper()}{self.title[1:]}: ({top}) divided by ({bottom})."
