"""What an audit says: limits by stratum and group, label budgets, judged rates, gates, tiers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat._result import Estimate, Estimated, Frozen, Guarantee, Result
from karat._sentences import shown
from karat._typing import FloatArray
from karat.limits.result import AnytimeLimits, Limits
from karat.metrics.base import Metric
from karat.metrics.result import MetricGap

_TRADED = ("precision", "recall")  # one is had for the other
_CLOSE = 0.02  # distance that the bets of a gate hardly ever decide


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JudgedRate(Estimated[float]):
    """The rate of a system that judges scored, or the difference of two.

    Attributes
    ----------
    estimate : Estimate
        The rate with its limits.
    labels : Limits or None
        What the labels alone say; None for labels of balanced sets, which alone say nothing.
    judged : float
        What the judges say, taken at their word.
    used : bool
        Whether the judges' verdicts help at all.
    design : str
        How the labelled outputs were chosen.
    difference : bool
        Whether it is the rate of one system minus that of another.
    judges : tuple
        Their names.
    n_labels, n_items : int
        Outputs with a true label, all outputs.
    pos_label : label
        The verdict whose rate it is.
    """

    estimate: Estimate[float]
    labels: Limits | None
    judged: float
    used: bool
    design: str
    difference: bool
    judges: tuple[Any, ...]
    n_labels: int
    n_items: int
    pos_label: Any

    def summary(self) -> str:
        """Return the rate beside what the judges and the labels alone say."""
        what = "the difference in the rate" if self.difference else "the rate"
        said = (
            f"{what} of {shown(self.pos_label)} is {self.value:.3f}, between {self.lower:.3f} and "
            f"{self.upper:.3f} at {100 * self.confidence:g} % confidence, from {self.n_labels:,} "
            f"labels and {len(self.judges)} judge{'s' * (len(self.judges) > 1)} on "
            f"{self.n_items:,} outputs; the judges alone say {self.judged:.3f}"
        )
        if self.labels is None:
            return said
        if not self.used:
            return f"{said}, and do not help the labels"
        return f"{said}, the labels alone {self.labels.lower:.3f} to {self.labels.upper:.3f}"

    def _table(self) -> list[tuple[str, str]]:
        rows = [("limits", f"{self.lower:.3f} to {self.upper:.3f}")]
        if self.labels is not None:
            rows.append(("labels alone", f"{self.labels.lower:.3f} to {self.labels.upper:.3f}"))
        return [*rows, ("judges alone", f"{self.judged:.3f}")]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GateResult(Estimated[float]):
    """Whether a metric is at least as great as it has to be.

    Attributes
    ----------
    status : str
        ``"PASS"`` if the lower limit reaches ``at_least``, ``"FAIL"`` if the upper limit stays
        below it, else ``"INCONCLUSIVE"``.
    metric : Metric
        The metric.
    difference : bool
        Whether it is the metric of one system minus that of another.
    at_least : float
        What it has to reach.
    estimate : Estimate
        The metric of the labelled items, NaN where the labels do not define it, with limits that
        hold at every look; ``confidence`` is the probability that the status is right, however
        often one looks (but for ``every_look``).
    n_labels : int
        Labels so far.
    more : int or None
        About how many more labels like those so far would decide it; None if it is decided, or if
        no number can be foretold.
    pos_label : label or None
        The positive class of a metric for two classes.
    every_look : bool
        Whether the limits hold however often one looks; at one look where the order in which the
        labels came is not known.
    """

    status: str
    metric: Metric
    difference: bool
    at_least: float
    estimate: Estimate[float]
    n_labels: int
    more: int | None
    pos_label: Any
    every_look: bool = True

    @property
    def exit_code(self) -> int:
        """0 for PASS, 4 for FAIL, 5 for INCONCLUSIVE."""
        return {"PASS": 0, "FAIL": 4, "INCONCLUSIVE": 5}[self.status]

    def summary(self) -> str:
        """Return the verdict and what it rests on."""
        asked = f"at least {self.at_least:g} is asked for"
        if not self.n_labels:
            return f"{self.status}: nothing is labelled yet, and {self.title} of {asked}"
        what = f"is {self.value:.3f}"
        if math.isnan(self.value):
            what = "is undefined by these labels"
        looks = "however often one looks" if self.every_look else "at one look"
        said = (
            f"{self.status}: {self.title} {what}, between {self.lower:.3f} and {self.upper:.3f} at "
            f"{100 * self.confidence:g} % confidence, {looks}; {asked} "
            f"(n = {self.n_labels:,})"
        )
        if self.status != "INCONCLUSIVE":
            return said
        if self.more is not None:
            return f"{said}; about {self.more:,} more labels like these would decide it"
        if math.isnan(self.value):
            return f"{said}; label more"
        if abs(self.value - self.at_least) <= _CLOSE:
            return f"{said}; the estimate is so close that no number of labels would decide it soon"
        return f"{said}; how many more labels would decide it cannot be foretold"

    @property
    def title(self) -> str:
        """What is measured."""
        return measured(self.metric, difference=self.difference, pos_label=self.pos_label)

    def to_markdown(self) -> str:
        """Return a summary for a pull request or a job's page."""
        mark = {"PASS": "✅", "FAIL": "❌", "INCONCLUSIVE": "❔"}[self.status]
        more = "–" if self.more is None else f"about {self.more:,}"
        looks = "limits at every look" if self.every_look else "limits at one look"
        value = "–" if math.isnan(self.value) else f"{self.value:.3f}"
        return "\n".join(
            [
                f"### {mark} {self.status}: {self.title} at least {self.at_least:g}",
                "",
                "| | |",
                "|---|---|",
                f"| value | {value} |",
                f"| {looks} | {self.lower:.3f} to {self.upper:.3f} |",
                f"| confidence | {100 * self.confidence:g} % |",
                f"| labels | {self.n_labels:,} |",
                f"| more labels to decide | {more} |",
                "",
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelTiers(Estimated[FloatArray]):
    """Which of several models are best, with limits that hold for all pairs at once.

    Attributes
    ----------
    metric : Metric
        The metric.
    names : tuple
        The models, best first.
    estimate : Estimate of arrays
        The metric of each with its own limits. ``confidence`` holds for each of them, and for all
        ``pairs`` together.
    tiers : tuple of int
        1 for the models that none beats, 2 for those that only models of tier 1 beat, and so on.
    pairs : tuple of MetricGap
        The differences of all pairs, whose limits hold together.
    reversed_by : tuple of MetricGap
        Other metrics by which another model is ahead of the first on these items: that model minus
        the first, each with its own limits. A metric of one class names it as ``pos_label``. Of
        more than five classes only metrics that are linear in the counts have limits; those of
        others are infinite.
    n : int
        Labelled items.
    """

    metric: Metric
    names: tuple[Any, ...]
    estimate: Estimate[FloatArray]
    tiers: tuple[int, ...]
    pairs: tuple[MetricGap, ...]
    n: int
    reversed_by: tuple[MetricGap, ...] = ()

    _COLUMNS = (
        "name=names",
        "value",
        "lower",
        "upper",
        "tier=tiers",
        "n",
        "confidence",
    )

    @property
    def guarantee(self) -> Guarantee:
        """What the limits of the differences are worth."""
        return self.pairs[0].guarantee

    @property
    def best(self) -> tuple[Any, ...]:
        """The models that no other beats."""
        return tuple(name for name, tier in zip(self.names, self.tiers, strict=True) if tier == 1)

    def summary(self) -> str:
        """Return which models may be best, by which metric, and by which metrics not."""
        sure = f"at {100 * self.confidence:g} % confidence for all pairs together (n = {self.n:,})"
        other = self.other_orders()
        other = f". {other}" if other else ""
        if len(self.best) == 1:
            return f"{self.best[0]} is best in {self.metric.title} {sure}{other}"
        listed = ", ".join(str(name) for name in self.best)
        return (
            f"{len(self.best)} of {len(self.names)} models may be best in {self.metric.title}, "
            f"{listed}: no other beats them {sure}{other}"
        )

    def other_orders(self) -> str:
        """Return by which other metrics another model is ahead of the first, or nothing.

        Where this metric does not tell which model is best, neither is said what other metrics do
        not tell, nor that one of precision and recall speaks for one model: the other of the two
        mostly speaks against it.
        """
        told = [gap for gap in self.reversed_by if gap.told]
        open_ = [gap for gap in self.reversed_by if not gap.told]
        first, decided = self.names[0], len(self.best) == 1
        if not decided:
            told, open_ = [g for g in told if g.metric.title not in _TRADED], []
        turned = " the order is reversed:" if decided else ""
        said = [
            f"By {_listed(gaps)}{turned} {name} is ahead of {first}"
            for name, gaps in _by_model(told)
        ]
        said += [
            f"By {_listed(gaps)} {name} is ahead of {first} on these items, too little to tell"
            for name, gaps in _by_model(open_)
        ]
        return ". ".join(said)

    def _table(self) -> list[tuple[str, str]]:
        rows = zip(self.names, self.tiers, self.value, self.lower, self.upper, strict=True)
        return [
            (str(name), f"tier {tier}: {value:.3f} ({low:.3f} to {high:.3f})")
            for name, tier, value, low, high in rows
        ]


def _by_model(gaps: list[MetricGap]) -> list[tuple[Any, list[MetricGap]]]:
    """Return the gaps of each model that is ahead."""
    names = list(dict.fromkeys(gap.first for gap in gaps))
    return [(name, [gap for gap in gaps if gap.first == name]) for name in names]


def _listed(gaps: list[MetricGap]) -> str:
    """Return metrics with the limits of their differences."""
    each = [f"{gap.title} ({gap.lower:+.3f} to {gap.upper:+.3f})" for gap in gaps]
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} and {each[-1]}"


# --- What an audit knows so far.


def measured(metric: Metric, *, difference: bool, pos_label: Any) -> str:
    """Say what is measured: a metric or a difference, and of which class."""
    of = "" if pos_label is None else f" (positive class {shown(pos_label)})"
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
    value, lower, upper : float
        As of an audit, for this group alone. Without a label in the group the value is NaN and
        the limits are all that is possible; a difference is known without labels where the two
        systems agree on all items of the group.
    n_labels : int
        Labels in the group.
    """

    value: float
    lower: float
    upper: float
    n_labels: int

    def summary(self) -> str:
        """Return the value with its limits, or that there is no label."""
        between = f"{self.lower:.3f} to {self.upper:.3f}"
        if math.isnan(self.value):
            why = "no label yet" if not self.n_labels else "undefined by its labels"
            return f"{why} ({between}, {self.n_labels:,} labels)"
        return f"{self.value:.3f} ({between}, {self.n_labels:,} labels)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AuditResult(Estimated[float]):
    """The metric of exactly these items, from the labels so far.

    Attributes
    ----------
    metric : Metric
        The metric.
    difference : bool
        Whether it is the metric of one system minus that of another.
    estimate : Estimate
        The stratified estimate, NaN while there are no labels, with limits for this number of
        labels, fixed beforehand: they do not allow for stopping as soon as they please.
    anytime_lower, anytime_upper : float
        Limits that hold at every look; NaN where the metric or the design has none.
    path : AnytimeLimits or None
        The estimate and these limits after every label.
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
    estimate: Estimate[float]
    anytime_lower: float
    anytime_upper: float
    path: AnytimeLimits | None
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

    def summary(self) -> str:
        """Return what is known, at every look too, and what more labels would bring."""
        if not self.n_labels:
            return (
                f"nothing is labelled yet; {self.more} labels would leave {self.title} an interval "
                f"about {self.more_upper - self.more_lower:.2f} wide"
            )
        sure = f"{100 * self.confidence:g} % confidence"
        value = f"is {self.value:.3f}"
        if math.isnan(self.value):
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
            name for name, part in groups.items() if not part.n_labels and math.isnan(part.value)
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
