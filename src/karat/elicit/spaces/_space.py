"""What classifiers can attain: the set of confusions that may be asked about."""

import hashlib
from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from karat._frozen import frozen_array
from karat._typing import AnyArray, FloatArray
from karat._validate import check_count, check_finite_matrix, check_number, check_rng, shown
from karat.decisions import Mixture, RandomizedClassifier
from karat.decisions.populations import Population, compressed
from karat.decisions.solvers import Columns, Nearest, farthest, nearest
from karat.elicit.spaces._found_directions import FoundDirections
from karat.elicit.spaces._space_metrics import SpaceMetrics
from karat.elicit.spaces._space_sources import SpaceSources
from karat.exceptions import ElicitationError, LabelError, ShapeError

__all__ = ["Space"]

# How many random classifiers the feasible set is first described by; programs add more.
_FIRST_EXTREMES = 400


class Space(SpaceMetrics, SpaceSources):
    """A set of confusions that classifiers attain, in coordinates that a metric weighs.

    Attributes
    ----------
    classes : array (k,)
        The class labels, in the order of the confusions.
    prior : array (k,)
        ``P(Y=i)``.
    dim : int
        Number of coordinates.
    sign : int
        1 if a coordinate is the probability of being right (more is better), -1 if of an error.
    top : array (dim,)
        The greatest value of each coordinate.
    center : array (dim,)
        The coordinates of the classifier that guesses each class with equal probability.
    """

    kind: ClassVar[str]
    sign: ClassVar[int]

    def __init__(self, population: Population, classes: AnyArray) -> None:
        absent = np.flatnonzero(population.prior == 0)
        if absent.size:
            raise LabelError(
                f"no item with weight has the class {shown(classes[absent[0]])}; a trade-off with "
                "a class that does not occur cannot be asked about"
            )
        self.population = compressed(population)
        self._n_items = len(population.proba)
        self._found = FoundDirections()
        self.classes = frozen_array(classes)
        self.prior = np.asarray(frozen_array(population.prior))

    # --- coordinates

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of coordinates."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each coordinate is, in words."""

    def trade_off(self, i: int, j: int) -> str:
        """Return what the ratio of two weights compares, in words."""
        return f"{self.names[i]} against {self.names[j]}"

    @abstractmethod
    def coordinates(self, confusions: FloatArray) -> FloatArray:
        """Return the coordinates (..., dim) of confusions (..., k, k)."""

    @abstractmethod
    def confusion(self, points: FloatArray) -> FloatArray:
        """Return confusions (..., k, k) with the given coordinates (..., dim)."""

    @property
    def center(self) -> FloatArray:
        """The coordinates of guessing each class with equal probability."""
        return self.coordinates(self.guess)

    @property
    def guess(self) -> FloatArray:
        """The confusion of guessing each class with equal probability."""
        return np.repeat(self.prior[:, None], self.n_classes, axis=1) / self.n_classes

    # --- the feasible set

    def boundary(self, direction: Any) -> FloatArray:
        """Return the confusion of the best classifier for ``⟨direction, coordinates⟩``.

        Parameters
        ----------
        direction : array (dim,) or (b, dim)
            What one unit of each coordinate is worth.
        """
        rows = self._checked_directions(direction)
        tables = self._extreme(np.atleast_2d(rows))
        return np.asarray(tables[0] if rows.ndim == 1 else tables)

    def _checked_directions(self, direction: Any) -> FloatArray:
        rows = check_finite_matrix(direction, "direction")
        if rows.shape[-1:] != (self.dim,) or rows.ndim > 2:
            raise ShapeError(
                f"direction has shape {rows.shape}; expected ({self.dim},): {', '.join(self.names)}"
            )
        return rows

    def _extreme(self, directions: FloatArray) -> FloatArray:
        return self.population.optimal(self.weights(directions))

    def doubt(self, direction: Any) -> Any:
        """Return how far an entry of `boundary` may be from a count item by item.

        It is 0 for two classes, and for any number of classes with at most 65,536 different rows of
        probabilities. Where there are more, neighbours are joined into as many cells; the bound is
        the mass of a class in the cells that the rule's boundary may cross.

        Parameters
        ----------
        direction : array (dim,) or (b, dim)
            As for `boundary`.
        """
        rows = self._checked_directions(direction)
        most = self.population.doubtful(self.weights(np.atleast_2d(rows))).max(axis=1)
        return float(most[0]) if rows.ndim == 1 else most

    def extreme_points(self, directions: FloatArray) -> FloatArray:
        """Return the coordinates (b, dim) of the best classifiers for directions (b, dim)."""
        return self.coordinates(self._extreme(directions))

    def _oracle(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        return directions[:, None], self.extreme_points(directions)[:, None]

    @cached_property
    def _extremes(self) -> Columns:
        """Extreme points to start programs from; the same for every copy of the space."""
        rng = np.random.default_rng(0)
        directions = np.vstack(
            [
                np.eye(self.dim),
                -np.eye(self.dim),
                rng.normal(size=(_FIRST_EXTREMES, self.dim)),
            ]
        )
        return Columns(self._oracle, directions)

    @property
    def some_extremes(self) -> FloatArray:
        """Coordinates (n, dim) of extreme points in all directions, the same for every copy."""
        return self._extremes.points[0]

    @cached_property
    def radius(self) -> float:
        """Radius of a ball around the center inside the feasible set (Algorithm B.1).

        ``(Σ_j ℓ_j⁻²)^(−1/2)`` with ℓ_j the way to the boundary along coordinate j, the shorter of
        both senses. It is small: 0.005 for the laws of Hiranandani 2021, section 4.6.1.
        """
        known = self._extremes.copy()
        ways = np.array(
            [
                min(farthest(self.center, side * axis, known) for side in (1.0, -1.0))
                for axis in np.eye(self.dim)
            ]
        )
        if ways.min() <= 1e-12:
            stuck = ", ".join(np.array(self.names)[ways <= 1e-12])
            raise ElicitationError(
                f"no classifier changes one coordinate alone ({stuck}): the probabilities hardly "
                "vary in some direction. Use strategy='active', which asks about pairs that "
                "classifiers attain"
            )
        return float(np.sum(ways**-2.0) ** -0.5)

    def contains(self, point: Any, *, tol: float = 1e-9) -> bool:
        """Whether some randomised classifier attains the coordinates.

        Parameters
        ----------
        point : array (dim,)
            The coordinates.
        tol : float
            Sum of absolute differences that still counts as attained.
        """
        target = self._checked_point(point)
        most = check_number(tol, "tol", at_least=0.0)
        return nearest(target, self._extremes.copy(), most).missing <= most

    def classifier(self, point: Any) -> RandomizedClassifier:
        """Return a randomised classifier with the coordinates of a point, or the nearest.

        Parameters
        ----------
        point : array (dim,) or (k, k)
            Coordinates, or a confusion such as ``query.first``.
        """
        target = self._checked_point(point)
        found = self._found.of(target)
        place = (
            nearest(target, self._extremes.copy())
            if found is None
            else Nearest(found[None], np.ones(1), 0.0)
        )
        return RandomizedClassifier(
            mixture=Mixture(place.shares, self._decision_weights(place.makers)),
            classes=self.classes,
            missing=0.0 if place.missing < 1e-9 else place.missing,
            recalibration=self._recalibration,
            floor=self._floor,
        )

    def _decision_weights(self, directions: FloatArray) -> FloatArray:
        """Return the gains by which the extreme classifier of each direction decides."""
        return self.weights(directions)

    def _checked_point(self, point: Any) -> FloatArray:
        array = check_finite_matrix(point, "point")
        if array.shape == (self.n_classes, self.n_classes):
            return self.coordinates(array)
        if array.shape != (self.dim,):
            raise ShapeError(
                f"point has shape {array.shape}; expected ({self.dim},) coordinates or a "
                f"{self.n_classes}×{self.n_classes} confusion"
            )
        return array

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions (n, k, k) of classifiers that are best for random linear metrics.

        Parameters
        ----------
        n : int
            How many.
        rng : int or generator, optional
            Randomness of the draws.
        """
        count = check_count(n, "n")
        directions = self.sign * _spread(count, self.dim, check_rng(rng))
        tables = self._extreme(directions)
        self._found.keep(self.coordinates(tables), directions)
        return tables

    @cached_property
    def fingerprint(self) -> str:
        """A short text that differs between spaces, to recognise a transcript's own."""
        return self._fingerprint()

    def _fingerprint(self) -> str:
        directions = np.random.default_rng(1).normal(size=(16, self.dim))
        points = self.extreme_points(directions) + 0.0  # no negative zero
        digest = hashlib.sha256()
        digest.update(f"{self.kind} {self.classes.tolist()}".encode())
        digest.update(np.round(points, 9).tobytes())
        return digest.hexdigest()[:16]

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing in a space changes

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_classes} classes, {self.dim} coordinates, "
            f"{len(self.population.proba):,} cells>"
        )


def _spread(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw positive weights over several orders of magnitude."""
    return np.asarray(np.abs(rng.normal(size=(n, dim))) ** 2 * 10 ** rng.uniform(-1, 1, (n, dim)))
