"""The frozen results of bounds without labels that are single intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from karat._frozen import plain
from karat._result import Result
from karat.bounds.checks import DeferredCheck
from karat.limits import PoweredLimits
from karat.metrics import GroupMetric, MetricBase
from karat.weak import LabelModelCheck

__all__ = [
    "Checked",
    "ExpectationBounds",
    "Interval",
    "PerformanceBounds",
    "percent",
    "undefined_bounds",
]


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
        return None if self.deferred_check is None else self._like(self.deferred_check())

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

    def with_caveat(self, said: str, more: str = "") -> str:
        """Return the sentence with its assumption; what is not known of it comes first."""
        wrong = ", and if it is not, these numbers are wrong"
        return self.after_check(f"{said}, if P(Y | weak labels) is right{more}", wrong)

    def after_check(self, said: str, more: str = "") -> str:
        """Return the sentence after what speaks against the label model, or before its check."""
        if self.check is None:
            return said
        if self.check.contradicted:
            return f"Do not rely on this: {self.check.summary()}. {said}"
        if self.check.status == "not validated":
            return f"{self.check.summary()}{more}. {said}"
        return f"{said}. {self.check.summary()}"

    def with_gold(self, found: PoweredLimits, bounds: str, more: str = "") -> str:
        """Return what the true labels say, and after it what the bounds say without them."""
        help_ = " and the label model" if found.used else " alone"
        return (
            f"{found.of[:1].upper()}{found.of[1:]} is {found.estimate:.3f} (between "
            f"{found.lower:.3f} and {found.upper:.3f} at {percent(found.confidence)} confidence, "
            f"from {found.n:,} true labels{help_}, if they were drawn at random). By the bounds: "
            f"{self.with_caveat(bounds, more)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Interval(Checked):
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
        """Return bounds, their limits and the number of items in words."""
        low = getattr(self, "bounds_lower_limit", self.lower_limit)
        high = getattr(self, "bounds_upper_limit", self.upper_limit)
        return (
            f"between {self.lower:.3f} and {self.upper:.3f} (one-sided {percent(self.confidence)} "
            f"limits {low:.3f} and {high:.3f}; n = {self.n:,})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PerformanceBounds(Interval):
    """How good a classifier can and must be, with no labels.

    Attributes
    ----------
    lower, upper : float
        Least and greatest value of the metric over every law that agrees with the predictions,
        the weak labels and P(Y | Z).
    lower_limit, upper_limit : float
        The recommended limits. Without true labels one-sided limits of the two bounds, each at
        ``confidence``; they hold if P(Y | Z) does. With true labels (``y_true``) limits from those,
        which hold together at ``confidence`` whatever P(Y | Z) is, for labels drawn at random.
    bounds_lower_limit, bounds_upper_limit : float
        The one-sided limits of the two bounds, with or without true labels.
    gold : PoweredLimits or None
        With true labels: the estimate, its limits, those of the labels alone, and whether the label
        model helped (``used``). It does not below 20 labels, nor for a metric that is neither
        linear nor precision, recall, F1 or Jaccard of two classes.
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
    bounds_lower_limit: float
    bounds_upper_limit: float
    gold: PoweredLimits | None = None
    group: Any = None
    undefined: str | None = None
    groups: Mapping[Any, "PerformanceBounds"] | None = None

    _PARTS = (("group", "groups"),)

    def summary(self) -> str:
        """Return the answer in sentences; what is not known of the label model comes first.

        With true labels, what they say comes first.
        """
        who = "" if self.group is None else f"In group {self.group}, "
        if self.undefined is not None:
            return f"{who}{self.undefined}"
        title = self.metric.title
        name = title if who else f"{title[:1].upper()}{title[1:]}"
        said, more = f"{who}{name} is {self.limits()}", self._conditions()
        if self.gold is None:
            said = self.with_caveat(said, more)
        else:
            said = self.with_gold(self.gold, said, more)
        return self.with_assumption(said) if self.group is None else said

    def _conditions(self) -> str:
        """Return what else the bounds rest on."""
        said = ""
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
        return said

    def _table(self) -> list[tuple[str, str]]:
        low, high = self.bounds_lower_limit, self.bounds_upper_limit
        rows = [
            ("bounds", f"{self.lower:.4f} to {self.upper:.4f}"),
            ("limits of the bounds", f"{low:.4f} to {high:.4f}"),
            ("if independent given Z", f"{self.label_model_estimate:.4f}"),
        ]
        if self.gold is not None:
            with_labels = f"{self.lower_limit:.4f} to {self.upper_limit:.4f}"
            rows.insert(0, (f"limits with {self.gold.n:,} true labels", with_labels))
        return rows if self.truth is None else [*rows, ("truth", f"{self.truth:.4f}")]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExpectationBounds(Interval):
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


def undefined_bounds(like: PerformanceBounds, group: Any, n: int, reason: str) -> PerformanceBounds:
    """Return a result without numbers for a group on which the metric is undefined, and why."""
    numbers = (
        "lower", "upper", "lower_limit", "upper_limit", "bounds_lower_limit", "bounds_upper_limit",
        "label_model_estimate",
    )  # fmt: skip
    nothing: dict[str, Any] = dict.fromkeys(numbers, float("nan"))
    return replace(
        like, n=n, group=group, undefined=reason, truth=None, gold=None, width_limit=None,
        groups=None, **nothing,
    )  # fmt: skip
