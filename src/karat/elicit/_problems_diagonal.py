"""Metrics of the recalls of several classes: linear, a ratio, or any monotone one."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from karat._typing import FloatArray
from karat.elicit._problems import Problem, Standing
from karat.elicit.families import BestForMeans, Family, LinearFamily, PowerMeanFamily, RatioFamily
from karat.elicit.posterior import Brackets
from karat.elicit.search import (
    Steps,
    face_searches,
    grid_ratio,
    halving,
    level_set_normals,
    level_set_search,
    ratio_from_level_sets,
    swapped,
    two_centers,
    unimodal,
)
from karat.elicit.spaces import DiagonalSpace, QuestionSpace
from karat.elicit.transcript import Query


class RatioDiagonal(Problem):
    """A ratio of linear functions of how often each class is predicted rightly.

    The metric is ``N / (N + M)`` (Hiranandani 2021, section 4.4.1). ``bisection`` finds the level
    sets through two points by antipodal pairs. ``published`` is Algorithms 4.1, 4.3 and 4.4 as
    printed, which take the slopes of the faces for that of the whole and so keep an error that does
    not vanish. ``tol`` is the width of each angle in radians (of m for ``published``), 0.005 by
    default.
    """

    least_classes = 3
    curved = True
    straight = False
    default_tol = 0.005
    space: DiagonalSpace

    def family(self, flipped: bool = False) -> Family:
        return RatioFamily(self.space, flipped=flipped)

    def first_brackets(self) -> Brackets:
        n = 2 * (self.space.dim - 1)
        if self.by_paper:
            return Brackets.of(0.0, 1.0, n, (0.0, 1.0))
        return Brackets.of(0.0, np.pi / 2, n)

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        if self.by_paper:
            upper, lower = self._slopes(angles)
            best = self.space.extreme_points(upper)
            worst = self.space.extreme_points(-lower)
        else:
            upper, lower = level_set_normals(angles, self.space.dim)
            best, worst, _ = two_centers(self.space)
        return ratio_from_level_sets(upper, best, lower, worst, self.space.top)

    def _slopes(self, m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the slopes of the upper and the lower hyperplane, each summing to 1."""
        clipped = np.clip(m, 1e-9, 1.0 - 1e-9)
        ratio = (1.0 - clipped) / clipped
        half = self.space.dim - 1
        slopes = []
        for part in (ratio[:, :half], ratio[:, half:]):
            whole = np.hstack([np.ones((len(part), 1)), part])
            slopes.append(whole / whole.sum(axis=1, keepdims=True))
        return slopes[0], slopes[1]

    def bisection(self, brackets: Brackets) -> Steps:
        yield from level_set_search(self.space, brackets, self.tol)

    def published(self, brackets: Brackets) -> Steps:
        yield from face_searches(self.space, brackets, self.tol)
        half = self.space.dim - 1
        yield from swapped(face_searches(self.space, brackets, self.tol, start=half))

    def estimate(self, brackets: Brackets) -> FloatArray:
        if not self.by_paper:
            return super().estimate(brackets)
        upper, lower = (row[0] for row in self._slopes(brackets.middle[None]))
        best = self.space.extreme_points(upper[None])[0]
        worst = self.space.extreme_points(-lower[None])[0]

        def points(j: int) -> FloatArray:
            face, gains = self.space.face(0, j), np.zeros((1000, self.space.dim))
            for row, m in zip(gains, np.linspace(1e-3, 1 - 1e-3, 1000), strict=True):
                row[[0, j]] = face.at_threshold((1.0 - m) / m).gain
            return gains

        return grid_ratio(
            upper, float(upper @ best), lower, float(lower @ worst), self.space.top, points
        )


# Widths of the windows that the cycles search, the later the narrower and the finer.
_WINDOWS = (1.0, 0.4, 0.2, 0.1)
_MOST_SHIFTS = 3  # of a window whose best value is at its edge
_MUCH_HEAVIER = 2.0  # ratio of weights from which the heavier class becomes the reference
_BEYOND = 0.02  # of m: a face that ends so little short of what is still possible may be used


