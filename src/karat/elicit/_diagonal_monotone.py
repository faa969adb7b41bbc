"""Any number of classes: any metric that grows with the right predictions."""

from functools import cached_property

import numpy as np

from karat.elicit._diagonal_linear import DiagonalLinear
from karat.elicit.families import BestForMeans, Family, PowerMeanFamily
from karat.elicit.search import Brackets, Steps, unimodal
from karat.elicit.spaces import QuestionSpace
from karat.elicit.transcript import Query
from karat.metrics import LinearMetric

__all__ = ["DiagonalMonotone"]

# Widths of the windows that the cycles search, the later the narrower and the finer.
_WINDOWS = (1.0, 0.4, 0.2, 0.1)
_MOST_SHIFTS = 3  # of a window whose best value is at its edge


class DiagonalMonotone(DiagonalLinear):
    """Elicits a metric that grows with the right predictions of every class.

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
    ``tol`` is as for `DiagonalLinear`. ``tangent()`` is that linear metric for every strategy.

    Parameters are those of every procedure; see `Procedure`.

    Examples
    --------
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import DiagonalSpace, MetricOracle
    >>> from karat.metrics import g_mean
    >>> space = DiagonalSpace.from_density(LogisticLaw([-4, 1, 5]).proba, n_points=2001)
    >>> procedure = DiagonalMonotone(space, strategy="bisection")
    >>> result = procedure.run(MetricOracle(g_mean))
    >>> best = space.boundary(procedure.tangent().weights.diagonal())
    >>> g_mean(best) > 0.5
    True
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

    def tangent(self) -> LinearMetric:
        """Return the linear metric that agrees with the elicited one at its best classifier.

        It is a weighted accuracy whose best classifier is the elicited metric's too, or one of
        those that mix to it. For ``bisection`` and ``published`` it is the elicited metric. For
        someone to whom less is better (``orientation``) it is minus that of the mirrored metric.
        """
        self._begin()
        draws = self._posterior_draws()
        if isinstance(draws.family, PowerMeanFamily):
            return draws.family.tangent(draws.estimate)
        metric = draws.family.metric(draws.estimate)
        assert isinstance(metric, LinearMetric)
        return metric

    def _family(self, flipped: bool) -> Family:
        if self.strategy == "active":
            return PowerMeanFamily(self.space, flipped=flipped)
        return super()._family(flipped)

    def _n_comparable(self, n: int) -> int:
        return self.space.dim  # the power is no weight

    def _ratio_name(self, i: int, j: int) -> str:
        if self.strategy != "active":
            return super()._ratio_name(i, j)
        names = self._family(flipped=False).names
        return f"{names[i]} against {names[j]}"

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
