"""What an audit knows so far."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat._frozen import Frozen
from karat._result import Result
from karat._typing import FloatArray
from karat.limits import AnytimeLimits
from karat.metrics import Metric

__all__ = [
    "AuditGroup",
    "AuditResult",
    "AuditStratum",
    "LabelBudget",
    "measured",
]


def measured(metric: Metric, *, difference: bool, pos_label: Any) -> str:
    """Say what is measured: a metric or a difference, and of which class."""
    of = "" if pos_label is None else f" (positive class {pos_label!r})"
    return f"the difference in {metric.title}{of}" if difference else f"{metric.title}{of}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditStratum(Frozen):
    """Items that are labelled alike often, because labels of them tell alike much.

    Attributes
    ----------
    why : str
        What the items have in common.
    n_items, n_labels : int
        All items, and those with a label.
    share : float
        Share of the labels that the stratum was to have at first.
    """

    why: str
    n_items: int
    n_labels: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditGroup(Frozen):
    """The metric of one group.

    Attributes
    ----------
    estimate, lower, upper : float
        As of an audit, for this group alone. Without a label in the group the estimate is NaN and
        the limits are all that is possible; a difference is known without labels where the two
        systems agree on all items of the group.
    n_labels : int
        Labels in the group.
    """

    estimate: float
    lower: float
    upper: float
    n_labels: int

    def summary(self) -> str:
        """Return the estimate with its limits, or that there is no label."""
        between = f"{self.lower:.3f} to {self.upper:.3f}"
        if math.isnan(self.estimate):
            why = "no label yet" if not self.n_labels else "undefined by its labels"
            return f"{why} ({between}, {self.n_labels:,} labels)"
        return f"{self.estimate:.3f} ({between}, {self.n_labels:,} labels)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditResult(Result):
    """The metric of exactly these items, from the labels so far.

    Attributes
    ----------
    metric : Metric
        The metric.
    difference : bool
        Whether it is the metric of one system minus that of another.
    estimate : float
        The stratified estimate; NaN while there are no labels.
    lower, upper : float
        Limits for this number of labels, fixed beforehand: they do not allow for stopping as soon
        as they please.
    anytime_lower, anytime_upper : float
        Limits that hold at every look; NaN where the metric or the design has none.
    path : AnytimeLimits or None
        The estimate and these limits after every label.
    confidence : float
        Probability that the metric lies between the limits.
    n_labels, n_items : int
        Labelled items, all items.
    more : int
        Number of further labels that are looked ahead to.
    more_lower, more_upper : float
        What the limits would be with so many more labels, if these are like those at hand.
    pos_label : label or None
        The positive class of a metric for two classes.
    strata : tuple of AuditStratum
        Which items are chosen, and why.
    groups : mapping or None
        The metric of each group, by the groups' own names.
    """

    metric: Metric
    difference: bool
    estimate: float
    lower: float
    upper: float
    anytime_lower: float
    anytime_upper: float
    path: AnytimeLimits | None
    confidence: float
    n_labels: int
    n_items: int
    more: int
    more_lower: float
    more_upper: float
    pos_label: Any
    strata: tuple[AuditStratum, ...]
    groups: Mapping[Any, AuditGroup] | None

    _PARTS = (("group", "groups"),)

    @property
    def title(self) -> str:
        """What is measured."""
        return measured(self.metric, difference=self.difference, pos_label=self.pos_label)

    @property
    def width(self) -> float:
        """Distance between the limits for this number of labels."""
        return self.upper - self.lower

    def summary(self) -> str:
        """Return what is known, at every look too, and what more labels would bring."""
        if not self.n_labels:
            return (
                f"nothing is labelled yet; {self.more} labels would leave {self.title} an interval "
                f"about {self.more_upper - self.more_lower:.2f} wide"
            )
        sure = f"{100 * self.confidence:g} % confidence"
        value = f"is {self.estimate:.3f}"
        if math.isnan(self.estimate):
            value = "is undefined by the labels so far"
        said = (
            f"{self.title} of these {self.n_items:,} items {value}, between "
            f"{self.lower:.3f} and {self.upper:.3f} at {sure} with {self.n_labels:,} labels"
        )
        if not math.isnan(self.anytime_lower):
            said += (
                f" (however often one looks: between {self.anytime_lower:.3f} and "
                f"{self.anytime_upper:.3f})"
            )
        if self.more > 0:
            said += (
                f"; {self.more} more labels would narrow the limits from {self.width:.3f} to about "
                f"{self.more_upper - self.more_lower:.3f}"
            )
        if unknown := self.unlabelled:
            named = ", ".join(str(name) for name in unknown[:5]) + ", …" * (len(unknown) > 5)
            said += (
                f"; nothing is known of {len(unknown)} of {len(self.groups or {})} groups, in "
                f"which no item has a label: {named}"
            )
        return said

    @property
    def unlabelled(self) -> tuple[Any, ...]:
        """The groups of which nothing is known, since no item of them has a label."""
        groups = self.groups or {}
        return tuple(
            name for name, part in groups.items() if not part.n_labels and math.isnan(part.estimate)
        )

    def _table(self) -> list[tuple[str, str]]:
        rows = [("limits", f"{self.lower:.3f} to {self.upper:.3f}")]
        rows += [(str(name), part.summary()) for name, part in (self.groups or {}).items()]
        rows += [(s.why, f"{s.n_labels:,} of {s.n_items:,} labelled") for s in self.strata]
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LabelBudget(Result):
    """How many labels a wanted precision takes.

    Attributes
    ----------
    metric : Metric
        The metric.
    precision : float
        Half the wanted distance between the limits.
    n_random, n_chosen : int
        Labels that it takes, drawn at random and chosen by an audit.
    expected : float
        The metric if the guesses of the truth are right, on which the numbers rest.
    confidence : float
        Probability that the limits hold.
    n_items : int
        All items.
    source : str or None
        Where the guesses come from; None if every prediction is trusted alike.
    sizes, random, chosen : array
        Numbers of labels, and the precision of each with random and with chosen labels.
    """

    metric: Metric
    precision: float
    n_random: int
    n_chosen: int
    expected: float
    confidence: float
    n_items: int
    source: str | None
    sizes: FloatArray
    random: FloatArray
    chosen: FloatArray

    _COLUMNS = ("n_labels=sizes", "random", "chosen", "confidence")

    def summary(self) -> str:
        """Return both numbers in one sentence."""
        trusted = {"proba": "the probabilities", "votes": "the votes", "scores": "the scores"}
        rests = trusted.get(self.source or "", "80 % of the predictions")
        return (
            f"{self.metric.title} within ± {self.precision:g} at {100 * self.confidence:g} % "
            f"confidence takes about {self.n_random:,} random labels, or about {self.n_chosen:,} "
            f"chosen ones, if {rests} are right, which makes {self.metric.title} "
            f"{self.expected:.2f}"
        )
