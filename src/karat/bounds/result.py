"""What bounds say: an interval with its limits and its check, and collections of them.

The headline of each is an `Estimate` whose ``lower`` and ``upper`` are the bounds. Bounds without
labels have no value: theirs is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from karat._result import Estimate, Estimated, Guarantee, Several, plain, stacked
from karat._sentences import Sentence, shown
from karat._typing import AnyArray, FloatArray
from karat.limits.result import PredictionPoweredLimits
from karat.metrics import GroupMetric
from karat.metrics.base import Metric, MetricBase
from karat.statistics.patterns import Patterns
from karat.weak.checks import GoldRows, check_patterns
from karat.weak.result import LabelModelCheck

if TYPE_CHECKING:
    from karat.bounds._gold import GoldSample
    from karat.bounds.inputs import Inputs

_N = TypeVar("_N", float, FloatArray)

# --- The check of the label model that every bound carries, made when somebody reads it.
#
# Bounds hold only if P(Y | weak labels) does. `DeferredCheck` keeps what
# `karat.weak.check_label_model` needs, patterns and not rows, and runs it once, on demand;
# `CheckByGroup` does the same within every group, for metrics that compare groups: a label model
# that is right for all items together can be wrong within groups whose base rates differ.

# True labels that the check uses: it simulates as many, and more would only find misfits that are
# too small to matter.
_MOST_GOLD = 300
_READ = ("assumes_independence", "abstention_is_informative", "assumption_")
_ERROR = 0.05  # probability that a right label model fails, by all checks together


class DeferredCheck:
    """The check of a label model, made once, when it is first called.

    It holds patterns and not rows. The check takes several times as long as the closed forms of a
    bound, and most bounds of a loop over thresholds or models are read without it.
    """

    __slots__ = ("_arguments", "_made")

    def __init__(
        self,
        votes: Patterns,
        p: FloatArray,
        model: Any,
        class_prior: FloatArray | None,
        gold: GoldRows | None,
        confidence: float = 0.95,
    ) -> None:
        kept = replace(votes, ids=votes.ids[:0])
        traits = SimpleNamespace(**{a: getattr(model, a) for a in _READ if hasattr(model, a)})
        known = None if gold is None else _some(gold)
        self._arguments: Any = (kept, p, traits, class_prior, known, confidence)
        self._made: LabelModelCheck | None = None

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        label_model: Any,
        class_prior: FloatArray | None = None,
        sample: GoldSample | None = None,
    ) -> DeferredCheck:
        """Build the check from checked input; ``sample`` is what `read_sample` returned."""
        known = None if sample is None else sample.judged(inputs.votes.ids)
        model = inputs.model if label_model is None else label_model
        return cls(inputs.votes, inputs.p, model, class_prior, known)

    @property
    def assumption(self) -> str | None:
        """What the label model says that it takes P(Y) to be, or None."""
        return getattr(self._arguments[2], "assumption_", None)

    def __call__(self) -> LabelModelCheck:
        """Return the check, making it the first time."""
        if self._made is None:
            votes, p, traits, prior, gold, level = self._arguments
            # The seed is fixed, so that a result has one check, however often it is made.
            self._made = check_patterns(
                votes,
                p,
                model=traits,
                class_prior=prior,
                gold=gold,
                confidence=level,
                rng=np.random.default_rng(0),
            )
        return self._made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeferredCheck) and self() == other()

    def __hash__(self) -> int:
        return hash(self())

    def __reduce__(self) -> Any:
        return _rebuilt, (self._arguments, self._made)


class CheckByGroup(DeferredCheck):
    """Checks of all items and of each group, made when somebody asks; the first failure counts."""

    __slots__ = ("_names", "_parts")

    def __init__(
        self, inputs: Inputs, model: Any, sample: GoldSample | None, names: AnyArray
    ) -> None:
        known = None if sample is None else sample.judged(inputs.votes.ids)
        model = inputs.model if model is None else model
        level = 1 - _ERROR / (1 + len(names))
        super().__init__(inputs.votes, inputs.p, model, None, known, level)
        self._names = [str(name) for name in names.tolist()]
        self._parts = []
        for g in range(len(names)):
            own = np.asarray(inputs.group) == g
            place = np.cumsum(own) - 1
            votes = replace(
                inputs.votes,
                patterns=inputs.votes.patterns[own],
                counts=inputs.votes.counts[own],
                ids=place[inputs.votes.ids],
            )
            some = None
            if sample is not None and own[inputs.votes.ids[sample.rows]].any():
                some = sample.of(own[inputs.votes.ids]).judged(inputs.votes.ids)
            self._parts.append(DeferredCheck(votes, inputs.p[own], model, None, some, level))

    def __call__(self) -> LabelModelCheck:
        """Return the first check that fails, or that of all items."""
        whole = super().__call__()
        if whole.contradicted:
            return whole
        for name, part in zip(self._names, self._parts, strict=True):
            if (check := part()).contradicted:
                reasons = tuple(f"in group {name}, {reason}" for reason in check.reasons)
                return replace(check, reasons=reasons)
        return whole

    def __reduce__(self) -> Any:
        return _rebuilt_by_group, (self._arguments, self._made, self._names, self._parts)


def _rebuilt_by_group(
    arguments: Any, made: Any, names: list[str], parts: list[DeferredCheck]
) -> Any:
    check = object.__new__(CheckByGroup)
    check._arguments, check._made, check._names, check._parts = arguments, made, names, parts
    return check


def _rebuilt(arguments: Any, made: LabelModelCheck | None) -> DeferredCheck:
    check = object.__new__(DeferredCheck)
    check._arguments, check._made = arguments, made
    return check


def _some(gold: GoldRows) -> GoldRows:
    """Return at most ``_MOST_GOLD`` labels, drawn with a fixed seed."""
    n = len(gold.labels)
    if n <= _MOST_GOLD:
        return gold
    rows = np.sort(np.random.default_rng(0).choice(n, _MOST_GOLD, replace=False))
    return GoldRows(gold.labels[rows], gold.proba[rows])


# --- What all bounds have: an estimate, one-sided limits of it, and the check.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Checked(Estimated[_N], Generic[_N]):
    """Bounds, and one-sided limits of them, that depend on a label model and carry its check."""

    estimate: Estimate[_N]
    bounds_limits: Estimate[_N]
    method: str
    n: int
    deferred_check: DeferredCheck | None = None

    _DERIVED = ("lower_limit", "upper_limit")

    @property
    def lower_limit(self) -> _N:
        """The recommended lower limit: of the true labels if there are any, else of the bounds."""
        return self.bounds_limits.lower

    @property
    def upper_limit(self) -> _N:
        """The recommended upper limit: of the true labels if there are any, else of the bounds."""
        return self.bounds_limits.upper

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
        return said if self.assumption is None else Sentence(said, ". ", self.assumption)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, with the limits and the check of the label model."""
        kept = (f.name for f in fields(self) if f.name not in ("estimate", "deferred_check"))
        own = {name: getattr(self, name) for name in kept}
        limits = {name: getattr(self, name) for name in self._DERIVED}
        beside: dict[str, Any] = plain(limits | own | {"check": self.check})
        return self.estimate.to_dict() | beside

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

    def with_gold(self, found: PredictionPoweredLimits, bounds: str, more: str = "") -> str:
        """Return what the true labels say, and after it what the bounds say without them."""
        help_ = " and the label model" if found.used else " alone"
        return (
            f"{found.of[:1].upper()}{found.of[1:]} is {found.value:.3f} (between "
            f"{found.lower:.3f} and {found.upper:.3f} at {percent(found.confidence)} confidence, "
            f"from {found.n:,} true labels{help_}, if they were drawn at random). By the bounds: "
            f"{self.with_caveat(bounds, more)}"
        )


