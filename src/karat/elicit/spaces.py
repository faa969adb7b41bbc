"""Spaces of questions: which confusions classifiers of given probabilities can attain."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from karat._result import frozen_array, keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_count,
    check_finite_matrix,
    check_number,
    check_probabilities,
    check_rng,
    check_same_length,
    check_scores,
    check_weights,
    collected_alone,
    encode_labels,
    order_classes,
    refuse_option,
    require_two_classes,
    shown,
)
from karat.decisions import Mixture, RandomizedClassifier
from karat.decisions.population import Frontier, Point, Population, compressed, order_of_many, taken
from karat.decisions.rules import log_odds, recalibrated
from karat.decisions.solvers import Columns, Nearest, farthest, nearest
from karat.exceptions import DataError, ElicitationError, LabelError, ScoreError, ShapeError
from karat.metrics import LinearFractionalMetric, LinearMetric
from karat.metrics.rates import off_diagonal, with_zero_diagonal
from karat.statistics import RocCounts

# --- What classifiers can attain: the set of confusions that may be asked about.

# How many random classifiers the feasible set is first described by; programs add more.
_FIRST_EXTREMES = 400


class Space(ABC):
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

    population: Population
    classes: AnyArray
    _n_items: int  # before any were joined
    # How the model's probabilities become those of a smoothed space; see `recalibrated`.
    _recalibration: FloatArray | None = None
    _floor: float = 1e-12
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
                Argument("direction"),
                f" has shape {rows.shape}; expected ",
                Expected(f"({self.dim},): {', '.join(self.names)}"),
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
                f"no classifier changes one coordinate alone ({stuck}): the "
                "probabilities hardly vary in some direction",
                Remedy(
                    "Use ",
                    Option("strategy", "active"),
                    ", which asks about pairs that classifiers attain",
                    after=". ",
                ),
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
                Argument("point"),
                f" has shape {array.shape}; expected ",
                Expected(
                    f"({self.dim},) coordinates or a {self.n_classes}×{self.n_classes} confusion"
                ),
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

    @property
    @abstractmethod
    def top(self) -> FloatArray:
        """The greatest value of each coordinate."""

    @abstractmethod
    def weights(self, directions: FloatArray) -> FloatArray:
        """Return the gains (..., k, k) whose expectation is ``⟨direction, coordinates⟩``."""

    def linear_metric(self, weights: FloatArray, name: str | None = None) -> LinearMetric:
        """Return the metric that gives each coordinate a weight of at least 0 (or costs it)."""
        return LinearMetric(self.weights(self.sign * weights), name=name)

    def ratio_metric(
        self, good: FloatArray, bad: FloatArray, name: str | None = None, *, turned: bool = False
    ) -> LinearFractionalMetric:
        """Return ``N / (N + M)`` with ``N = ⟨good, c⟩`` and ``M = ⟨bad, top − c⟩``.

        For errors (sign -1) it is ``-N / (N + M)``. Every linear-fractional metric that meets
        Assumption 3.2 (or 4.3, 4.4) ranks classifiers like one of these; ``turned`` gives the
        metric of someone for whom less of it is better.
        """
        k = self.n_classes
        numerator = self.weights(good)
        # M = ⟨bad, top⟩ − ⟨bad, c⟩, and confusions sum to 1
        denominator = numerator - self.weights(bad) + float(bad @ self.top) * np.ones((k, k))
        sign = -self.sign if turned else self.sign
        return LinearFractionalMetric(sign * numerator, denominator, name=name)

    @classmethod
    @keeps_kind
    def from_proba(
        cls,
        y_true: Column,
        proba: Frame,
        *,
        classes: Column | None = None,
        sample_weight: Column | None = None,
    ) -> Self:
        """Build the space from a sample: decisions by the probabilities, counts of the labels.

        Parameters
        ----------
        y_true : column (n,)
            True labels.
        proba : matrix (n, k)
            Estimated class probabilities, best from data that the model was not fitted to.
        classes : column (k,), optional
            The classes in the order of the columns; by default those found, sorted.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        (codes,), order = encode_labels({"y_true": y_true}, classes)
        require_two_classes(order, "y_true")
        checked = check_probabilities(proba, "proba", classes=order)
        return cls(sample_population(codes, checked, sample_weight), order)

    @classmethod
    @keeps_kind
    def from_calibrated(
        cls,
        proba: Frame,
        *,
        classes: Column | None = None,
        sample_weight: Column | None = None,
    ) -> Self:
        """Build the space from probabilities that are taken as true: no labels needed.

        Parameters
        ----------
        proba : matrix (n, k)
            ``P(Y=i | item)`` of each item, from a calibrated model or a law.
        classes : column (k,), optional
            The classes in the order of the columns; by default 0..k-1.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        proba = collected_alone(proba, "proba", sample_weight)
        order = None if classes is None else check_classes(classes)
        checked = check_probabilities(proba, "proba", classes=order)
        weight = check_weights(sample_weight)
        weight = np.ones(len(checked)) if weight is None else weight
        check_same_length(proba=checked, sample_weight=weight)
        order = np.arange(checked.shape[1]) if order is None else order
        _refuse_constant(checked)
        return cls(Population(checked, checked * (weight / weight.sum())[:, None]), order)

    @classmethod
    def from_density(
        cls,
        proba: Callable[[FloatArray], Any],
        *,
        low: float = -1.0,
        high: float = 1.0,
        density: Callable[[FloatArray], Any] | None = None,
        n_points: int = 20_001,
        classes: Column | None = None,
    ) -> Self:
        """Build the space from a law of one feature that is known exactly.

        Parameters
        ----------
        proba : callable
            Maps an array of x to ``P(Y=i | x)``, shape (n, k), or to ``P(Y=1 | x)``, shape (n,).
        low, high : float
            Ends of the interval on which x lives.
        density : callable, optional
            Density of x up to a constant; uniform by default.
        n_points : int, default 20001
            Number of cells of equal width into which the interval is cut.
        classes : column (k,), optional
            Names of the classes; by default 0..k-1.
        """
        start, end = check_number(low, "low"), check_number(high, "high")
        if start >= end:
            refuse_option(low, "low", f"a number below high, which is {end:g}")
        cells = check_count(n_points, "n_points", at_least=2)
        x = start + (end - start) * (np.arange(cells) + 0.5) / cells
        values = np.asarray(proba(x), dtype=float)
        if values.ndim == 1:
            values = np.column_stack([1.0 - values, values])
        checked = check_probabilities(values, "proba(x)")
        _refuse_constant(checked)
        weight = np.ones(cells) if density is None else np.asarray(density(x), dtype=float)
        if weight.shape != x.shape or not (weight >= 0).all() or weight.sum() <= 0:
            raise DataError("density(x) must be one number of at least 0 per x, not all 0")
        k = checked.shape[1]
        order = np.arange(k) if classes is None else check_classes(classes)
        if len(order) != k:
            raise LabelError(
                Argument("classes"),
                f" names {len(order)} classes and proba(x) has {k} columns",
            )
        return cls(Population(checked, checked * (weight / weight.sum())[:, None]), order)

    def smoothed(self) -> Self:
        """Return the space of the fitted law in place of the sample (Hiranandani 2021, G1).

        A logistic regression of the labels on the log-probabilities replaces the labels, so that
        the boundary has no steps: small differences between queries are then not chance.
        """
        from sklearn.linear_model import LogisticRegression

        if self._recalibration is not None:
            return self  # smoothed already
        population = self.population
        k = len(self.classes)
        # A forest predicts 0 and 1, whose log-odds are infinite. Half the least probability above
        # 0 takes the place of 0, so that these items do not dominate the fit.
        floor = float(population.proba[population.proba > 0].min()) / 2
        features = log_odds(population.proba, floor)
        rows = np.repeat(np.arange(len(features)), k)
        labels = np.tile(np.arange(k), len(features))
        weights = population.mass.ravel() * self._n_items
        seen = weights > 0
        model = LogisticRegression(C=1e4, max_iter=1000)
        model.fit(features[rows[seen]], labels[seen], sample_weight=weights[seen])
        slopes, levels = model.coef_, model.intercept_
        if k == 2:  # scikit-learn keeps the second class's only
            slopes, levels = np.vstack([0 * slopes, slopes]), np.append(0.0, levels)
        matrix = np.column_stack([levels, slopes])
        fitted = recalibrated(population.proba, matrix, floor)
        mass = fitted * population.mass.sum(axis=1, keepdims=True)
        smooth = type(self)(Population(fitted, mass), self.classes)
        smooth._recalibration, smooth._floor = matrix, floor
        return smooth


def _spread(n: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw positive weights over several orders of magnitude."""
    return np.asarray(np.abs(rng.normal(size=(n, dim))) ** 2 * 10 ** rng.uniform(-1, 1, (n, dim)))


