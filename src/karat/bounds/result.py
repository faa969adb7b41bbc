"""The frozen results of bounds without labels that are single intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from karat._frozen import plain
from karat._result import Result
from karat.bounds.checks import DeferredCheck
from karat.metrics import GroupMetric, MetricBase
from karat.weak import LabelModelCheck

__all__ = ["Checked", "DifferenceBounds", "ExpectationBounds", "PerformanceBounds", "percent"]


_FEW = 30  # with fewer items a limit that rests on a normal approximation is rough


def percent(confidence: float) -> str:
    """Return a confidence as a percentage."""
    return f"{100 * confidence:g} %"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Checked(Result):
    """A result that depends on a label model, and carries a check of it."""

    deferred_check: DeferredCheck | None = None

    @property
    def check(self) -> LabelModelCheck | None:
        """Whether the votes, or some true labels, contradict the label model; made when read."""
        return None if self.deferred_check is None else self.deferred_check()

    @property
    def assumption(self) -> str | None:
        """What the label model takes P(Y) to be, in its own words, or None if it does not say."""
        return None if self.deferred_check is None else self.deferred_check.assumption

    def with_assumption(self, said: str) -> str:
        """Return the sentence, and after it what the label model takes P(Y) to be."""
        return said if self.assumption is None else f"{said}. {self.assumption}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, the check of the label model among them."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "deferred_check"}
        return {name: plain(value) for name, value in (own | {"check": self.check}).items()}

    def with_caveat(self, said: str) -> str:
        """Return the sentence with its assumption; a failed check comes first."""
        said = f"{said}, if P(Y | weak labels) is right"
        if self.check is not None and not self.check.passed:
            return f"Do not rely on this: {self.check.summary()}. {said}"
        return said


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _Interval(Checked):
    """Two bounds and their one-sided confidence limits."""

    lower: float
    upper: float
    lower_limit: float
    upper_limit: float
    method: str
    n: int
    confidence: float

    @property
    def width(self) -> float:
        """Distance between the two bounds."""
        return self.upper - self.lower

    def limits(self) -> str:
        """Return bounds, limits and the number of items in words."""
        return (
            f"between {self.lower:.3f} and {self.upper:.3f} (one-sided {percent(self.confidence)} "
            f"limits {self.lower_limit:.3f} and {self.upper_limit:.3f}; n = {self.n:,})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PerformanceBounds(_Interval):
    """How good a classifier can and must be, with no labels.

    Attributes
    ----------
    lower, upper : float
        Least and greatest value of the metric over every law that agrees with the predictions,
        the weak labels and P(Y | Z).
    lower_limit, upper_limit : float
        One-sided confidence limits of the two, each at ``confidence``.
    method : str
        ``crossfit`` or ``plugin``.
    metric : Metric
        What is bounded.
    n : int
        Number of items.
    sharp : bool
        Whether the bounds are the best possible; False where they are only outer.
    robustness : float
        Total variation by which P(Y | z) may be off in every pattern.
    sparse : float
        Share of the items in patterns seen fewer than 10 times.
    width_limit : float or None
        Theorem A.1's limit of the width, where the metric is an average of values in [0, 1].
    label_model_estimate : float
        The metric if prediction and truth were independent given the weak labels.
    iterations, gap : int, float
        Of Dinkelbach's iteration, where one was needed; for a metric that compares groups the gap
        is how far the upper bound may be above the sharp one.
    truth : float or None
        The metric itself, where ``y_true`` is known for every item.
    check : LabelModelCheck or None
        Whether the votes, or the labels passed as ``y_true``, contradict the label model.
    group : label or None
        The group this is about.
    undefined : str or None
        Why there are no numbers (a group on which the metric is undefined).
    groups : mapping or None
        One result per group, each valid if P(Y | Z) is right within the group.
    """

    metric: MetricBase
    sharp: bool
    robustness: float
    sparse: float
    width_limit: float | None
    label_model_estimate: float
    iterations: int
    gap: float
    truth: float | None
    group: Any = None
    undefined: str | None = None
    groups: Mapping[Any, "PerformanceBounds"] | None = None

    def summary(self) -> str:
        """Return the answer in a sentence; a failed check of the label model comes first."""
        who = "" if self.group is None else f"In group {self.group}, "
        if self.undefined is not None:
            return f"{who}{self.undefined}"
        title = self.metric.title
        name = title if who else f"{title[:1].upper()}{title[1:]}"
        said = self.with_caveat(f"{who}{name} is {self.limits()}")
        if self.group is not None:
            said += " within the group"
        elif isinstance(self.metric, GroupMetric):
            said += " within every group"
        if self.robustness > 0:
            said += f" to within {self.robustness:g} in total variation"
        if not self.sharp:
            said += "; the bounds are outer, not sharp"
        if self.n < _FEW:
            said += f"; with {self.n} items the limits are rough"
        if self.method == "plugin" and self.sparse > 0.05:
            said += (
                f"; {100 * self.sparse:.0f} % of the items are in patterns seen fewer than 10 "
                "times, so the plug-in bounds are too narrow"
            )
        return self.with_assumption(said) if self.group is None else said

    def _table(self) -> list[tuple[str, str]]:
        rows = [
            ("bounds", f"{self.lower:.4f} to {self.upper:.4f}"),
            ("limits", f"{self.lower_limit:.4f} to {self.upper_limit:.4f}"),
            ("if independent given Z", f"{self.label_model_estimate:.4f}"),
        ]
        return rows if self.truth is None else [*rows, ("truth", f"{self.truth:.4f}")]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DifferenceBounds(_Interval):
    """How much better one classifier can and must be than another, with no labels.

    Attributes
    ----------
    lower, upper : float
        Least and greatest value of metric(a) − metric(b).
    lower_limit, upper_limit : float
        One-sided confidence limits of the two, each at ``confidence``.
    metric : Metric
        What is compared.
    agree : float
        Share of the items on which both predict the same; they cancel.
    sharp : bool
        Whether the bounds are the best possible.
    truth : float or None
        The difference itself, where ``y_true`` is known for every item.
    """

    metric: MetricBase
    agree: float
    sharp: bool
    truth: float | None = None

    def summary(self) -> str:
        """Return which classifier is better, if that is certain, and the bounds."""
        if self.lower_limit > 0:
            verdict = "The first is better"
        elif self.upper_limit < 0:
            verdict = "The second is better"
        else:
            verdict = "Which is better cannot be decided without labels"
        return self.with_assumption(
            self.with_caveat(
                f"{verdict}: {self.metric.title} of the first minus the second is {self.limits()}"
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExpectationBounds(_Interval):
    """Bounds of E[g(X, Y, Z)], such as an expected loss.

    Attributes
    ----------
    lower, upper : float
        Least and greatest expectation; with ``smoothed``, widened by its approximation error.
    lower_limit, upper_limit : float
        One-sided confidence limits of the two.
    epsilon : float
        Smoothing, or 0.
    approximation : float
        How far smoothing may have moved each bound: ε·log|Y|.
    converged : bool
        Whether the optimiser met its tolerance.
    iterations : int
        Of the optimiser; 0 where the solution is direct.
    """

    epsilon: float = 0.0
    approximation: float = 0.0
    converged: bool = True
    iterations: int = 0

    def summary(self) -> str:
        """Return the bounds in a sentence."""
        return self.with_assumption(self.with_caveat(f"The expectation is {self.limits()}"))
