"""How errors are traded against gaps between groups."""

from dataclasses import dataclass
from typing import Any

from karat._columns import stacked
from karat._result import Result
from karat._typing import FloatArray
from karat.elicit.weights._weight_interval import WeightInterval, interval_row, short

__all__ = ["TradeOff"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TradeOff(Result):
    """How errors are traded against gaps between groups.

    Attributes
    ----------
    tradeoff : WeightInterval
        λ, the share of the violation: 0 if only errors count, 1 if only gaps do.
    worth : WeightInterval
        How many points of every error rate a gap between groups is worth; its name says which gap.
    draws : array (n,)
        λ of metrics that fit the answers.
    """

    tradeoff: WeightInterval
    worth: WeightInterval
    draws: FloatArray

    def summary(self) -> str:
        """Return the trade-off in one sentence."""
        low, high = short(self.worth.lower), short(self.worth.upper)
        return (
            f"{self.worth.name[:1].upper()}{self.worth.name[1:]} is worth "
            f"{short(self.worth.estimate)} points of error rate (95 %: {low}–{high})."
        )

    def _columns(self) -> dict[str, Any]:
        return stacked("of", {"tradeoff": self.tradeoff, "worth": self.worth})

    def _table(self) -> list[tuple[str, str]]:
        return [interval_row(self.tradeoff)]