class BinarySpace(Space):
    """What thresholds on a score attain, as (true positives, true negatives).

    Hiranandani 2021, Proposition 3.2: a convex set between (0, 1−ζ), where all is predicted
    negative, and (ζ, 0). ``BinarySpace.from_scores(y_true, y_score)`` builds it from a sample,
    ``from_counts`` from the counts of one, ``from_density`` from a law; ``.smoothed()`` removes the
    steps of a sample.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> space.boundary([1, 1]).round(3)
    array([[0.431, 0.069],
           [0.069, 0.431]])
    """

    kind: ClassVar[str] = "binary"
    sign: ClassVar[int] = 1

    def __init__(self, population: Population, classes: AnyArray) -> None:
        if len(classes) != 2:
            raise LabelError(
                f"there are {len(classes)} classes; a BinarySpace is for two. Use DiagonalSpace or "
                "ConfusionSpace"
            )
        super().__init__(population, classes)

    @classmethod
    @keeps_kind
    def from_scores(
        cls,
        y_true: Column,
        y_score: Column,
        *,
        pos_label: Any = None,
        classes: Column | None = None,
        sample_weight: Column | None = None,
    ) -> "BinarySpace":
        """Build the space from the scores of one model.

        Parameters
        ----------
        y_true : column (n,)
            True labels, two classes.
        y_score : column (n,)
            Scores; greater means more likely positive. Probabilities are used as they are; other
            scores only order the items.
        pos_label : label, optional
            The positive class. By default the labels tell it: 1 of 0 and 1, True, or a word such
            as "yes", "spam" or "fraud". Where they do not, `PositiveClassError` says what to pass.
        classes : column (2,), optional
            The two classes, negative first; by default those found.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        (_,), found = encode_labels({"y_true": y_true}, classes)
        if len(found) < 2:
            require_two_classes(found, "y_true")
        order = order_classes(found, pos_label, stated=classes is not None).classes
        (codes,), _ = encode_labels({"y_true": y_true}, order)
        scores = check_scores(y_score)
        check_same_length(y_true=codes, y_score=scores)
        if np.ptp(scores) == 0:
            raise ScoreError(
                Argument("y_score"),
                f" is {scores[0]:g} for every item, so no threshold separates anything "
                "and there is no trade-off to ask about",
                Remedy("pass the scores of a model"),
            )
        second = scores if scores.min() >= 0 and scores.max() <= 1 else _squeezed(scores)
        proba = np.column_stack([1.0 - second, second])
        space = cls(sample_population(codes, proba, sample_weight), order)
        space.calibrated = space.probabilities = bool(second is scores)
        return space

    @classmethod
    def from_counts(cls, counts: RocCounts) -> "BinarySpace":
        """Build the space from positives and negatives at each score, without the rows.

        Parameters
        ----------
        counts : RocCounts
            From `karat.statistics.roc_counts` or the ``roc_counts()`` of a `karat.scan`: the space
            is that of the rows. Of counts in cells, it is what thresholds between cells attain.
        """
        if not isinstance(counts, RocCounts):
            raise DataError(
                Argument("counts"),
                f" is a {type(counts).__name__}; expected ",
                Expected("karat.statistics.roc_counts"),
            )
        if not counts.totals.all():
            raise LabelError(
                Argument("counts"),
                " hold one class only; a trade-off is between two",
            )
        every = np.concatenate([counts.negatives, counts.positives]).astype(np.float64)
        seen = every > 0
        code = np.repeat([0, 1], len(counts.scores))[seen]
        return cls.from_scores(
            counts.classes[code],
            np.tile(counts.scores, 2)[seen],
            classes=counts.classes,
            pos_label=counts.classes[1],
            sample_weight=every[seen],
        )

    def smoothed(self) -> "BinarySpace":
        """Return the space of the fitted law in place of the sample (Hiranandani 2021, G1).

        A logistic regression of the labels on the log-odds of the score replaces the labels, so
        that the boundary has no steps: small differences between queries are then not chance.
        """
        smooth = super().smoothed()
        if smooth is self:
            return self
        if float(np.corrcoef(smooth.population.proba[:, 1], self.population.proba[:, 1])[0, 1]) < 0:
            raise ScoreError(
                Argument("y_score"),
                f" is lower for {self.classes[1]} than for {self.classes[0]}",
                Remedy("pass ", Option("pos_label"), " if the score is of the other class"),
            )
        smooth.probabilities = self.probabilities
        return smooth

    # Whether the scores can be thresholded as probabilities, and whether they were some.
    calibrated: bool = True
    probabilities: bool = True

    @property
    def dim(self) -> int:
        """Number of coordinates: 2."""
        return 2

    @property
    def top(self) -> FloatArray:
        """``(ζ, 1−ζ)``."""
        return np.asarray(self.prior[::-1])

    @property
    def names(self) -> tuple[str, ...]:
        """What each coordinate is, in words."""
        return tuple(f"right about {c}" for c in self.classes[::-1])

    def trade_off(self, i: int, j: int) -> str:
        """Return what the ratio of two weights compares, in words."""
        missed = self.classes[1 - i]
        return f"a missed {missed} against a false {missed}"

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        """Return (true positives, true negatives) of confusions."""
        return np.stack([confusions[..., 1, 1], confusions[..., 0, 0]], axis=-1)

    def confusion(self, points: FloatArray) -> FloatArray:
        """Return the confusions with given true positives and true negatives."""
        tp, tn = points[..., 0], points[..., 1]
        negative = np.stack([tn, self.prior[0] - tn], axis=-1)
        positive = np.stack([self.prior[1] - tp, tp], axis=-1)
        return np.stack([negative, positive], axis=-2)

    def weights(self, directions: FloatArray) -> FloatArray:
        """Return the gains that weigh true positives and true negatives."""
        gains = np.zeros((*directions.shape[:-1], 2, 2))
        gains[..., 1, 1], gains[..., 0, 0] = directions[..., 0], directions[..., 1]
        return gains

    @cached_property
    def frontier(self) -> Frontier:
        """The thresholds, from all negative to all positive."""
        frontier = self.population.thresholds
        if len(frontier.hull) < 3:
            raise ElicitationError(
                "no threshold does better than guessing, so there is no trade-off to ask about; "
                "pass scores that are greater for positives"
            )
        return frontier

    def _extreme(self, directions: FloatArray) -> FloatArray:
        """Return the best vertex of both hulls: exact for a sample too."""
        vertex, turned = self._best_vertices(directions)
        points = self.frontier.upper.points[vertex]
        return self.confusion(np.where(turned[:, None], self.frontier.total - points, points))

    def _best_vertices(self, directions: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return the best vertex of each direction, and whether on the hull turned by 180°."""
        hull, total = self.frontier.upper, self.frontier.total
        above, below = hull.best(directions), hull.best(-directions)
        gain = np.einsum("bc,bc->b", directions, hull.points[above])
        turned = np.einsum("bc,bc->b", directions, total - hull.points[below]) > gain
        return np.where(turned, below, above), turned

    def _decision_weights(self, directions: FloatArray) -> FloatArray:
        """Return gains that put the threshold where the vertex has it.

        The hull counts labels: where it is best to cut need not be where the scores, taken for
        probabilities, would have it.
        """
        if not self.probabilities:
            raise ScoreError(
                Argument("y_score"),
                " has values outside [0, 1], so a classifier of probabilities cannot be given",
                Remedy("pass probabilities to BinarySpace.from_scores"),
            )
        tables = []
        for vertex, turned in zip(*self._best_vertices(directions), strict=True):
            table = self.frontier.rule(int(self.frontier.hull[vertex]))
            tables.append(table[:, ::-1] if turned else table)
        return np.stack(tables)

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions (n, 2, 2) of classifiers that are best for random trade-offs.

        Parameters
        ----------
        n : int
            How many.
        rng : int or generator, optional
            Randomness of the draws.
        """
        low, high = self.frontier.reach
        angle = check_rng(rng).uniform(low, high, size=check_count(n, "n"))
        angle[: min(2, n)] = (0.0, np.pi / 2)[: min(2, n)]  # all positive, and all negative
        return self._extreme(np.column_stack([np.cos(angle), np.sin(angle)]))

    def at_angle(self, angle: float) -> FloatArray:
        """Return the confusion of the threshold ``m₀₀/(m₁₁+m₀₀)`` (Proposition 3.1).

        Parameters
        ----------
        angle : float
            The metric is ``cos(angle)·TP + sin(angle)·TN``; between 0 and π/2, or π and 3π/2.
        """
        if not self.calibrated:
            raise ScoreError(
                "the published algorithm puts thresholds on probabilities and ",
                Argument("y_score"),
                " has values outside [0, 1]; pass probabilities, or use space.smoothed()",
            )
        m11, m00 = np.cos(angle), np.sin(angle)
        with np.errstate(divide="ignore"):
            point = self.frontier.at_threshold(float(np.divide(m00, m11)) if m11 else np.inf)
        gain = point.gain if m11 + m00 >= 0 else self.frontier.total - point.gain
        return self.confusion(gain)

    def confusion_of(self, point: Point) -> FloatArray:
        """Return the confusion of a point of the frontier."""
        return self.confusion(point.gain)

    def classifier(self, point: Any) -> RandomizedClassifier:
        """Return a randomised classifier that attains a point, or comes nearest to it.

        Parameters
        ----------
        point : array (2,) or (2, 2)
            True positives and true negatives, or a confusion such as ``query.first``.
        """
        return super().classifier(point)


def _squeezed(scores: FloatArray) -> FloatArray:
    """Squeeze scores into (0, 1) so that their log-odds are linear in the score."""
    standard = (scores - scores.mean()) / scores.std()
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(standard, -30.0, 30.0))))


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


# --- A memory of the directions by which extreme points were found.

_MOST = 20_000  # points that are remembered, so that memory stays bounded


class FoundDirections:
    """The direction of the linear metric that each extreme point is best for.

    A direction gives the point, but in a sample the point alone does not give the direction back:
    a linear program over mixtures of classifiers is needed. So directions are kept where they are
    known.
    """

    def __init__(self) -> None:
        self._directions: dict[bytes, FloatArray] = {}

    def keep(self, points: FloatArray, directions: FloatArray) -> None:
        """Remember the directions (n, dim) of points (n, dim)."""
        if len(self._directions) < _MOST:
            self._directions.update(zip(map(_key, points), directions, strict=True))

    def of(self, point: FloatArray) -> FloatArray | None:
        """Return the direction by which a point was found; None if it was not."""
        return self._directions.get(_key(point))


def _key(point: FloatArray) -> bytes:
    # Rounded, so that the last digit does not matter; adding 0 turns a negative zero into zero.
    return (point.round(12) + 0.0).tobytes()


# --- Classifiers that need not be best for any costs.


class AnyClassifier:
    """All that is attained, for metrics whose best classifier may lie inside the feasible set.

    A third of the classifiers are best for random costs, a third lie between two that are best for
    costs and gains of any sign, and a third between one of them and guessing.
    """

    def __init__(self, space: Space) -> None:
        self.space = space

    @property
    def dim(self) -> int:
        return self.space.dim

    @property
    def names(self) -> tuple[str, ...]:
        return self.space.names

    @property
    def guess(self) -> FloatArray:
        return self.space.guess

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        return self.space.coordinates(confusions)

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions (n, k, k)."""
        generator = check_rng(rng)
        best = self.space.sample(n, rng=generator)
        some, others = (self.space.boundary(generator.normal(size=(n, self.dim))) for _ in range(2))
        share = generator.random((n, 1, 1))
        kind = (np.arange(n) % 3)[:, None, None]
        between = share * some + (1.0 - share) * others
        mixed = share * np.where(kind == 0, best, some) + (1.0 - share) * self.guess
        return np.asarray(np.where(kind == 0, best, np.where(kind == 1, between, mixed)))


