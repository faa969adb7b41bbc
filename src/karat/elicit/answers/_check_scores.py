"""How checks among the questions were answered."""

import math
from dataclasses import dataclass
from typing import Any

from karat._columns import stacked
from karat._result import Result
from karat.limits import Limits

__all__ = ["CheckScores"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CheckScores(Result):
    """Whether a person reads the questions, and means what they answer.

    Attributes
    ----------
    attention : Limits
        Share of dominated pairs of which the better side was preferred, with exact limits.
    consistency : Limits
        Share of repeated questions that were answered as before, with exact limits.
    n_right, n_dominated : int
        Dominated pairs answered rightly, and all that were answered.
    n_same, n_repeated : int
        Repeated questions answered as before, and all that were answered both times.
    n_skipped : int
        Checks that were skipped, or whose question was skipped the first time.
    n_unmatched : int
        Repeats of a question that is not among the answers.
    confidence : float
        Probability that the limits hold.
    """

    attention: Limits
    consistency: Limits
    n_right: int
    n_dominated: int
    n_same: int
    n_repeated: int
    n_skipped: int
    n_unmatched: int
    confidence: float

    def summary(self) -> str:
        """Return both shares in one sentence."""
        parts = [
            _said(self.n_right, self.n_dominated, "dominated pair", "rightly", self.attention),
            _said(self.n_same, self.n_repeated, "repeated question", "as before", self.consistency),
        ]
        if math.isnan(self.attention.estimate) and math.isnan(self.consistency.estimate):
            return "There is no check among the answers."
        return "; ".join(part for part in parts if part) + "."

    def _columns(self) -> dict[str, Any]:
        return stacked("name", {"attention": self.attention, "consistency": self.consistency})

    def _table(self) -> list[tuple[str, str]]:
        return [
            (name, f"{share.estimate:.2f} ({share.lower:.2f} to {share.upper:.2f})")
            for name, share in (("attention", self.attention), ("consistency", self.consistency))
            if not math.isnan(share.estimate)
        ]


def _said(count: int, n: int, what: str, how: str, share: Limits) -> str:
    if not n:
        return ""
    return (
        f"{count} of {n} {what}s answered {how} ({100 * share.confidence:g} %: "
        f"{100 * share.lower:.0f} to {100 * share.upper:.0f} %)"
    )
