"""What several people want, together and each."""

from dataclasses import dataclass
from typing import Any

from karat._result import Result
from karat._typing import FloatArray
from karat.elicit.people._mixing import LEAST_DRAWS, MOST_R_HAT
from karat.elicit.weights import (
    TradeOff,
    WeightInterval,
    WeightTable,
    interval_columns,
    interval_row,
)
from karat.metrics import MetricBase

__all__ = ["SharedMetric"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SharedMetric(Result):
    """What several people want, together and each.

    Attributes
    ----------
    metric : Metric
        The metric in the middle of all people.
    intervals : tuple of WeightInterval
        Its weights, with limits.
    ratios : tuple of WeightInterval
        Ratios of its weights, as in `ElicitationResult`.
    spreads : tuple of WeightInterval
        How far people typically are from what is shared, for each part of the metric: the factor of
        weights (1 if all want the same) or of the worth of gaps between groups, the distance of
        powers or correlations (0), or the angle between weights of any sign.
    next_person : tuple of WeightInterval
        The weights of a person who was not asked.
    people : tuple of tuples of WeightInterval
        The weights of each person, drawn toward what is shared by as much as their own answers
        leave open.
    people_ratios : tuple of tuples of WeightInterval
        The ratios of the weights of each person, and last what gaps between groups are worth to
        them where groups are compared.
    names : tuple of str
        What each weight is, in words.
    people_names : tuple
        What each person is called, as it was passed.
    draws : array (n, weights)
        Draws of the shared weights.
    agreement : float
        Share of random pairs on which two people who were asked agree, in expectation.
    procedure : str
        The procedure that all of them were asked by.
    r_hat, effective_draws : float
        Whether the chains mixed: the greatest R-hat, and the least effective number of draws, of
        what is shared, of the spreads and of everyone's weights.
    trade_off : TradeOff or None
        How errors are traded against gaps between groups in the shared metric; None for metrics
        that know no groups.
    table : WeightTable or None
        The shared weights of a quadratic or fair metric as a table.
    """

    metric: MetricBase
    intervals: tuple[WeightInterval, ...]
    ratios: tuple[WeightInterval, ...]
    spreads: tuple[WeightInterval, ...]
    next_person: tuple[WeightInterval, ...]
    people: tuple[tuple[WeightInterval, ...], ...]
    people_ratios: tuple[tuple[WeightInterval, ...], ...]
    names: tuple[str, ...]
    people_names: tuple[Any, ...]
    draws: FloatArray
    agreement: float
    procedure: str
    r_hat: float
    effective_draws: float
    trade_off: TradeOff | None = None
    table: WeightTable | None = None

    @property
    def spread(self) -> WeightInterval:
        """The first of ``spreads``: that of the weights of errors, where they are not known."""
        return self.spreads[0]

    def summary(self) -> str:
        """Return how far people agree, in one sentence, after whether the chains mixed."""
        unsettled = ""
        if not (self.r_hat <= MOST_R_HAT and self.effective_draws >= LEAST_DRAWS):
            unsettled = (
                f"The chains have not mixed (R-hat {self.r_hat:.2f}, {self.effective_draws:.0f} "
                "effective draws), so these figures may still change; raise draws. "
            )
        return (
            f"{unsettled}{len(self.people)} people agree with each other on "
            f"{100 * self.agreement:.0f} % of pairs; {'; '.join(map(str, self.spreads))}."
        )

    def _columns(self) -> dict[str, Any]:
        everyone = interval_columns(
            weight=self.intervals, ratio=self.ratios, spread=self.spreads,
            next_person=self.next_person,
        )  # fmt: skip
        parts = [everyone | {"person": [None] * len(everyone["name"])}]
        for name, weights, ratios in zip(
            self.people_names, self.people, self.people_ratios, strict=True
        ):
            own = interval_columns(weight=weights, ratio=ratios)
            parts.append(own | {"person": [name] * len(own["name"])})
        return {key: [v for part in parts for v in part[key]] for key in parts[0]}

    def _table(self) -> list[tuple[str, str]]:
        return [interval_row(weight) for weight in (*self.intervals, *self.spreads)]
