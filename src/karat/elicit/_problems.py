"""What differs between one space and family of metrics and another: the prior and the searches.

A `Problem` is a value: a family of metrics on a space, with its options. `Elicitation` drives it.
It knows no answers: a search narrows the `Brackets` that it is given. Those of two classes are here
too; they are the shortest, to be read first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.elicit.asking import ActiveSearch
from karat.elicit.families import Family, LinearFamily, RatioFamily
from karat.elicit.posterior import Brackets
from karat.elicit.search import (
    Steps,
    grid_ratio,
    halving,
    level_set_normals,
    level_set_search,
    ratio_from_level_sets,
    swapped,
    two_centers,
    unimodal,
)
from karat.elicit.spaces import BinarySpace, QuestionSpace, Space
from karat.elicit.transcript import Query


class Standing(NamedTuple):
    """Where a run stands, for what its answers leave arbitrary."""

    brackets: Brackets
    search: ActiveSearch | None  # of strategy "active"
    answers: tuple[str, ...]
    worst_rate: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem(ABC):
    """A family of metrics on a space: its prior, its searches, and what brackets say of it.

    Attributes
    ----------
    space : Space
        What classifiers attain.
    strategy : str
        How questions are chosen.
    tol : float
        Width at which searches stop halving.
    """

    space: Space
    strategy: str
    tol: float
    default_tol: ClassVar[float] = 0.01
    takes: ClassVar[tuple[str, ...]] = ()  # options that only some families take
    oriented: ClassVar[bool] = True  # whether less may be better: ``orientation``
    least_classes: ClassVar[int] = 2
    curved: ClassVar[bool] = False  # whether questions inside the feasible set say more
    wider: ClassVar[str | None] = None  # the wider family on the same space, if there is one
    wider_options: ClassVar[tuple[str, ...]] = ()  # of its own, that the wider family has too
    has_ratios: ClassVar[bool] = False  # whether the weights are costs that can be compared
    straight: ClassVar[bool] = True  # whether the metric is linear: opposite points then find it
    # What "corrected" changes of the printed algorithm; None where both words say the same.
    correction: ClassVar[str | None] = None

    def _keep(self, **checked: Any) -> None:
        """Keep options as they are after they were checked; for ``__post_init__`` alone."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def by_paper(self) -> bool:
        """Whether questions are those of Hiranandani 2021."""
        return self.strategy in ("published", "corrected")

    @property
    def question_space(self) -> QuestionSpace:
        """Where questions are asked: the space, unless groups are compared."""
        return self.space

    @property
    def options(self) -> dict[str, Any]:
        """The options that only some families take, as plain data."""
        return {name: getattr(self, name) for name in self.takes}

    @abstractmethod
    def family(self, flipped: bool = False) -> Family:
        """Return the family of metrics that is elicited: the prior of ``active``."""

    @abstractmethod
    def published(self, brackets: Brackets) -> Steps:
        """Ask as the published algorithm does, narrowing the brackets."""

    @abstractmethod
    def bisection(self, brackets: Brackets) -> Steps:
        """Ask one question for each halving, narrowing the brackets."""

    @abstractmethod
    def first_brackets(self) -> Brackets:
        """Return what is known of the angles before anything is asked."""

    @abstractmethod
    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        """Return the parameters (n, size) of the family for angles (n, brackets)."""

    def estimate(self, brackets: Brackets) -> FloatArray:
        """Return the parameters that the brackets point at."""
        angles = brackets.estimate(2 * self.tol)[None]
        return np.asarray(self.parameters(angles, brackets)[0])

    @property
    def explains(self) -> bool:
        """Whether the metric found is meant to explain every answer, and not only some of them."""
        # the published grid searches keep an error of their own, which is not the person's
        return self.straight or not self.by_paper

    @property
    def predicts(self) -> bool:
        """Whether what is known tells how often the metric agrees with the person."""
        return True

    def ratio_name(self, i: int, j: int) -> str:
        """Return what the ratio of two weights compares, in words."""
        return self.space.trade_off(i, j)

    def n_comparable(self, n: int) -> int:
        """Return how many of n weights can be compared with each other."""
        return n

    def affordable(self, draws: int) -> int:
        """Return how many metrics to draw where ``draws`` are wanted: fewer if each takes long."""
        return draws

    def wider_family(self) -> Family | None:
        """Return a family that holds metrics which this one misses; None if there is none."""
        return None

    def unidentified(self, run: Standing) -> str | None:
        """Return a sentence on what the answers leave arbitrary; None if nothing."""
        return None


# --- Metrics of two classes: linear ones, and ratios.

_MOSTLY = 0.5  # share of the posterior beyond an end at which to warn


