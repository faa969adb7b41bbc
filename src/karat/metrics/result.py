"""A metric of labelled items, with its limits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat._result import Estimate, Estimated, Guarantee
from karat._sentences import shown
from karat.metrics.base import MetricBase

_METHODS = {
    "clopper-pearson": "Clopper–Pearson",
    "pseudo-count": "pseudo-count",
    "cluster": "cluster",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetricGap(Estimated[float]):
    """The difference of a metric between two groups, with limits that hold for all pairs at once.

    Attributes
    ----------
    metric : MetricBase
        The metric.
    first, second : label
        The groups, by their own names.
    estimate : Estimate
        The metric of the first group minus that of the second, with limits that hold for all pairs
        of groups together.
    pairs : int
        Number of pairs of groups.
    pos_label : label or None
        The positive class of the metric, where the gap has one of its own.
    """

    metric: MetricBase
    first: Any
    second: Any
    estimate: Estimate[float]
    pairs: int
    pos_label: Any = None

    @property
    def title(self) -> str:
        """The metric, and its positive class where the gap has one of its own."""
        of = "" if self.pos_label is None else f" of {shown(self.pos_label)}"
        return f"{self.metric.title}{of}"

    @property
    def told(self) -> bool:
        """Whether the limits lie on one side of 0."""
        return self.lower > 0 or self.upper < 0

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth: those of a difference hold as the number of items grows."""
        return "approximate"

    def summary(self) -> str:
        """Return which group has more, or that it cannot be told."""
        seen = (
            f"{self.title} of {self.first} minus {self.second}: {self.value:+.4g} (between "
            f"{self.lower:+.4g} and {self.upper:+.4g} at {100 * self.confidence:g} % confidence"
            f"{f' for all {self.pairs} pairs together' if self.pairs > 1 else ''})"
        )
        if self.lower > 0:
            return f"{seen}: {self.first} has more"
        if self.upper < 0:
            return f"{seen}: {self.second} has more"
        return f"{seen}: the order cannot be told"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MetricEstimate(Estimated[float]):
    """A metric of labelled items, with limits for the population that they are a sample of.

    Attributes
    ----------
    metric : MetricBase
        The metric.
    estimate : Estimate
        The value on the items, NaN where they leave it undefined, with limits for the population.
    n : int
        Labelled items.
    n_effective : float
        How many independent items they are worth: fewer where weights vary among items of one
        class and prediction, and at most Kish's number of clusters, ``(Σm)²/Σm²`` of their sizes m.
    method : str
        ``"clopper-pearson"``, ``"pseudo-count"`` or ``"cluster"``.
    pos_label : label or None
        The positive class of a metric for two classes.
    groups : mapping or None
        The estimate of each group, by the groups' own names.
    gaps : tuple of MetricGap
        The differences between all pairs of groups.
    """

    metric: MetricBase
    estimate: Estimate[float]
    n: int
    n_effective: float
    method: str
    pos_label: Any
    groups: Mapping[Any, "MetricEstimate"] | None
    gaps: tuple[MetricGap, ...]

    _PARTS = (("group", "groups"),)

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth.

        ``"exact"`` limits cover at least as often as ``confidence`` says for every number of
        independent items; ``"approximate"`` ones fall short by little.
        """
        return "exact" if self.basis == "guaranteed" else "approximate"

    def summary(self) -> str:
        """Return the metric and its limits in one sentence."""
        seen = "undefined" if math.isnan(self.value) else f"{self.value:.4g}"
        of = "" if self.pos_label is None else f" (positive class {shown(self.pos_label)})"
        said = (
            f"{self.metric.title}{of} is {seen} on {self.n:,} labelled items, and between "
            f"{self.lower:.4g} and {self.upper:.4g} at {100 * self.confidence:g} % confidence "
            f"({_METHODS[self.method]} limits, {self.guarantee})"
        )
        told = [gap for gap in self.gaps if gap.told]
        if not self.gaps:
            return said
        return f"{said}; {len(told)} of {len(self.gaps)} gaps between groups can be told from 0"

    def _table(self) -> list[tuple[str, str]]:
        rows = [("all", self)] + [(str(name), part) for name, part in (self.groups or {}).items()]
        return [
            (name, f"{part.value:.4g} ({part.lower:.4g} to {part.upper:.4g})")
            for name, part in rows
        ]
