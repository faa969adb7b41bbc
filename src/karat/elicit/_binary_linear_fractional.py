"""Two classes: F-measures, Jaccard and other ratios."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import Family, RatioFamily
from karat.elicit.procedure import Procedure
from karat.elicit.search import (
    Brackets,
    Steps,
    grid_ratio,
    level_set_normals,
    level_set_search,
    ratio_from_level_sets,
    swapped,
    two_centers,
    unimodal,
)
from karat.elicit.spaces import BinarySpace
from karat.elicit.transcript import Query

__all__ = ["BinaryLinearFractional"]


class BinaryLinearFractional(Procedure):
    """Elicits a ratio of linear functions of TP and TN (Hiranandani 2021, section 3.4.2).

    Preferences determine such a metric up to its order only: F1 and Jaccard rank classifiers alike.
    The result is ``N / (N + M)`` with N weighing what is right and M what is wrong. ``bisection``
    finds the level sets through two points by antipodal pairs; ``published`` is Algorithms 3.1, 3.2
    and 3.3. ``tol`` is the width of both angles in radians, 0.005 by default.

    Parameters are those of every procedure; see `Procedure`.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import BinarySpace, MetricOracle
    >>> from karat.metrics import f_beta
    >>> space = BinarySpace.from_density(LogisticLaw.binary(5.0).proba)
    >>> proc = BinaryLinearFractional(space, strategy="bisection")
    >>> result = proc.run(MetricOracle(f_beta(1)))
    >>> result.n_queries, bool(result.intervals[1].estimate < 0.01)
    (18, True)
    """

    spaces = (BinarySpace,)
    curved = True
    straight = False
    default_tol = 0.005
    space: BinarySpace

    def _family(self, flipped: bool) -> Family:
        return RatioFamily(self.space, flipped=flipped)

    def _first_brackets(self) -> Brackets:
        return Brackets.of(0.0, np.pi / 2, 2)

    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        upper, lower = level_set_normals(angles, 2)
        if self.strategy == "published":
            best = self.space.extreme_points(upper)
            worst = self.space.extreme_points(-lower)
            return ratio_from_level_sets(upper, best, lower, worst, self.space.top)
        best_center, worst_center, _ = two_centers(self.space)
        return ratio_from_level_sets(upper, best_center, lower, worst_center, self.space.top)

    def _bisection(self) -> Steps:
        yield from level_set_search(self.space, self._brackets, self.tol)

    def _published(self) -> Steps:
        def above(s: float, t: float) -> Query:
            return Query(self.space.at_angle(s), self.space.at_angle(t))

        def below(s: float, t: float) -> Query:
            return above(np.pi + s, np.pi + t)

        yield from unimodal(self._brackets, 0, self.tol, above)
        yield from swapped(unimodal(self._brackets, 1, self.tol, below))

    def _estimate(self) -> FloatArray:
        if self.strategy != "published":
            return super()._estimate()
        angle, under = self._brackets.middle
        upper = np.array([np.cos(angle), np.sin(angle)])
        lower = np.array([np.cos(under), np.sin(under)])
        best = self.space.coordinates(self.space.at_angle(angle))
        worst = self.space.coordinates(self.space.at_angle(np.pi + under))
        turn = np.linspace(0.0, np.pi / 2, 1000)
        tables = [self.space.at_angle(t + side) for side in (0.0, np.pi) for t in turn]
        points = self.space.coordinates(np.stack(tables))
        return grid_ratio(
            upper, float(upper @ best), lower, float(lower @ worst), self.space.top,
            lambda _: points,
        )  # fmt: skip
