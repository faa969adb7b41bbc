"""The frozen results of bounds without labels: curves, rankings and comparisons of many bounds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._columns import stacked
from karat._result import Result
from karat._typing import FloatArray
from karat.bounds.result import Checked, PerformanceBounds, percent
from karat.metrics import Metric

__all__ = ["BoundsCurve", "ModelRanking", "RobustnessCurve", "WeakLabelValue"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BoundsCurve(Checked):
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

    _COLUMNS = (
        "threshold=thresholds", "lower", "upper", "lower_limit", "upper_limit", "truth", "n",
        "confidence",
    )  # fmt: skip

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
class ModelRanking(Result):
    """Several classifiers, best first.

    Attributes
    ----------
    names : tuple
        The classifiers, best first by ``by``.
    bounds : tuple of PerformanceBounds
        Their bounds, in the same order.
    by : str
        ``lower``, ``upper``, ``average`` or ``label_model`` (Maia Polo et al. 2023,
        section A.4).
    certain : bool
        Whether the first is better than every other for certain, at the confidence limits of the
        paired differences.
    """

    names: tuple[Any, ...]
    bounds: tuple[PerformanceBounds, ...]
    by: str
    certain: bool

    def summary(self) -> str:
        """Return the first, and whether its lead is certain."""
        first = self.bounds[0]
        lead = "for certain" if self.certain else "but labels could turn that around"
        place = f"{self.names[0]} ranks first of {len(self.names)} by {self.by}, {lead}"
        said = f"{first.metric.title} is {first.limits()}"
        if first.gold is None:
            return first.with_caveat(f"{place}: {said}")
        return f"{place}. {first.with_gold(first.gold, said)}"

    def _columns(self) -> dict[str, Any]:
        return stacked("name", dict(zip(self.names, self.bounds, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeakLabelValue(Result):
    """What each weak labeler adds to the bounds.

    Attributes
    ----------
    names : tuple
        The labelers, the one that tightens most first.
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

    def _columns(self) -> dict[str, Any]:
        without = stacked("name", dict(zip(self.names, self.without, strict=True)))
        return {"name": without.pop("name"), "narrowing": self.narrowing, **without}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RobustnessCurve(Checked):
    """Bounds as the label model is trusted less.

    Attributes
    ----------
    deltas : array (d,)
        Total variation by which P(Y | z) may be off in every pattern.
    lower, upper, lower_limit, upper_limit : array (d,)
        As in `PerformanceBounds`, at each of them.
    claim : float or None
        A value that the metric is claimed to have at least.
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

    _COLUMNS = ("delta=deltas", "lower", "upper", "lower_limit", "upper_limit", "confidence")

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
        return self.after_check(said)
