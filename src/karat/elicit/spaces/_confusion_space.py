"""Any number of classes: every kind of error."""

from typing import ClassVar

import numpy as np

from karat._typing import FloatArray
from karat.elicit.spaces._space import Space
from karat.metrics.rates import off_diagonal, with_zero_diagonal

__all__ = ["ConfusionSpace"]


class ConfusionSpace(Space):
    """What classifiers attain off the diagonal of the confusion.

    Hiranandani 2021, section 4.2.2. The ``k² − k`` coordinates are ``P(Y=i, Ŷ=j)``, row by row:
    every kind of error.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> space = ConfusionSpace.from_density(LogisticLaw([1, 3, 5]).proba, n_points=2001)
    >>> round(space.radius, 3)
    0.005
    """

    kind: ClassVar[str] = "confusion"
    sign: ClassVar[int] = -1

    @property
    def dim(self) -> int:
        """Number of coordinates: ``k² − k``."""
        return self.n_classes * (self.n_classes - 1)

    @property
    def top(self) -> FloatArray:
        """The prior of the true class of each error."""
        return np.asarray(self.prior[off_diagonal(self.n_classes)[0]])

    @property
    def names(self) -> tuple[str, ...]:
        """What each coordinate is, in words."""
        return tuple(
            f"{self.classes[i]} taken for {self.classes[j]}"
            for i, j in zip(*off_diagonal(self.n_classes), strict=True)
        )

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        """Return the off-diagonal entries of confusions, row by row."""
        rows, columns = off_diagonal(self.n_classes)
        return np.asarray(confusions[..., rows, columns])

    def confusion(self, points: FloatArray) -> FloatArray:
        """Return the confusions with the given errors."""
        tables, k = with_zero_diagonal(points), self.n_classes
        tables[..., range(k), range(k)] = self.prior - tables.sum(axis=-1)
        return tables

    def weights(self, directions: FloatArray) -> FloatArray:
        """Return the gains (losses if negative) of each error."""
        return with_zero_diagonal(directions)
