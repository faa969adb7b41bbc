"""Any number of classes: a metric that is quadratic in the error rates."""

from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_flag
from karat.elicit._polynomial import Polynomial
from karat.elicit.search import Brackets, curvature_of_ratios, slope_of
from karat.elicit.spaces import Space

__all__ = ["Quadratic"]


class Quadratic(Polynomial):
    """Elicits ``⟨a, r⟩ + ½ rᵀBr`` of the error rates r, ``‖a‖² + ‖B‖² = 1``.

    Hiranandani 2021, Definition 6.3. ``bisection`` finds q + 2 slopes at places spread over all
    that is attained; antipodal pairs make each exact, and a and B are the null vector of what all
    slopes say (408 questions for three classes). ``published`` is Algorithm 6.1: the slopes in
    small balls around the center and along each axis, and ratios of their entries, with the slips
    of equation 6.18 corrected. ``tol`` is the width of each angle in radians, 0.004 by default.

    Parameters
    ----------
    space : RateSpace
        What classifiers attain.
    diagonal : bool, default False
        Whether B is diagonal: three slopes then determine all weights.
    sparse : bool, default False
        Whether many weights are expected to be 0.
    **options
        Those of every procedure; see `Procedure`.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import MetricOracle, RateSpace
    >>> from karat.metrics import QuadraticMetric
    >>> space = RateSpace.from_density(LogisticLaw.binary(5.0).proba, n_points=2001)
    >>> person = MetricOracle(QuadraticMetric([-1, -2], [[-4, 0], [0, -1]]), flip=0.1, rng=0)
    >>> result = Quadratic(space, rng=0).run(person)
    >>> result.agreement >= 0.95
    True
    """

    default_tol: ClassVar[float] = 0.004

    def __init__(
        self, space: Space, *, diagonal: bool = False, sparse: bool = False, **options: Any
    ) -> None:
        self.diagonal = check_flag(diagonal, "diagonal")
        super().__init__(space, order=2, sparse=sparse, **options)

    def _own_options(self) -> dict[str, Any]:
        return {"diagonal": self.diagonal, "sparse": self.sparse}

    def _recursive_places(self) -> FloatArray:
        """Return the center, a step along every axis, and one back along the first."""
        q, center = self.space.dim, self.space.center
        shifts = 0.9 * self.space.radius * np.vstack([np.zeros(q), np.eye(q), -np.eye(q)[:1]])
        return np.asarray(center + shifts)

    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        if self.strategy != "published" or 0 in self._flat_sites():
            return super()._parameters(angles, brackets)  # no gradient at the center to divide by
        slopes = [slope_of(angles, brackets, self._sites, i) for i in range(len(self._sites))]
        d = slopes[0]
        bend = curvature_of_ratios(slopes, 0.9 * self.space.radius)
        a = d - np.einsum("nij,j->ni", bend, self.space.center)
        rows, columns = np.triu_indices(self.space.dim)
        # the monomials' order: by row; off-diagonal entries count twice
        twice = np.where(rows == columns, 1.0, np.sqrt(2.0))
        return np.hstack([a, bend[:, rows, columns] * twice])
