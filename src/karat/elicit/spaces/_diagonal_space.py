"""Any number of classes: how often each class is predicted rightly."""

from typing import ClassVar

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat.decisions.populations import Frontier, Point, Population
from karat.decisions.solvers import nearest
from karat.elicit.spaces._space import Space

__all__ = ["DiagonalSpace"]


class DiagonalSpace(Space):
    """What classifiers attain on the diagonal of the confusion (Hiranandani 2021, sec. 4.2.1).

    Coordinate i is ``P(Y=i, Ŷ=i)``. The faces where only two classes are predicted look like
    binary problems, and carry the questions about a pair of classes.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> space = DiagonalSpace.from_density(LogisticLaw([1, 3, 5]).proba)
    >>> space.coordinates(space.boundary([1, 1, 1])).round(3)
    array([0.294, 0.   , 0.19 ])
    """

    kind: ClassVar[str] = "diagonal"
    sign: ClassVar[int] = 1

    def __init__(self, population: Population, classes: AnyArray) -> None:
        super().__init__(population, classes)
        self._faces: dict[tuple[int, int], Frontier] = {}

    @property
    def dim(self) -> int:
        """Number of coordinates: one per class."""
        return len(self.classes)

    @property
    def top(self) -> FloatArray:
        """The prior of each class."""
        return self.prior

    @property
    def names(self) -> tuple[str, ...]:
        """What each coordinate is, in words."""
        return tuple(f"right about {c}" for c in self.classes)

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        """Return the diagonals of confusions."""
        return np.asarray(np.diagonal(confusions, axis1=-2, axis2=-1))

    def confusion(self, points: FloatArray) -> FloatArray:
        """Return confusions with the given diagonals, each of a classifier that attains it."""
        rows = np.atleast_2d(points)
        tables = np.empty((len(rows), self.dim, self.dim))
        for table, row in zip(tables, rows, strict=True):
            place = nearest(row, self._extremes.copy())
            parts = self._extreme(place.makers)
            table[:] = np.einsum("p,pij->ij", place.shares, parts)
        return tables.reshape(*points.shape[:-1], self.dim, self.dim)

    def weights(self, directions: FloatArray) -> FloatArray:
        """Return the gains that weigh the right predictions of each class."""
        return np.asarray(directions[..., :, None] * np.eye(self.dim))

    def face(self, i: int, j: int) -> Frontier:
        """Return the classifiers that predict i or j only (Definition 4.5)."""
        if (i, j) not in self._faces:
            self._faces[i, j] = Frontier.of(self.population.proba, self.population.mass, i, j)
        return self._faces[i, j]

    def face_confusion(self, i: int, j: int, point: Point) -> FloatArray:
        """Return the confusion of a point of the face (i, j)."""
        table = np.zeros((self.dim, self.dim))
        table[:, i] = point.predicted
        table[:, j] = self.prior - point.predicted
        return table
