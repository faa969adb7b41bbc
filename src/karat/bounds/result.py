"""The frozen results of bounds without labels."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from karat._frozen import plain
from karat._result import Result
from karat._typing import FloatArray
from karat.bounds._deferred_check import DeferredCheck
from karat.metrics import Metric
from karat.weak import LabelModelCheck

__all__ = [
    "BoundsCurve",
    "DifferenceBounds",
    "ExpectationBounds",
    "ModelRanking",
    "PerformanceBounds",
    "RobustnessCurve",
    "WeakLabelValue",
]


_FEW = 30  # below so many items an approximate limit is rough


def _percent(confidence: float) -> str:
    return f"{100 * confidence:g} %"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _Checked(Result):
    """A result that is only as right as the label model, and carries a check of it."""

    deferred_check: DeferredCheck | None = None

    @property
    def check(self) -> LabelModelCheck | None:
        """Whether the votes, or some true labels, contradict the label model; made when read."""
        return None if self.deferred_check is None else self.deferred_check()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, the check of the label model among them."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "deferred_check"}
        return {name: plain(value) for name, value in (own | {"check": self.check}).items()}

    def _with_caveat(self, said: str) -> str:
        """Return the sentence with what it rests on; a failed check comes first."""
        said = f"{said}, if P(Y | weak labels) is right"
        if self.check is not None and not self.check.passed:
            return f"Do not rely on this: {self.check.summary()}. {said}"
        return said


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _Interval(_Checked):
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

    def _limits(self) -> str:
        return (
            f"between {self.lower:.3f} and {self.upper:.3f} (one-sided {_percent(self.confidence)} "
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
        Of Dinkelbach's iteration, where one was needed.
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

    metric: Metric
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
        said = self._with_caveat(f"{who}{name} is {self._limits()}")
        if self.group is not None:
            said += " within the group"
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

    metric: Metric
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
            verdict = "Which is better cannot be told without labels"
        return self._with_caveat(
            f"{verdict}: {self.metric.title} of the first minus the second is {self._limits()}"
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
        return self._with_caveat(f"The expectation is {self._limits()}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BoundsCurve(_Checked):
    """Bounds of a metric at every threshold.

    Attributes
    ----------
    thresholds : array (t,)
        An item is predicted positive when its score is at least the threshold.
    lower, upper, lower_limit, upper_limit : array (t,)
        As in `PerformanceBounds`, at each threshold; NaN where the metric is undefined.
    truth : array (t,) or None
        The metric itself, where ``y_true`` is known for every item.
    metric : Metric
        What is bounded.
    method, n, confidence
        As in `PerformanceBounds`.
    """

    thresholds: FloatArray
    lower: FloatArray
    upper: FloatArray
    lower_limit: FloatArray
    upper_limit: FloatArray
    metric: Metric
    method: str
    n: int
    confidence: float
    truth: FloatArray | None = None

    def summary(self) -> str:
        """Return the threshold with the best worst case."""
        if np.isnan(self.lower).all():
            return f"{self.metric.title} is undefined at every one of these thresholds"
        best = int(np.nanargmax(self.lower))
        return self._with_caveat(
            f"At the threshold {self.thresholds[best]:.3g} {self.metric.title} is at least "
            f"{self.lower[best]:.3f} (one-sided {_percent(self.confidence)} limit "
            f"{self.lower_limit[best]:.3f}) and at most {self.upper[best]:.3f}; no other threshold "
            "has a better worst case"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModelRanking(Result):
    """Several classifiers, best first.

    Attributes
    ----------
    names : tuple of str
        The classifiers, best first by ``by``.
    bounds : tuple of PerformanceBounds
        Their bounds, in the same order.
    by : str
        ``lower``, ``upper``, ``average`` or ``label_model`` (seed 000, section A.4).
    certain : bool
        Whether the first is better than every other for certain, at the confidence limits of the
        paired differences.
    """

    names: tuple[str, ...]
    bounds: tuple[PerformanceBounds, ...]
    by: str
    certain: bool

    def summary(self) -> str:
        """Return the first, and whether its lead is certain."""
        first = self.bounds[0]
        lead = "for certain" if self.certain else "but labels could turn that around"
        return first._with_caveat(
            f"{self.names[0]} ranks first of {len(self.names)} by {self.by}, {lead}: "
            f"{first.metric.title} {first._limits()}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeakLabelValue(Result):
    """What each weak labeler adds to the bounds.

    Attributes
    ----------
    names : tuple of str
        The labelers, the one that tightens most first.
    narrowing : array (m,)
        How much wider the bounds are without each of them.
    full : PerformanceBounds
        The bounds with all of them.
    without : tuple of PerformanceBounds
        The bounds without each of them, in the order of ``names``.
    """

    names: tuple[str, ...]
    narrowing: FloatArray
    full: PerformanceBounds
    without: tuple[PerformanceBounds, ...]

    def summary(self) -> str:
        """Return the most and the least useful labeler."""
        return (
            f"With all labelers the bounds are {self.full.width:.3f} apart; without "
            f"{self.names[0]} they would be {self.narrowing[0]:.3f} further apart, without "
            f"{self.names[-1]} {self.narrowing[-1]:.3f}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RobustnessCurve(_Checked):
    """Bounds as the label model is trusted less.

    Attributes
    ----------
    deltas : array (d,)
        Total variation by which P(Y | z) may be off in every pattern.
    lower, upper, lower_limit, upper_limit : array (d,)
        As in `PerformanceBounds`, at each of them.
    claim : float or None
        A value that the metric is claimed to reach.
    breaks_at : float or None
        The δ at which the lower limit falls below the claim; None if it holds over the whole curve.
    metric : Metric
        What is bounded.
    confidence : float
        Of each one-sided limit.
    """

    deltas: FloatArray
    lower: FloatArray
    upper: FloatArray
    lower_limit: FloatArray
    upper_limit: FloatArray
    metric: Metric
    confidence: float
    claim: float | None = None
    breaks_at: float | None = None

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
                f"{title} of at least {self.claim:g} is not certain, even if the label model is "
                "right"
            )
        elif self.breaks_at is None:
            until = f"up to δ = {self.deltas[-1]:g} and possibly beyond"
            said = f"{title} of at least {self.claim:g} holds {until}"
        else:
            until = f"while the label model is off by less than {self.breaks_at:.3g}"
            said = f"{title} of at least {self.claim:g} holds {until}"
        if self.check is not None and not self.check.passed:
            return f"{said}. It may be off: {self.check.summary()}"
        return said
