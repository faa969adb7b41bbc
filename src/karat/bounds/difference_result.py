"""The frozen result of comparing two classifiers without labels."""

from dataclasses import dataclass

from karat.bounds.result import Interval
from karat.limits import PoweredLimits
from karat.metrics import MetricBase

__all__ = ["DifferenceBounds"]

_POWER = 1.96 + 0.84  # standard errors of a lead that labels find four times in five, at 95 %


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DifferenceBounds(Interval):
    """How much better one classifier can and must be than another, with no labels.

    Attributes
    ----------
    lower, upper : float
        Least and greatest value of metric(a) − metric(b).
    lower_limit, upper_limit : float
        The recommended limits: one-sided ones of the two, each at ``confidence``, or with true
        labels limits from those, as in `PerformanceBounds`.
    bounds_lower_limit, bounds_upper_limit : float
        The one-sided limits of the two bounds, with or without true labels.
    gold : PoweredLimits or None
        With true labels: the estimate, its limits and those of the labels alone. The label model
        helps if the metric is linear.
    metric : Metric
        What is compared.
    agree : float
        Share of the items on which both predict the same; they cancel.
    sharp : bool
        Whether the bounds are the best possible.
    estimate : float
        The difference by the true labels, or, without them, if predictions and truth were
        independent given the weak labels.
    silent : float
        Share of the items on which the two disagree where no labeler votes.
    truth : float or None
        The difference itself, where ``y_true`` is known for every item.
    """

    metric: MetricBase
    agree: float
    sharp: bool
    estimate: float
    silent: float
    bounds_lower_limit: float
    bounds_upper_limit: float
    truth: float | None = None
    gold: PoweredLimits | None = None

    def summary(self) -> str:
        """Return which classifier is better, if that is certain, and the bounds."""
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
        said = f"{self.metric.title} of the first minus the second is {self.limits()}"
        if self.gold is None:
            return self.with_assumption(self.with_caveat(f"{verdict}: {said}"))
        return self.with_assumption(f"{verdict}: {self.with_gold(self.gold, said)}")

    @property
    def decided(self) -> bool:
        """Whether the limits lie on one side of 0."""
        return self.lower_limit > 0 or self.upper_limit < 0

    @property
    def labels_needed(self) -> int | None:
        """About how many true labels, of items on which the two disagree, would show the lead.

        Such an item counts for one or the other, so with a share s of them and a lead of d in
        accuracy it takes (2.8)²·((s/d)² − 1) labels to find it four times in five at 95 %; for
        other metrics this is a rough guide. None where the lead is estimated to be 0, or where it
        would take more labels than there are such items.
        """
        apart = 1 - self.agree
        if abs(self.estimate) < 1e-9 or apart <= 0:
            return None
        ratio = min(abs(self.estimate) / apart, 1.0)
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
                f"the estimated lead of {abs(self.estimate):.3f} is so small that labels of all "
                "of them may not show it"
            )
        else:
            labels = (
                f"about {self.labels_needed:,} true labels of these, drawn at random, would show a "
                f"lead of {abs(self.estimate):.3f}, as it is estimated"
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
