"""Any number of classes: ratios of linear functions of the errors."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import Family, RatioFamily
from karat.elicit.procedure import Procedure
from karat.elicit.search import (
    Brackets,
    Steps,
    direction,
    grid_ratio,
    level_set_normals,
    level_set_search,
    ratio_from_level_sets,
    sphere_cycles,
    swapped,
    two_centers,
)
from karat.elicit.spaces import ConfusionSpace, RateSpace
from karat.elicit.transcript import Query

__all__ = ["LinearFractional"]


class LinearFractional(Procedure):
    """Elicits ``−N / (N + M)`` over every kind of error (Hiranandani 2021, section 4.4.2).

    ``bisection`` finds the level sets through two points by antipodal pairs; ``published`` is
    Algorithms 4.2, 4.5 and 4.6 on the ball inside the feasible set, where both level sets nearly
    agree: it cannot tell a ratio from a linear metric there. ``tol`` is the width of each angle in
    radians, 0.005 by default.

    Parameters are those of every procedure; see `Procedure`.
    """

    spaces = (ConfusionSpace, RateSpace)
    curved = True
    straight = False
    default_tol = 0.005

    def _family(self, flipped: bool) -> Family:
        return RatioFamily(self.space, flipped=flipped)

    def _first_brackets(self) -> Brackets:
        return Brackets.of(0.0, np.pi / 2, 2 * (self.space.dim - 1))

    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        upper, lower = level_set_normals(angles, self.space.dim)
        if self.strategy == "published":
            step = self.space.sign * self.space.radius
            best, worst = self.space.center + step * upper, self.space.center - step * lower
        else:
            best, worst, _ = two_centers(self.space)
        return ratio_from_level_sets(upper, best, lower, worst, self.space.top)

    def _bisection(self) -> Steps:
        yield from level_set_search(self.space, self._brackets, self.tol)

    def _published(self) -> Steps:
        yield from self._half(0, 1.0)
        yield from swapped(self._half(self.space.dim - 1, -1.0))

    def _half(self, start: int, side: float) -> Steps:
        """Find the best point of the ball (side 1) or the worst (side -1)."""
        space = self.space

        def pair(first: FloatArray, second: FloatArray) -> Query:
            steps = side * space.sign * space.radius * np.stack([first, second])
            tables = space.confusion(space.center + steps)
            return Query(tables[0], tables[1])

        yield from sphere_cycles(self._brackets, self.tol, pair, start=start, size=space.dim - 1)

    def _estimate(self) -> FloatArray:
        if self.strategy != "published":
            return super()._estimate()
        space = self.space
        upper, lower = (row[0] for row in level_set_normals(self._brackets.middle[None], space.dim))
        step = space.sign * space.radius
        rng = np.random.default_rng(0)
        ball = space.center + step * direction(rng.uniform(0, np.pi / 2, (1000, space.dim - 1)))
        return grid_ratio(
            upper, float(upper @ (space.center + step * upper)),
            lower, float(lower @ (space.center - step * lower)),
            space.top, lambda _: ball,
        )  # fmt: skip