def bounds_and_limits(
    lower: _N,
    upper: _N,
    limits: tuple[_N, _N],
    confidence: float,
    *,
    value: _N | None = None,
    guarantee: Guarantee = "untested",
) -> dict[str, Any]:
    """Return bounds and their one-sided limits as estimates, whose value is NaN if none is known.

    The limits of the bounds hold if the label model does, which nothing has tested.
    """
    none: _N = lower * float("nan")
    known = none if value is None else value
    return {
        "estimate": Estimate.of(known, lower, upper, confidence, guarantee),
        "bounds_limits": Estimate.of(none, *limits, confidence, "untested"),
    }


def with_gold(
    lower: float,
    upper: float,
    limits: tuple[float, float],
    confidence: float,
    gold: PredictionPoweredLimits | None,
) -> dict[str, Any]:
    """Return the same of single bounds, with what true labels say beside them."""
    known: dict[str, Any] = {}
    if gold is not None:
        known = {"value": gold.value, "guarantee": gold.guarantee}
    return {"gold": gold, **bounds_and_limits(lower, upper, limits, confidence, **known)}


# --- The frozen results of bounds without labels: curves, rankings and comparisons of many bounds.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BoundsCurve(Checked[FloatArray]):
    """Bounds of a metric at every threshold.

    Attributes
    ----------
    thresholds : array (t,)
        An item is predicted positive when its score is at least the threshold.
    value : array (t,)
        The metric itself, where ``y_true`` is known for every item; else NaN.
    lower, upper : array (t,)
        Its bounds, as in `PerformanceBounds`; NaN where the metric is undefined.
    lower_limit, upper_limit : array (t,)
        One-sided limits of the two, each at ``confidence``; also in ``bounds_limits``.
    metric : Metric
        What is bounded.
    method, n, confidence
        As in `PerformanceBounds`.
    """

    thresholds: FloatArray
    metric: Metric

    _COLUMNS = (
        "threshold=thresholds",
        "value",
        "lower",
        "upper",
        "lower_limit",
        "upper_limit",
        "n",
        "confidence",
    )

    def summary(self) -> str:
        """Return the threshold with the best worst case."""
        if np.isnan(self.lower).all():
            return f"{self.metric.title} is undefined at every one of these thresholds"
        best = int(np.nanargmax(self.lower))
        return self.with_caveat(
            f"At the threshold {self.thresholds[best]:.3g} {self.metric.title} is at least "
            f"{self.lower[best]:.3f} (one-sided {percent(self.confidence)} limit "
            f"{self.lower_limit[best]:.3f}) and at most {self.upper[best]:.3f}; no other threshold "
            "has a better worst case"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelRanking(Several):
    """Several classifiers, best first.

    Attributes
    ----------
    names : tuple
        The classifiers, best first by ``by``.
    value, lower, upper : array
        What true labels say of each, NaN without them, and its bounds.
    bounds : tuple of PerformanceBounds
        Their bounds, in the same order.
    by : str
        ``lower``, ``upper``, ``average`` or ``label_model`` (Maia Polo et al. 2023,
        section A.4).
    certain : bool
        Whether the limits of all paired differences put the first above every other.
    """

    names: tuple[Any, ...]
    bounds: tuple[PerformanceBounds, ...]
    by: str
    certain: bool

    def summary(self) -> str:
        """Return the first, and whether the limits show its lead."""
        first = self.bounds[0]
        lead = "ahead by the limits of every difference"
        if not self.certain:
            lead = "but labels could turn that around"
        place = f"{self.names[0]} ranks first of {len(self.names)} by {self.by}, {lead}"
        said = f"{first.metric.title} is {first.limits()}"
        if first.gold is None:
            return first.with_caveat(f"{place}: {said}")
        return f"{place}. {first.with_gold(first.gold, said)}"

    def _each(self) -> tuple[PerformanceBounds, ...]:
        return self.bounds

    def _columns(self) -> dict[str, Any]:
        return stacked("name", dict(zip(self.names, self.bounds, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeakLabelValue(Several):
    """What each weak labeler adds to the bounds.

    Attributes
    ----------
    names : tuple
        The labelers, the one that tightens most first.
    value, lower, upper : array (m,)
        Nothing (NaN), since there are no labels, and the bounds without each of them.
    narrowing : array (m,)
        How much wider the bounds are without each of them.
    full : PerformanceBounds
        The bounds with all of them.
    without : tuple of PerformanceBounds
        The bounds without each of them, in the order of ``names``.
    """

    names: tuple[Any, ...]
    narrowing: FloatArray
    full: PerformanceBounds
    without: tuple[PerformanceBounds, ...]

    def summary(self) -> str:
        """Return which labeler narrows the bounds most and which least."""
        return self.full.with_caveat(
            f"With all labelers the bounds are {self.full.width:.3f} apart; without "
            f"{self.names[0]} they would be {self.narrowing[0]:.3f} further apart, without "
            f"{self.names[-1]} {self.narrowing[-1]:.3f}"
        )

    def _each(self) -> tuple[PerformanceBounds, ...]:
        return self.without

    def _columns(self) -> dict[str, Any]:
        without = stacked("name", dict(zip(self.names, self.without, strict=True)))
        return {"name": without.pop("name"), "narrowing": self.narrowing, **without}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RobustnessCurve(Checked[FloatArray]):
    """Bounds as the label model is trusted less.

    Attributes
    ----------
    deltas : array (d,)
        Total variation by which P(Y | z) may be off in every pattern.
    value, lower, upper, lower_limit, upper_limit : array (d,)
        As in `PerformanceBounds`, at each of them; there is no value (NaN).
    claim : float or None
        A value that the metric is claimed to have at least.
    breaks_at : float or None
        The δ at which the lower limit falls below the claim; None if it holds over the whole curve.
    metric : Metric
        What is bounded.
    method, n, confidence
        As in `PerformanceBounds`.
    """

    deltas: FloatArray
    metric: Metric
    claim: float | None = None
    breaks_at: float | None = None

    _COLUMNS = (
        "delta=deltas",
        "value",
        "lower",
        "upper",
        "lower_limit",
        "upper_limit",
        "confidence",
    )

    def summary(self) -> str:
        """Return how wrong the label model may be before the claim falls."""
        title = self.metric.title
        if self.claim is None:
            said = (
                f"{title} is at least {self.lower[0]:.3f} if the label model is right, and "
                f"{self.lower[-1]:.3f} if it is off by {self.deltas[-1]:g}"
            )
        elif self.breaks_at == 0:
            said = (
                f"{title} of at least {self.claim:g} is not shown, even if the label model is right"
            )
        elif self.breaks_at is None:
            until = f"up to δ = {self.deltas[-1]:g} and possibly beyond"
            said = f"{title} of at least {self.claim:g} holds {until}"
        else:
            until = f"while the label model is off by less than {self.breaks_at:.3g}"
            said = f"{title} of at least {self.claim:g} holds {until}"
        return self.after_check(said)


_POWER = 1.96 + 0.84  # standard errors of a lead that labels find four times in five, at 95 %


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Interval(Checked[float]):
    """Two bounds and their one-sided confidence limits, perhaps beside what true labels say."""

    gold: PredictionPoweredLimits | None = None

    @property
    def lower_limit(self) -> float:
        """The recommended lower limit: of the true labels if there are any, else of the bounds."""
        return (self.bounds_limits if self.gold is None else self.gold).lower

    @property
    def upper_limit(self) -> float:
        """The recommended upper limit: of the true labels if there are any, else of the bounds."""
        return (self.bounds_limits if self.gold is None else self.gold).upper

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth: those of true labels, or nothing that a label has tested."""
        return "untested" if self.gold is None else self.gold.guarantee

    def limits(self) -> str:
        """Return bounds, their limits and the number of items in words."""
        low, high = self.bounds_limits.lower, self.bounds_limits.upper
        return (
            f"between {self.lower:.3f} and {self.upper:.3f} (one-sided {percent(self.confidence)} "
            f"limits {low:.3f} and {high:.3f}; n = {self.n:,})"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DifferenceBounds(Interval):
    """How much better one classifier can and must be than another, with no labels.

    Attributes
    ----------
    lower, upper : float
        Least and greatest value of metric(a) − metric(b).
    value : float
        The difference by the true labels; NaN without them.
    lower_limit, upper_limit : float
        The recommended limits: one-sided ones of the two, each at ``confidence``, or with true
        labels limits from those, as in `PerformanceBounds`.
    bounds_limits : Estimate
        The one-sided limits of the two bounds, with or without true labels.
    gold : PredictionPoweredLimits or None
        With true labels: the estimate, its limits and those of the labels alone. The label model
        helps if the metric is linear.
    metric : Metric
        What is compared.
    agree : float
        Share of the items on which both predict the same; they cancel.
    sharp : bool
        Whether the bounds are the best possible.
    label_model_estimate : float
        The difference if predictions and truth were independent given the weak labels.
    silent : float
        Share of the items on which the two disagree where no labeler votes.
    truth : float or None
        The difference itself, where ``y_true`` is known for every item.
    """

    metric: MetricBase
    agree: float
    sharp: bool
    label_model_estimate: float
    silent: float
    truth: float | None = None
    pos_label: Any = None

    def summary(self) -> str:
        """Return which classifier is better, if the limits show that, and the bounds."""
        if self.agree == 1 and self.lower == self.upper == 0:
            return (
                f"The two predict the same for all {self.n:,} items: the difference in "
                f"{self.metric.title} is exactly 0"
            )
        if self.lower_limit > 0:
            verdict = "The first is better"
        elif self.upper_limit < 0:
            verdict = "The second is better"
        else:
            more = "without labels" if self.gold is None else "with so few labels"
            verdict = f"Which is better cannot be decided {more}"
        title = self.metric.title + positive_said(self.pos_label)
        said = f"{title} of the first minus the second is {self.limits()}"
        if self.gold is None:
            return self.with_assumption(self.with_caveat(f"{verdict}: {said}"))
        return self.with_assumption(f"{verdict}: {self.with_gold(self.gold, said)}")

    @property
    def decided(self) -> bool:
        """Whether the limits lie on one side of 0."""
        return self.lower_limit > 0 or self.upper_limit < 0

    @property
    def lead(self) -> float:
        """The difference by the true labels, or by the label model if there are none."""
        return self.label_model_estimate if self.gold is None else self.value

    @property
    def labels_needed(self) -> int | None:
        """About how many true labels, of items on which the two disagree, would show the lead.

        Such an item counts for one or the other, so with a share s of them and a lead of d in
        accuracy it takes (2.8)²·((s/d)² − 1) labels to find it four times in five at 95 %; for
        other metrics this is a rough guide. None where the lead is estimated to be 0, or where it
        would take more labels than there are such items.
        """
        apart = 1 - self.agree
        if abs(self.lead) < 1e-9 or apart <= 0:
            return None
        ratio = min(abs(self.lead) / apart, 1.0)
        needed = max(round(_POWER**2 * (1 / ratio**2 - 1)), 5)
        return needed if needed <= round(apart * self.n) else None

    def what_decides(self) -> str:
        """Return in words what would decide which is better: labels, or labelers."""
        apart = round((1 - self.agree) * self.n)
        if not apart:
            return "The two predict the same for every item"
        if self.decided:
            return f"Decided: they disagree on {apart:,} of {self.n:,} items, and no more is needed"
        if self.labels_needed is None:
            labels = (
                f"the estimated lead of {abs(self.lead):.3f} is so small that labels of all "
                "of them may not show it"
            )
        else:
            labels = (
                f"about {self.labels_needed:,} true labels of these, drawn at random, would show a "
                f"lead of {abs(self.lead):.3f}, as it is estimated"
            )
        votes = f"no labeler votes on {100 * self.silent:.0f} % of them"
        if self.silent < 0.005:
            votes = "labelers vote on all of them, so a better labeler would help and a further one"
            return (
                f"They disagree on {apart:,} of {self.n:,} items: {labels}; {votes} only if it "
                "tells more than those"
            )
        return (
            f"They disagree on {apart:,} of {self.n:,} items: {labels}; {votes}, where a further "
            "labeler would help most"
        )


# --- The frozen results of bounds without labels that are single intervals.

_FEW = 30  # with fewer items a limit that rests on a normal approximation is rough


def percent(confidence: float) -> str:
    """Return a confidence as a percentage."""
    return f"{100 * confidence:g} %"


def positive_said(pos_label: Any) -> str:
    """Return the positive class in brackets, nothing where there is none."""
    return "" if pos_label is None else f" (positive class {shown(pos_label)})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PerformanceBounds(Interval):
    """How good a classifier can and must be, with no labels.

    Attributes
    ----------
    lower, upper : float
        Least and greatest value of the metric over every law that agrees with the predictions,
        the weak labels and P(Y | Z).
    value : float
        The metric by the true labels, NaN without them. It need not lie between the bounds, which
        rest on the label model.
    lower_limit, upper_limit : float
        The recommended limits. Without true labels one-sided limits of the two bounds, each at
        ``confidence``; they hold if P(Y | Z) does. With true labels (``y_true``) limits from those,
        which hold together at ``confidence`` whatever P(Y | Z) is, for labels drawn at random.
    basis : str
        What ``lower_limit`` and ``upper_limit`` rest on: ``"unknown"`` without true labels.
    bounds_limits : Estimate
        The one-sided limits of the two bounds, with or without true labels.
    gold : PredictionPoweredLimits or None
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
    pos_label : label or None
        The positive class, where the metric is about one of two.
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
    groups: Mapping[Any, PerformanceBounds] | None = None
    pos_label: Any = None

    _PARTS = (("group", "groups"),)

    def summary(self) -> str:
        """Return the answer in sentences; what is not known of the label model comes first.

        With true labels, what they say comes first.
        """
        who = "" if self.group is None else f"In group {self.group}, "
        if self.undefined is not None:
            return f"{who}{self.undefined}"
        title = self.metric.title + positive_said(self.pos_label)
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
        low, high = self.bounds_limits.lower, self.bounds_limits.upper
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
    value : float
        NaN: bounds without labels have no value.
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
    nothing = float("nan")
    return replace(
        like,
        **with_gold(nothing, nothing, (nothing, nothing), like.confidence, None),
        label_model_estimate=nothing,
        n=n,
        group=group,
        undefined=reason,
        truth=None,
        width_limit=None,
        groups=None,
    )
