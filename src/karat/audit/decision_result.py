"""Decisions that rest on labels: a judged rate, a gate, the best of several models."""

import math
from dataclasses import dataclass
from typing import Any

from karat._result import Result
from karat._typing import FloatArray
from karat.audit.result import measured
from karat.limits import Limits
from karat.metrics import Metric, MetricGap

__all__ = ["GateResult", "JudgedRate", "ModelTiers"]

_CLOSE = 0.02  # distance that the bets of a gate hardly ever decide


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JudgedRate(Result):
    """The rate of a system that judges scored, or the difference of two.

    Attributes
    ----------
    value, lower, upper : float
        The rate and its limits.
    confidence : float
        Probability that the limits hold.
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

    value: float
    lower: float
    upper: float
    confidence: float
    labels: Limits | None
    judged: float
    used: bool
    design: str
    difference: bool
    judges: tuple[Any, ...]
    n_labels: int
    n_items: int
    pos_label: Any

    @property
    def width(self) -> float:
        """Distance between the limits."""
        return self.upper - self.lower

    def summary(self) -> str:
        """Return the rate beside what the judges and the labels alone say."""
        what = "the difference in the rate" if self.difference else "the rate"
        said = (
            f"{what} of {self.pos_label!r} is {self.value:.3f}, between {self.lower:.3f} and "
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
class GateResult(Result):
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
    estimate, lower, upper : float
        The estimate, NaN where the labels do not define it, and limits that hold at every look.
    confidence : float
        Probability that the status is right, however often one looks.
    n_labels : int
        Labels so far.
    more : int or None
        About how many more labels like those so far would decide it; None if it is decided, or if
        no number can be foretold.
    pos_label : label or None
        The positive class of a metric for two classes.
    """

    status: str
    metric: Metric
    difference: bool
    at_least: float
    estimate: float
    lower: float
    upper: float
    confidence: float
    n_labels: int
    more: int | None
    pos_label: Any

    @property
    def exit_code(self) -> int:
        """0 for PASS, 4 for FAIL, 5 for INCONCLUSIVE."""
        return {"PASS": 0, "FAIL": 4, "INCONCLUSIVE": 5}[self.status]

    def summary(self) -> str:
        """Return the verdict and what it rests on."""
        asked = f"at least {self.at_least:g} is asked for"
        if not self.n_labels:
            return f"{self.status}: nothing is labelled yet, and {self.title} of {asked}"
        what = f"is {self.estimate:.3f}"
        if math.isnan(self.estimate):
            what = "is undefined by these labels"
        said = (
            f"{self.status}: {self.title} {what}, between {self.lower:.3f} and {self.upper:.3f} at "
            f"{100 * self.confidence:g} % confidence, however often one looks; {asked} "
            f"(n = {self.n_labels:,})"
        )
        if self.status != "INCONCLUSIVE":
            return said
        if self.more is not None:
            return f"{said}; about {self.more:,} more labels like these would decide it"
        if math.isnan(self.estimate):
            return f"{said}; label more"
        if abs(self.estimate - self.at_least) <= _CLOSE:
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
        value = "–" if math.isnan(self.estimate) else f"{self.estimate:.3f}"
        return "\n".join(
            [
                f"### {mark} {self.status}: {self.title} at least {self.at_least:g}",
                "",
                "| | |",
                "|---|---|",
                f"| estimate | {value} |",
                f"| limits at every look | {self.lower:.3f} to {self.upper:.3f} |",
                f"| confidence | {100 * self.confidence:g} % |",
                f"| labels | {self.n_labels:,} |",
                f"| more labels to decide | {more} |",
                "",
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelTiers(Result):
    """Which of several models are best, with limits that hold for all pairs at once.

    Attributes
    ----------
    metric : Metric
        The metric.
    names : tuple
        The models, best first.
    values, lowers, uppers : array
        The metric of each with its own limits.
    tiers : tuple of int
        1 for the models that none beats, 2 for those that only models of tier 1 beat, and so on.
    pairs : tuple of MetricGap
        The differences of all pairs, whose limits hold together.
    confidence : float
        Probability that they do.
    n : int
        Labelled items.
    """

    metric: Metric
    names: tuple[Any, ...]
    values: FloatArray
    lowers: FloatArray
    uppers: FloatArray
    tiers: tuple[int, ...]
    pairs: tuple[MetricGap, ...]
    confidence: float
    n: int

    _COLUMNS = (
        "name=names", "value=values", "lower=lowers", "upper=uppers", "tier=tiers", "n",
        "confidence",
    )  # fmt: skip

    @property
    def best(self) -> tuple[Any, ...]:
        """The models that no other beats."""
        return tuple(name for name, tier in zip(self.names, self.tiers, strict=True) if tier == 1)

    def summary(self) -> str:
        """Return which models may be best."""
        sure = f"at {100 * self.confidence:g} % confidence for all pairs together (n = {self.n:,})"
        if len(self.best) == 1:
            return f"{self.best[0]} is best in {self.metric.title} {sure}"
        listed = ", ".join(str(name) for name in self.best)
        return (
            f"{len(self.best)} of {len(self.names)} models may be best in {self.metric.title}, "
            f"{listed}: no other beats them {sure}"
        )

    def _table(self) -> list[tuple[str, str]]:
        rows = zip(self.names, self.tiers, self.values, self.lowers, self.uppers, strict=True)
        return [
            (str(name), f"tier {tier}: {value:.3f} ({low:.3f} to {high:.3f})")
            for name, tier, value, low, high in rows
        ]
