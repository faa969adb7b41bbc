"""How often a metric prefers what a person prefers."""

import math
from dataclasses import dataclass
from typing import Any

from karat._columns import stacked
from karat._result import Result
from karat.limits import Limits

__all__ = ["AgreementOnPairs"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AgreementOnPairs(Result):
    """The share of a person's answers that a metric gives too, and another metric beside it.

    Attributes
    ----------
    agreement : Limits
        The share of the answers "first" and "second" that the metric agrees with (𝓜 of Hiranandani
        2021, equation 8.2, as a share), with exact limits.
    n : int
        Number of answers "first" or "second": what the share is of.
    n_ties, n_skips : int
        Answers that prefer neither side; they are in no share.
    baseline : Limits or None
        The same share for the metric that this one is compared with.
    only_metric, only_baseline : int
        Answers that only the one of both metrics agrees with.
    difference, difference_lower, difference_upper : float
        By how much the metric's share exceeds the baseline's, with limits that hold for any number
        of answers; NaN without a baseline.
    p_value : float
        McNemar's exact two-sided p-value of both metrics being right equally often; NaN without a
        baseline.
    confidence : float
        Probability that the limits hold.
    """

    agreement: Limits
    n: int
    n_ties: int
    n_skips: int
    confidence: float
    baseline: Limits | None = None
    only_metric: int = 0
    only_baseline: int = 0
    difference: float = math.nan
    difference_lower: float = math.nan
    difference_upper: float = math.nan
    p_value: float = math.nan

    def summary(self) -> str:
        """Return the agreement, and how the baseline compares, in one sentence."""
        if self.n == 0:
            return "No answer prefers a side, so there is nothing to agree with."
        text = (
            f"The metric agrees with {_percent(self.agreement.estimate)} of {self.n} answers "
            f"({100 * self.confidence:g} %: {_percent(self.agreement.lower)} to "
            f"{_percent(self.agreement.upper)})"
        )
        if self.n_ties:
            text += f", {self.n_ties} tie{'s' * (self.n_ties > 1)} left out"
        if self.baseline is None:
            return text + "."
        return text + (
            f"; the baseline with {_percent(self.baseline.estimate)}, a difference of "
            f"{100 * self.difference:+.0f} points ({100 * self.difference_lower:+.0f} to "
            f"{100 * self.difference_upper:+.0f}; McNemar's p = {self.p_value:.2g})."
        )

    def _columns(self) -> dict[str, Any]:
        shares = {"metric": self.agreement, "baseline": self.baseline}
        return stacked("name", {name: share for name, share in shares.items() if share is not None})

    def _table(self) -> list[tuple[str, str]]:
        rows = [("answers, ties, skips", f"{self.n}, {self.n_ties}, {self.n_skips}")]
        if self.baseline is not None:
            rows += [
                ("only the metric agrees", str(self.only_metric)),
                ("only the baseline agrees", str(self.only_baseline)),
            ]
        return rows


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