class LinearDiagonal(Problem):
    """What being right about each class is worth.

    The metric is ``Σ a_i · P(Y=i, Ŷ=i)`` with ``Σ a_i = 1`` (Hiranandani 2021, section 4.3.1). A
    pair of classes is compared by classifiers that predict only these two. ``bisection`` asks about
    chords of that face, always where a weight is least known, and measures every class against one
    that its first answers show to be heavy. ``published`` is Algorithm 4.1: against the first
    class, four questions a halving. ``tol`` is the width of ``m = a_ref/(a_ref + a_i)`` and the
    effect of it on any weight, 0.01 by default.
    """

    has_ratios = True
    least_classes = 3
    space: DiagonalSpace

    def family(self, flipped: bool = False) -> Family:
        return LinearFamily(self.space, norm=1, flipped=flipped)

    def _others(self, reference: int) -> list[int]:
        return [c for c in range(self.space.dim) if c != reference]

    def first_brackets(self) -> Brackets:
        n = self.space.dim - 1
        brackets = Brackets.of(0.0, 1.0, n, (0.0, 1.0))
        if not self.by_paper:
            for at, other in enumerate(self._others(0)):
                brackets.low[at], brackets.high[at] = self._distinguishable(0, other)
        return brackets

    def _distinguishable(self, i: int, j: int) -> tuple[float, float]:
        """Return the least and greatest ``m = a_i/(a_i + a_j)`` that the face distinguishes."""
        low, high = self.space.face(i, j).reach
        return float(1.0 / (1.0 + np.tan(high))), float(1.0 / (1.0 + np.tan(low)))

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        m = np.clip(angles, 1e-9, 1.0 - 1e-9)
        weights = np.ones((len(m), self.space.dim))
        weights[:, self._others(brackets.reference)] = (1.0 - m) / m
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def published(self, brackets: Brackets) -> Steps:
        yield from face_searches(self.space, brackets, self.tol)

    def bisection(self, brackets: Brackets) -> Steps:
        # As many questions as halving every bracket to tol takes, each where it tells most.
        halvings = np.ceil(np.log2(np.maximum((brackets.high - brackets.low) / self.tol, 1.0)))
        for at in range(len(brackets.low)):
            yield from self._halve(brackets, at)
        self._refer_to_the_heaviest(brackets)
        stuck: set[int] = set()
        for _ in range(int(halvings.sum()) - len(brackets.low)):
            effect = np.array([self._effect(brackets, at) for at in range(len(brackets.low))])
            effect[list(stuck)] = 0.0
            at = int(np.argmax(effect))
            if effect[at] <= self.tol:
                return
            before = brackets.width(at)
            yield from self._halve(brackets, at)
            if brackets.width(at) == before:  # skipped: no question about this pair helps
                stuck.add(at)

    def _halve(self, brackets: Brackets, at: int) -> Steps:
        """Halve one bracket by one question (and others in its place if it is skipped)."""
        reference = brackets.reference
        other = self._others(reference)[at]
        face = self.space.face(reference, other)

        def ask(m: float) -> Query | None:
            chord = face.chord(np.array([m, 1.0 - m]))
            if chord is None:
                return None
            pair = (chord.toward_i, chord.toward_j)  # i is the reference, with weight m
            first, second = (self.space.face_confusion(reference, other, p) for p in pair)
            return Query(first, second)

        yield from halving(brackets, at, brackets.width(at) * 0.9, ask)

    def _effect(self, brackets: Brackets, at: int) -> float:
        """Return how much any weight can still change with one bracket."""
        ends = np.repeat(brackets.middle[None], 2, axis=0)
        ends[:, at] = brackets.low[at], brackets.high[at]
        weights = self.parameters(ends, brackets)
        return float(np.abs(np.diff(weights, axis=0)).max())

    def _refer_to_the_heaviest(self, brackets: Brackets) -> None:
        """Measure against the class that looks heaviest: against a light one, errors blow up.

        Only where the faces of the heavy class distinguish all ratios that are still possible: a
        ratio that the face of one pair distinguishes may lie beyond those of another's.
        """
        old = brackets.reference
        ratio = (1.0 - brackets.middle) / brackets.middle
        new = self._others(old)[int(np.argmax(ratio))]
        if ratio.max() <= _MUCH_HEAVIER:
            return
        least = (1.0 - brackets.high) / brackets.high
        most = (1.0 - brackets.low) / brackets.low
        ratios = dict(zip(self._others(old), zip(least, most, strict=True), strict=True))
        answered = dict(zip(self._others(old), brackets.answered, strict=True))
        ratios[old], answered[old] = (1.0, 1.0), np.ones(2)
        implied, known = [], []
        for other in self._others(new):
            low = 1.0 / (1.0 + ratios[other][1] / ratios[new][0])
            high = 1.0 / (1.0 + ratios[other][0] / ratios[new][1])
            limits = self._distinguishable(new, other)
            if not (limits[0] - _BEYOND <= low and high <= limits[1] + _BEYOND):
                return
            implied.append((max(low, limits[0]), min(high, limits[1])))
            known.append(
                answered[other] * answered[new][::-1] * (limits[0] <= low, high <= limits[1])
            )
        brackets.low[:], brackets.high[:] = np.transpose(implied)
        brackets.answered[:] = known
        brackets.reference = new

    def unidentified(self, run: Standing) -> str | None:
        if self.strategy == "active":
            return None
        brackets, reference = run.brackets, run.brackets.reference
        flat = [
            f"{self.space.classes[reference]} and {self.space.classes[other]}"
            for at, other in enumerate(self._others(reference))
            if _at_the_end(brackets, at, self._distinguishable(reference, other))
        ]
        if not flat:
            return None
        return (
            f"the weights of {'; of '.join(flat)} cannot be told apart beyond the ratios that "
            "these data distinguish: one class of the pair is then always predicted, whatever the "
            "weights. Only a limit of their ratio is known"
        )


