"""The curve of classifiers between few errors and small gaps between groups."""

from dataclasses import dataclass

from karat._result import Result
from karat._typing import FloatArray
from karat.elicit.weights._weight_interval import WeightInterval, short

__all__ = ["FairnessFrontier"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FairnessFrontier(Result):
    """What classifiers attain between few errors and small gaps, as the metric sees both.

    Attributes
    ----------
    cost, violation : array (n,)
        The two terms of classifiers on the frontier, from least cost to least violation.
    best : tuple of float
        The terms of the classifier that is best for the elicited metric.
    gap : float
        By how much the elicited metric of another classifier could exceed that of the best one.
    sampled_cost, sampled_violation : array
        The terms of other classifiers that are attained.
    tradeoff : WeightInterval
        λ: along a line of the slope ``−(1−λ)/λ`` the metric is the same.
    """

    cost: FloatArray
    violation: FloatArray
    best: tuple[float, float]
    gap: float
    sampled_cost: FloatArray
    sampled_violation: FloatArray
    tradeoff: WeightInterval

    _COLUMNS = ("cost", "violation")

    def summary(self) -> str:
        """Return what fairness costs in one sentence."""
        return (
            f"From the least cost of errors, {short(self.cost[0])} (violation "
            f"{short(self.violation[0])}), to the least violation, {short(self.violation[-1])} "
            f"(cost {short(self.cost[-1])}); the metric chooses cost {short(self.best[0])}, "
            f"violation {short(self.best[1])}."
        )
