"""Any number of classes: ratios of linear functions of the right predictions."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import Family, RatioFamily
from karat.elicit.procedure import Procedure
from karat.elicit.search import (
    Brackets,
    Steps,
    face_searches,
    grid_ratio,
    level_set_normals,
    level_set_search,
    ratio_from_level_sets,
    swapped,
    two_centers,
)
from karat.elicit.spaces import DiagonalSpace

__all__ = ["DiagonalLinearFractional"]


class DiagonalLinearFractional(Procedure):
    """Elicits ``N / (N + M)`` over the right predictions of each class.

    Hiranandani 2021, section 4.4.1. ``bisection`` finds the level sets through two points by
    antipodal pairs. ``published`` is Algorithms 4.1, 4.3 and 4.4 as printed, which take the slopes
    of the faces for that of the whole and so keep an error that does not vanish. ``tol`` is the
    width of each angle in radians (of m for ``published``), 0.005 by default.

    Parameters are those of every procedure; see `Procedure`.
    """

    spaces = (DiagonalSpace,)
    least_classes = 3
    curved = True
    straight = False
    default_tol = 0.005
    space: DiagonalSpace

    def _family(self, flipped: bool) -> Family:
        return RatioFamily(self.space, flipped=flipped)

    def _first_brackets(self) -> Brackets:
        n = 2 * (self.space.dim - 1)
        if self.strategy == "published":
            return Brackets.of(0.0, 1.0, n, (0.0, 1.0))
        return Brackets.of(0.0, np.pi / 2, n)

    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        if self.strategy == "published":
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

    def _bisection(self) -> Steps:
        yield from level_set_search(self.space, self._brackets, self.tol)

    def _published(self) -> Steps:
        yield from face_searches(self.space, self._brackets, self.tol)
        half = self.space.dim - 1
        yield from swapped(face_searches(self.space, self._brackets, self.tol, start=half))

    def _estimate(self) -> FloatArray:
        if self.strategy != "published":
            return super()._estimate()
        upper, lower = (row[0] for row in self._slopes(self._brackets.middle[None]))
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
