"""Two classes: true positives and true negatives."""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from karat._frames import keeps_kind
from karat._typing import AnyArray, BoolArray, Column, FloatArray, IntArray
from karat._validate import (
    binary_order,
    check_count,
    check_rng,
    check_same_length,
    check_scores,
    encode_labels,
    require_two_classes,
)
from karat.decisions import RandomizedClassifier
from karat.decisions.populations import Frontier, Point, Population
from karat.elicit.spaces._space import Space
from karat.elicit.spaces._space_sources import sample_population
from karat.exceptions import DataError, ElicitationError, LabelError, ScoreError
from karat.statistics import RocCounts

__all__ = ["BinarySpace"]


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
            The positive class; by default the larger label.
        classes : column (2,), optional
            The two classes, negative first; by default those found, sorted.
        sample_weight : column (n,), optional
            Weights of at least 0.
        """
        (_,), found = encode_labels({"y_true": y_true}, classes)
        if len(found) < 2:
            require_two_classes(found, "y_true")
        order = binary_order(found, pos_label)
        (codes,), _ = encode_labels({"y_true": y_true}, order)
        scores = check_scores(y_score)
        check_same_length(y_true=codes, y_score=scores)
        if np.ptp(scores) == 0:
            raise ScoreError(
                f"y_score is {scores[0]:g} for every item, so no threshold separates anything and "
                "there is no trade-off to ask about; pass the scores of a model"
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
                f"counts is a {type(counts).__name__}; expected karat.statistics.roc_counts"
            )
        if not counts.totals.all():
            raise LabelError("counts hold one class only; a trade-off is between two")
        every = np.concatenate([counts.negatives, counts.positives]).astype(np.float64)
        seen = every > 0
        code = np.repeat([0, 1], len(counts.scores))[seen]
        return cls.from_scores(
            counts.classes[code], np.tile(counts.scores, 2)[seen], classes=counts.classes,
            pos_label=counts.classes[1], sample_weight=every[seen],
        )  # fmt: skip

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
                f"y_score is lower for {self.classes[1]} than for {self.classes[0]}; pass "
                "pos_label= if the score is of the other class"
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
                "y_score has values outside [0, 1], so a classifier of probabilities cannot be "
                "given; pass probabilities to BinarySpace.from_scores"
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
                "the published algorithm puts thresholds on probabilities and y_score has values "
                "outside [0, 1]; pass probabilities, or use space.smoothed()"
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