# --- What questions are made from: a space, or whatever serves as one.


class QuestionSpace(Protocol):
    """Confusions that may be asked about, of groups perhaps, and the coordinates of each."""

    @property
    def dim(self) -> int:
        """Number of coordinates."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each coordinate is, in words."""

    @property
    def guess(self) -> FloatArray:
        """The confusion of guessing each class with equal probability."""

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        """Return the coordinates (..., dim) of confusions."""

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions of classifiers that are best for random linear metrics."""


# --- The population of a labelled sample.


def sample_population(
    codes: AnyArray, proba: FloatArray, sample_weight: Column | None
) -> Population:
    """Return the population of a labelled sample."""
    weight = check_weights(sample_weight)
    check_same_length(y_true=codes, proba=proba)
    check_same_length(y_true=codes, sample_weight=weight)
    _refuse_constant(proba)
    rows = order_of_many(proba)
    if rows is not None:
        codes, proba, weight = taken(rows, codes, proba, weight)
    share = 1.0 / len(codes) if weight is None else (weight / weight.sum())[:, None]
    return Population(proba, (codes[:, None] == np.arange(proba.shape[1])) * share)


def _refuse_constant(proba: FloatArray) -> None:
    some = np.ptp(proba[:100], axis=0).max()  # of most models these differ already
    if some < 1e-12 and np.ptp(proba, axis=0).max() < 1e-12:
        raise DataError(
            Argument("proba"),
            " is the same for every item, so classifiers differ by chance alone and "
            "there is no trade-off to ask about",
            Remedy("pass the probabilities of a model that separates the classes"),
        )