def _at_the_end(brackets: Brackets, at: int, limits: tuple[float, float]) -> bool:
    # A bracket that still holds the end of what can be told apart may extend beyond it.
    low, high = brackets.low[at], brackets.high[at]
    return bool(low <= limits[0] > 1e-3 or high >= limits[1] < 1 - 1e-3)


class MonotoneDiagonal(LinearDiagonal):
    """A metric that grows with the right predictions of every class.

    The person may have the G-mean in mind, or no formula at all. ``active`` fits weighted power
    means of the recalls, from weighted means to the class that is found least, and returns one as a
    `PowerMeanMetric`; the agreement it predicts is that metric's. Classifiers that are asked about
    are best for random linear metrics or for random power means: only the latter are sure to find
    every class.

    ``bisection`` and ``published`` return the linear metric that agrees with the person's at its
    optimum (Hiranandani 2021, section 4.4.3): its best classifier is also best for them. Elsewhere
    the two may differ, so that the agreement is NaN. ``bisection`` climbs along the boundary of
    what all classifiers attain, one class at a time, two questions a halving. ``published`` is
    Algorithm 4.1, which looks at faces, where the metric may slope otherwise than at the optimum.
    ``tol`` is as for `LinearDiagonal`. ``tangent()`` is that linear metric for every strategy.
    """

    straight = False
    has_ratios = False

    @property
    def explains(self) -> bool:
        """Whether every answer is explained: by power means, but not by their slope alone."""
        return self.strategy == "active"

    @property
    def predicts(self) -> bool:
        """Whether the agreement can be told: a slope at the optimum says nothing of other pairs."""
        return self.strategy == "active"

    @cached_property
    def question_space(self) -> QuestionSpace:
        """Where questions are asked: ``active`` has classifiers that find every class, too."""
        return BestForMeans(self.space) if self.strategy == "active" else self.space

    def family(self, flipped: bool = False) -> Family:
        if self.strategy == "active":
            return PowerMeanFamily(self.space, flipped=flipped)
        return super().family(flipped)

    def n_comparable(self, n: int) -> int:
        return self.space.dim  # the power is no weight

    def ratio_name(self, i: int, j: int) -> str:
        if self.strategy != "active":
            return super().ratio_name(i, j)
        names = self.family().names
        return f"{names[i]} against {names[j]}"

    def first_brackets(self) -> Brackets:
        return Brackets.of(0.0, 1.0, self.space.dim - 1, (0.0, 1.0))

    def bisection(self, brackets: Brackets) -> Steps:
        # Start where every class is predicted: a metric may be flat where one never is.
        balanced = 1.0 / self.space.prior
        middle = balanced[0] / (balanced[0] + balanced[1:])
        for cycle, window in enumerate(_WINDOWS):
            tol = self.tol * 2.0 ** (len(_WINDOWS) - 1 - cycle)
            for at in range(len(middle)):

                def query(s: float, t: float, at: int = at) -> Query:
                    sides = np.repeat(middle[None], 2, axis=0)
                    sides[:, at] = s, t
                    first, second = self.space.boundary(self.parameters(sides, brackets))
                    return Query(first, second)

                yield from _within(brackets, at, (float(middle[at]), window), tol, query)
                middle[at] = brackets.middle[at]

    def unidentified(self, run: Standing) -> str | None:
        return None


def _within(
    brackets: Brackets,
    at: int,
    window: tuple[float, float],
    tol: float,
    query: Callable[[float, float], Query],
) -> Steps:
    """Search a window (its center and width), and move it as long as the best is at its edge."""
    center, width = window
    for _ in range(_MOST_SHIFTS):
        low, high = max(0.0, center - width / 2), min(1.0, center + width / 2)
        brackets.reopen(at, low, high)
        yield from unimodal(brackets, at, tol, query, n_questions=2)
        at_low = brackets.low[at] == low > 0.0
        at_high = brackets.high[at] == high < 1.0
        if not (at_low or at_high):
            return
        center = low if at_low else high
