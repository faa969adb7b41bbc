"""Any number of classes: any metric that grows with the right predictions, at its optimum."""

import numpy as np

from karat.elicit._diagonal_linear import DiagonalLinear
from karat.elicit.families import Family, PowerMeanFamily
from karat.elicit.search import Brackets, Steps, unimodal
from karat.elicit.transcript import Query

__all__ = ["DiagonalMonotone"]

# Widths of the windows that the cycles search, the later the narrower and the finer.
_WINDOWS = (1.0, 0.4, 0.2, 0.1)
_MOST_SHIFTS = 3  # of a window whose best value is at its edge


class DiagonalMonotone(DiagonalLinear):
    """Elicits the linear metric that agrees with any monotone metric at its optimum.

    Hiranandani 2021, section 4.4.3. The person may have G-mean in mind, or no formula at all: what
    is found is the weighted accuracy whose best classifier is also best for them. ``bisection``
    climbs along the boundary of what all classifiers attain, one class at a time, two questions a
    halving. ``active`` fits weighted power means of the recalls. ``published`` is Algorithm 4.1,
    which looks at faces, where the metric may slope otherwise than at the optimum. ``tol`` is as
    for `DiagonalLinear`.

    Parameters are those of every procedure; see `Procedure`.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import DiagonalSpace, MetricOracle
    >>> from karat.metrics import g_mean
    >>> space = DiagonalSpace.from_density(LogisticLaw([-4, 1, 5]).proba, n_points=2001)
    >>> result = DiagonalMonotone(space, strategy="bisection").run(MetricOracle(g_mean))
    >>> best = space.boundary(result.metric.weights.diagonal())
    >>> g_mean(best) > 0.5
    True
    """

    straight = False
    has_ratios = False

    @property
    def explains(self) -> bool:
        """Whether every answer is explained: by power means, but not by their slope alone."""
        return self.strategy == "active"

    def _family(self, flipped: bool) -> Family:
        if self.strategy == "active":
            return PowerMeanFamily(self.space, flipped=flipped)
        return super()._family(flipped)

    def _first_brackets(self) -> Brackets:
        return Brackets.of(0.0, 1.0, self.space.dim - 1, (0.0, 1.0))

    def _bisection(self) -> Steps:
        brackets = self._brackets
        # Start where every class is predicted: a metric may be flat where one never is.
        balanced = 1.0 / self.space.prior
        middle = balanced[0] / (balanced[0] + balanced[1:])
        for cycle, window in enumerate(_WINDOWS):
            tol = self.tol * 2.0 ** (len(_WINDOWS) - 1 - cycle)
            for at in range(len(middle)):

                def query(s: float, t: float, at: int = at) -> Query:
                    sides = np.repeat(middle[None], 2, axis=0)
                    sides[:, at] = s, t
                    first, second = self.space.boundary(self._parameters(sides, self._brackets))
                    return Query(first, second)

                yield from self._within(at, float(middle[at]), window, tol, query)
                middle[at] = brackets.middle[at]

    def _within(self, at: int, center: float, window: float, tol: float, query: object) -> Steps:
        """Search a window around a value, and move it as long as the best is at its edge."""
        brackets = self._brackets
        for _ in range(_MOST_SHIFTS):
            low, high = max(0.0, center - window / 2), min(1.0, center + window / 2)
            brackets.reopen(at, low, high)
            yield from unimodal(brackets, at, tol, query, n_questions=2)  # type: ignore[arg-type]
            at_low = brackets.low[at] == low > 0.0
            at_high = brackets.high[at] == high < 1.0
            if not (at_low or at_high):
                return
            center = low if at_low else high

    def _unidentified(self) -> str | None:
        return None
