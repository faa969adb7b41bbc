"""Any number of classes: what every kind of error costs."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import Family, LinearFamily
from karat.elicit.procedure import Procedure
from karat.elicit.search import Brackets, Steps, angle_sweep, direction, sphere_cycles
from karat.elicit.spaces import ConfusionSpace, RateSpace
from karat.elicit.transcript import Query

__all__ = ["Linear"]


class Linear(Procedure):
    """Elicits what every kind of error costs.

    The metric is ``−⟨a, errors⟩`` with ``‖a‖₂ = 1`` (Hiranandani 2021, section 4.3.2).
    ``bisection`` and ``published`` ask about points of a ball inside the feasible set: one sweep
    from the last angle to the first with antipodal pairs (40 questions for three classes), or
    Algorithm 4.2, two cycles with four questions a halving (320). ``tol`` is the width of each
    angle in radians, 0.01 by default.

    Parameters are those of every procedure; see `Procedure`.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import ConfusionSpace, MetricOracle
    >>> from karat.metrics import cost_matrix
    >>> space = ConfusionSpace.from_density(LogisticLaw([1, 3, 5]).proba, n_points=2001)
    >>> person = MetricOracle(cost_matrix([[0, 1, 2], [1, 0, 1], [6, 3, 0]]), flip=0.1, rng=0)
    >>> result = Linear(space, rng=0).run(person)
    >>> result.agreement >= 0.95
    True
    """

    has_ratios = True
    spaces = (ConfusionSpace, RateSpace)

    def _family(self, flipped: bool) -> Family:
        return LinearFamily(self.space, flipped=flipped)

    def _first_brackets(self) -> Brackets:
        return Brackets.of(0.0, np.pi / 2, self.space.dim - 1)

    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        return direction(angles)

    def _pair(self, first: FloatArray, second: FloatArray) -> Query:
        """Ask about two points of the ball, given as vectors of length at most 1."""
        steps = self.space.sign * self.space.radius * np.stack([first, second])
        tables = self.space.confusion(self.space.center + steps)
        return Query(tables[0], tables[1])

    def _bisection(self) -> Steps:
        yield from angle_sweep(self._brackets, self.tol, lambda u: self._pair(u, -u))

    def _published(self) -> Steps:
        yield from sphere_cycles(self._brackets, self.tol, self._pair)