class LinearBinary(Problem):
    """What a true positive is worth in true negatives.

    The metric is ``cos θ · TP + sin θ · TN`` (Hiranandani 2021, section 3.4.1). ``bisection`` asks
    one question a halving: the two ends of a chord of the boundary that the middle direction values
    alike. ``published`` is Algorithm 3.1, four questions a halving. ``tol`` is the width of θ in
    radians, 0.02 by default.
    """

    has_ratios = True
    default_tol = 0.02
    space: BinarySpace

    def family(self, flipped: bool = False) -> Family:
        return LinearFamily(self.space, flipped=flipped)

    def first_brackets(self) -> Brackets:
        if self.by_paper:
            return Brackets.of(0.0, np.pi / 2, 1)
        low, high = self.space.frontier.reach
        return Brackets.of(low, high, 1)

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        return np.column_stack([np.cos(angles[:, 0]), np.sin(angles[:, 0])])

    def published(self, brackets: Brackets) -> Steps:
        def query(s: float, t: float) -> Query:
            return Query(self.space.at_angle(s), self.space.at_angle(t))

        yield from unimodal(brackets, 0, self.tol, query)

    def bisection(self, brackets: Brackets) -> Steps:
        def ask(angle: float) -> Query | None:
            chord = self.space.frontier.chord(np.array([np.cos(angle), np.sin(angle)]))
            if chord is None:
                return None
            # Whoever has the greater angle cares more for true negatives.
            return Query(
                self.space.confusion_of(chord.toward_j), self.space.confusion_of(chord.toward_i)
            )

        yield from halving(brackets, 0, self.tol, ask)

    def unidentified(self, run: Standing) -> str | None:
        low, high = self.space.frontier.reach
        if run.search is None:
            near = max(run.brackets.width(0), 1e-9)
            at = float(run.brackets.middle[0])
            return _same_classifier(self.space, at - near <= low, at + near >= high)
        particles = run.search.posterior
        angle = np.arctan2(particles.parameters[:, 1], particles.parameters[:, 0])

        def beyond(low: float, high: float) -> list[bool]:
            sides = (angle < low, angle > high)
            return [float(particles.shares @ side) > _MOSTLY for side in sides]

        words = _same_classifier(self.space, *beyond(low, high))
        if words is not None:
            return words
        low, high = run.search.goal.reach
        at_low, at_high = beyond(low, high)
        if not (at_low or at_high):
            return None
        edge = f"more than {1 / np.tan(low):.3g}" if at_low else f"less than {1 / np.tan(high):.3g}"
        words = (
            f"everyone for whom a missed {self.space.classes[1]} costs {edge} false ones gives the "
            "same answers"
        )
        if run.worst_rate >= 1.0:
            return f"{words} to all questions that this space has: they cannot be told apart here"
        return (
            f"{words} as long as no classifier is shown that is wrong on more than "
            f"{run.worst_rate:g} of a class; a greater worst_rate may tell them apart"
        )


def _same_classifier(space: BinarySpace, at_low: bool, at_high: bool) -> str | None:
    """Return a sentence on trade-offs with the same best classifier, if the answers lead there."""
    low, high = space.frontier.reach
    negative, positive = space.classes
    if at_low and low > 1e-3:
        return (
            f"all trade-offs where a missed {positive} costs more than {1 / np.tan(low):.3g} false "
            f"ones lead to predicting {positive} for everything: they cannot be told apart here"
        )
    if at_high and high < np.pi / 2 - 1e-3:
        return (
            f"all trade-offs where a missed {positive} costs less than {1 / np.tan(high):.3g} "
            f"false ones lead to predicting {negative} for everything: they cannot be told apart "
            "here"
        )
    return None


class RatioBinary(Problem):
    """A ratio of linear functions of true positives and true negatives, such as F1.

    Hiranandani 2021, section 3.4.2. Preferences determine such a metric up to its order only: F1
    and Jaccard rank classifiers alike. The result is ``N / (N + M)`` with N weighing what is right
    and M what is wrong. ``bisection`` finds the level sets through two points by antipodal pairs;
    ``published`` is Algorithms 3.1, 3.2 and 3.3. ``tol`` is the width of both angles in radians,
    0.005 by default.
    """

    curved = True
    straight = False
    default_tol = 0.005
    space: BinarySpace

    def family(self, flipped: bool = False) -> Family:
        return RatioFamily(self.space, flipped=flipped)

    def first_brackets(self) -> Brackets:
        return Brackets.of(0.0, np.pi / 2, 2)

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        upper, lower = level_set_normals(angles, 2)
        if self.by_paper:
            best = self.space.extreme_points(upper)
            worst = self.space.extreme_points(-lower)
            return ratio_from_level_sets(upper, best, lower, worst, self.space.top)
        best_center, worst_center, _ = two_centers(self.space)
        return ratio_from_level_sets(upper, best_center, lower, worst_center, self.space.top)

    def bisection(self, brackets: Brackets) -> Steps:
        yield from level_set_search(self.space, brackets, self.tol)

    def published(self, brackets: Brackets) -> Steps:
        def above(s: float, t: float) -> Query:
            return Query(self.space.at_angle(s), self.space.at_angle(t))

        def below(s: float, t: float) -> Query:
            return above(np.pi + s, np.pi + t)

        yield from unimodal(brackets, 0, self.tol, above)
        yield from swapped(unimodal(brackets, 1, self.tol, below))

    def estimate(self, brackets: Brackets) -> FloatArray:
        if not self.by_paper:
            return super().estimate(brackets)
        angle, under = brackets.middle
        upper = np.array([np.cos(angle), np.sin(angle)])
        lower = np.array([np.cos(under), np.sin(under)])
        best = self.space.coordinates(self.space.at_angle(angle))
        worst = self.space.coordinates(self.space.at_angle(np.pi + under))
        turn = np.linspace(0.0, np.pi / 2, 1000)
        tables = [self.space.at_angle(t + side) for side in (0.0, np.pi) for t in turn]
        points = self.space.coordinates(np.stack(tables))
        return grid_ratio(
            upper,
            float(upper @ best),
            lower,
            float(lower @ worst),
            self.space.top,
            lambda _: points,
        )
