"""Metrics of all cells of the confusion: linear, a ratio, quadratic or polynomial."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, comb
from typing import ClassVar

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_count, check_flag
from karat.elicit._problems import Problem, Standing
from karat.elicit._problems_slopes import SlopeProblem, flat_sites
from karat.elicit._rate_space import RateSpace
from karat.elicit.families import (
    Family,
    LinearFamily,
    Monomials,
    PolynomialFamily,
    RatioFamily,
    flattened,
)
from karat.elicit.posterior import Brackets
from karat.elicit.search import (
    Site,
    Steps,
    angle_sweep,
    curvature_of_ratios,
    direction,
    grid_ratio,
    informative_places,
    level_set_normals,
    level_set_search,
    null_vectors,
    off_slope,
    ratio_from_level_sets,
    slope_of,
    sphere_cycles,
    swapped,
    two_centers,
)
from karat.elicit.spaces import AnyClassifier, QuestionSpace
from karat.elicit.transcript import Query
from karat.exceptions import ElicitationError


class LinearConfusion(Problem):
    """What every kind of error costs.

    The metric is ``−⟨a, errors⟩`` with ``‖a‖₂ = 1`` (Hiranandani 2021, section 4.3.2).
    ``bisection`` and ``published`` ask about points of a ball inside the feasible set: one sweep
    from the last angle to the first with antipodal pairs (40 questions for three classes), or
    Algorithm 4.2, two cycles with four questions a halving (320). ``tol`` is the width of each
    angle in radians, 0.01 by default.
    """

    has_ratios = True

    def family(self, flipped: bool = False) -> Family:
        return LinearFamily(self.space, flipped=flipped)

    def first_brackets(self) -> Brackets:
        return Brackets.of(0.0, np.pi / 2, self.space.dim - 1)

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        return direction(angles)

    def _pair(self, first: FloatArray, second: FloatArray) -> Query:
        """Ask about two points of the ball, given as vectors of length at most 1."""
        steps = self.space.sign * self.space.radius * np.stack([first, second])
        tables = self.space.confusion(self.space.center + steps)
        return Query(tables[0], tables[1])

    def bisection(self, brackets: Brackets) -> Steps:
        yield from angle_sweep(brackets, self.tol, lambda u: self._pair(u, -u))

    def published(self, brackets: Brackets) -> Steps:
        yield from sphere_cycles(brackets, self.tol, self._pair)


class RatioConfusion(Problem):
    """A ratio of linear functions of every kind of error.

    The metric is ``−N / (N + M)`` (Hiranandani 2021, section 4.4.2). ``bisection`` finds the level
    sets through two points by antipodal pairs; ``published`` is Algorithms 4.2, 4.5 and 4.6 on the
    ball inside the feasible set, where both level sets nearly agree: it cannot tell a ratio from a
    linear metric there. ``tol`` is the width of each angle in radians, 0.005 by default.
    """

    curved = True
    straight = False
    default_tol = 0.005

    def family(self, flipped: bool = False) -> Family:
        return RatioFamily(self.space, flipped=flipped)

    def first_brackets(self) -> Brackets:
        return Brackets.of(0.0, np.pi / 2, 2 * (self.space.dim - 1))

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        upper, lower = level_set_normals(angles, self.space.dim)
        if self.by_paper:
            step = self.space.sign * self.space.radius
            best, worst = self.space.center + step * upper, self.space.center - step * lower
        else:
            best, worst, _ = two_centers(self.space)
        return ratio_from_level_sets(upper, best, lower, worst, self.space.top)

    def bisection(self, brackets: Brackets) -> Steps:
        yield from level_set_search(self.space, brackets, self.tol)

    def published(self, brackets: Brackets) -> Steps:
        yield from self._half(brackets, 0, 1.0)
        yield from swapped(self._half(brackets, self.space.dim - 1, -1.0))

    def _half(self, brackets: Brackets, start: int, side: float) -> Steps:
        """Find the best point of the ball (side 1) or the worst (side -1)."""
        space = self.space

        def pair(first: FloatArray, second: FloatArray) -> Query:
            steps = side * space.sign * space.radius * np.stack([first, second])
            tables = space.confusion(space.center + steps)
            return Query(tables[0], tables[1])

        yield from sphere_cycles(brackets, self.tol, pair, start=start, size=space.dim - 1)

    def estimate(self, brackets: Brackets) -> FloatArray:
        if not self.by_paper:
            return super().estimate(brackets)
        space = self.space
        upper, lower = (row[0] for row in level_set_normals(brackets.middle[None], space.dim))
        step = space.sign * space.radius
        rng = np.random.default_rng(0)
        ball = space.center + step * direction(rng.uniform(0, np.pi / 2, (1000, space.dim - 1)))
        return grid_ratio(
            upper,
            float(upper @ (space.center + step * upper)),
            lower,
            float(lower @ (space.center - step * lower)),
            space.top,
            lambda _: ball,
        )


_TOWARD = 0.9  # of the way from the center to an extreme point; a ball of a tenth is left around it
_SMALL = 2e-3  # radius at which terms of third order no longer matter
_PLACES = 250  # extreme points to choose places from
_MOST_WEIGHTS = 400
_LEAST = 1.0  # times tol: weight of the rows that pull bends toward 0


@dataclass(frozen=True, kw_only=True, eq=False)
class PolynomialRates(SlopeProblem):
    """A metric that is a polynomial of the error rates.

    The metric is ``Σ_n ⟨A_n, r^⊗n⟩ / n!`` of the rates r (Hiranandani 2021, section 6.6). Weights
    have any sign, and norm 1 together. ``bisection`` finds the slope at places spread over all that
    is attained, near extreme classifiers and not within a small ball, which makes the errors five
    to ten times smaller; the weights are the null vector of what all slopes say. ``corrected``
    looks within a ball, at the places that the recursion of section 6.6 leads to. ``tol`` is the
    width of each angle in radians, 0.001 by default.

    Attributes
    ----------
    order : int
        The degree.
    sparse : bool
        Whether many weights are expected to be 0.
    """

    takes: ClassVar[tuple[str, ...]] = ("order", "sparse")
    order: int = 3
    sparse: bool = False

    default_tol: ClassVar[float] = 1e-3
    curved: ClassVar[bool] = False  # the classifiers asked about are mixtures already
    correction: ClassVar[str | None] = (
        "all weights are solved for at once, where section 6.6 only outlines a recursion"
    )
    space: RateSpace

    def __post_init__(self) -> None:
        """Check the options."""
        self._keep(
            order=check_count(self.order, "order", at_least=2),
            sparse=check_flag(self.sparse, "sparse"),
            diagonal=check_flag(self.diagonal, "diagonal"),
        )
        if self._monomials.size > _MOST_WEIGHTS:
            raise ElicitationError(
                f"a polynomial of order {self.order} in {self.space.dim} error rates has "
                f"{self._monomials.size} weights, more than anyone can be asked about; lower the "
                "order, merge classes, or use the quadratic family with diagonal=True"
            )
        super().__post_init__()

    @cached_property
    def _monomials(self) -> Monomials:
        return Monomials(self.space.dim, self.order, diagonal=self.diagonal)

    @cached_property
    def question_space(self) -> QuestionSpace:
        """Classifiers for any costs, and mixtures of them: weights may have any sign."""
        return AnyClassifier(self.space)

    def family(self, flipped: bool = False) -> Family:
        return PolynomialFamily(self.space, self._monomials, sparse=self.sparse)

    @property
    def _largest_system(self) -> int:
        return self._monomials.size

    # --- where slopes are searched

    def _site(self, place: FloatArray, radius: float) -> Site:
        def table(offsets: FloatArray) -> FloatArray:
            return self.space.confusion(place + radius * offsets)

        return Site(table, self.space.dim, self.space.dim, sign=1)

    @cached_property
    def _designs(self) -> list[FloatArray]:
        """Return for each place the matrix that makes the gradient of the weights."""
        return [self._monomials.gradient(place) for place in self._places]

    @cached_property
    def _places(self) -> FloatArray:
        """Return where slopes are searched, the center first."""
        if self.by_paper:
            return self._recursive_places()
        q, center = self.space.dim, self.space.center
        points = self.space.some_extremes[:_PLACES]
        # Extreme points, and those between them: a perfect classifier has few extreme ones.
        between = (points + np.roll(points, 1, axis=0)) / 2
        ways = np.vstack([points, between, points / 2 + between / 2, (points + center) / 2])
        places = np.vstack([center, center + _TOWARD * (ways - center)])
        # The entries of a gradient are polynomials of one degree less.
        bends = Monomials(q, self.order - 1, diagonal=self.diagonal)
        features = np.hstack([np.ones((len(places), 1)), bends.values(places)])
        least = self.order + 1 if self.diagonal else comb(q + self.order - 1, q) + 1
        n = max(least, ceil((self._monomials.size - 1) / (q - 1)))
        return np.asarray(places[informative_places(features[:, None, :], n, first=(0,))])

    def _recursive_places(self) -> FloatArray:
        """Return the center, steps along every axis, and one back; and the same around each."""
        q, ball = self.space.dim, self.space.radius
        places = self.space.center[None]
        for level in range(self.order - 1):
            step = ball * _TOWARD * 0.1**level
            shifts = step * np.vstack([np.zeros(q), np.eye(q), -np.eye(q)[:1]])
            places = (places[:, None, :] + shifts).reshape(-1, q)
        return np.unique(np.round(places, 12), axis=0)

    def _chosen_sites(self) -> Iterator[Site]:
        ball = (1.0 - _TOWARD) * self.space.radius
        radius = ball if self.order == 2 else min(ball, _SMALL)
        return (self._site(place, radius) for place in self._places)

    def _published_sites(self) -> Iterator[Site]:
        radius = self.space.radius * 0.1 ** (self.order - 1)
        return (self._site(place, radius) for place in self._places)

    # --- what slopes say

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        slopes = [slope_of(angles, brackets, self._sites, i) for i in range(len(self._sites))]
        rows = [off_slope(f, design) for f, design in zip(slopes, self._designs, strict=True)]
        # ⟨f, r⟩ and its square have the same slopes: where a linear metric explains them, these
        # rows choose it. They shift other solutions by less than rounding does.
        bends = [len(which) > 1 for which in self._monomials.exponents]
        least = _LEAST * self.tol * np.eye(self._monomials.size)[bends]
        rows.append(np.broadcast_to(least, (len(angles), *least.shape)))
        weights = null_vectors(np.concatenate(rows, axis=1))
        along = sum(
            np.einsum("nq,qd,nd->n", f, design, weights)
            for f, design in zip(slopes, self._designs, strict=True)
        )
        return flattened(np.where(along < 0, -1.0, 1.0)[:, None] * weights, self.sparse)

    def unidentified(self, run: Standing) -> str | None:
        flat = [] if self.strategy == "active" else flat_sites(run.brackets)
        if self.strategy != "active" and not set(run.answers) - {"skip"}:
            return "no question was answered; nothing is known of the metric"
        if not flat:
            return None
        if len(flat) == len(self._sites):
            return (
                "no question made a difference anywhere: the metric is flat, or differences are "
                "too small to see; nothing is known of it"
            )
        where = "the classifier that guesses" if 0 in flat else "a classifier between others"
        return (
            f"the metric is flat at {len(flat)} of {len(self._sites)} places ({where} among them): "
            "no direction made a difference there, which is taken as a gradient of 0"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class QuadraticRates(PolynomialRates):
    """A metric that is quadratic in the error rates.

    The metric is ``⟨a, r⟩ + ½ rᵀBr`` of the rates r with ``‖a‖² + ‖B‖² = 1`` (Hiranandani 2021,
    Definition 6.3). ``bisection`` finds q + 2 slopes at places spread over all that is attained;
    antipodal pairs make each exact, and a and B are the null vector of what all slopes say (408
    questions for three classes). ``corrected`` is Algorithm 6.1: the slopes in small balls around
    the center and along each axis, and ratios of their entries, with the slips of equation 6.18
    corrected. ``tol`` is the width of each angle in radians, 0.004 by default.

    Attributes
    ----------
    diagonal : bool
        Whether B is diagonal: three slopes then determine all weights.
    """

    takes: ClassVar[tuple[str, ...]] = ("diagonal", "sparse")
    order: int = field(default=2, init=False)
    diagonal: bool = False
    default_tol: ClassVar[float] = 0.004
    correction: ClassVar[str | None] = "the slips of equation 6.18 are mended"

    def _recursive_places(self) -> FloatArray:
        """Return the center, a step along every axis, and one back along the first."""
        q, center = self.space.dim, self.space.center
        shifts = 0.9 * self.space.radius * np.vstack([np.zeros(q), np.eye(q), -np.eye(q)[:1]])
        return np.asarray(center + shifts)

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        if not self.by_paper or 0 in flat_sites(brackets):
            return super().parameters(angles, brackets)  # no gradient at the center to divide by
        slopes = [slope_of(angles, brackets, self._sites, i) for i in range(len(self._sites))]
        d = slopes[0]
        bend = curvature_of_ratios(slopes, 0.9 * self.space.radius)
        a = d - np.einsum("nij,j->ni", bend, self.space.center)
        rows, columns = np.triu_indices(self.space.dim)
        # the monomials' order: by row; off-diagonal entries count twice
        twice = np.where(rows == columns, 1.0, np.sqrt(2.0))
        return np.hstack([a, bend[:, rows, columns] * twice])
