"""What is known of several models on the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat._result import Result
from karat.ranking.measure_result import RankingMeasure
from karat.ranking.result import WeightedAUC

__all__ = ["RankingComparison", "RankingDifference"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingDifference(Result):
    """The difference between two models on the same rows, in an area or another measure.

    Attributes
    ----------
    first, second : label
        Names of the models, as they were passed; ``value`` is the measure of the first less that of
        the second.
    value, lower, upper : float
        The difference and its limits, which hold for all pairs together.
    p_value : float or None
        Of no difference, two-sided and paired, not adjusted for the number of pairs.
    """

    first: Any
    second: Any
    value: float
    lower: float
    upper: float
    p_value: float | None

    def summary(self) -> str:
        """Return the difference and its limits."""
        p = "" if self.p_value is None else f", paired p = {self.p_value:.2g}"
        return (
            f"{self.first} less {self.second}: {self.value:+.4f}, between {self.lower:+.4f} and "
            f"{self.upper:+.4f}{p}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingComparison(Result):
    """Several models on the same rows.

    Attributes
    ----------
    models : mapping of name to WeightedAUC or RankingMeasure
        The measure of each, with limits that hold for all models together.
    differences : tuple of RankingDifference
        Every pair, the better model first.
    confidence : float
        Probability that all limits hold together.
    """

    models: Mapping[Any, WeightedAUC | RankingMeasure]
    differences: tuple[RankingDifference, ...]
    confidence: float

    _PARTS = (("model", "models"),)

    @property
    def lower_is_better(self) -> bool:
        """Whether the measure is a cost."""
        first = next(iter(self.models.values()))
        return isinstance(first, RankingMeasure) and first.measure == "expected cost"

    @property
    def best(self) -> Any:
        """The name of the best model: that of the greatest measure, or of the least cost."""
        sign = -1 if self.lower_is_better else 1
        return max(self.models, key=lambda name: sign * self.models[name].value)

    def summary(self) -> str:
        """Return the best model and whether the rest are certainly worse."""
        top = self.models[self.best]
        pairs = [d for d in self.differences if d.first == self.best]
        sign = -1 if self.lower_is_better else 1
        beaten = sum((d.lower if sign > 0 else -d.upper) > 0 for d in pairs)
        level = (1 - self.confidence) / len(self.differences)
        tested = sum(d.p_value is not None and d.p_value < level for d in pairs)
        by_test = f" ({tested} by the paired test)" if tested != beaten else ""
        most, worse = ("least", "above") if sign < 0 else ("greatest", "below")
        return (
            f"{self.best} has the {most} {top.title}, {top.value:.4f} ({top.lower:.4f} to "
            f"{top.upper:.4f}); models that the limits put {worse} it: {beaten} of {len(pairs)}"
            f"{by_test}, at {100 * self.confidence:g} % for all comparisons together"
        )

    def _table(self) -> list[tuple[str, str]]:
        areas = [
            (str(name), f"{m.value:.4f} ({m.lower:.4f} – {m.upper:.4f})")
            for name, m in self.models.items()
        ]
        return areas + [(f"{d.first} − {d.second}", d.summary()) for d in self.differences]
