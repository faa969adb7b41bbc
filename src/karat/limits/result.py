"""What a confidence limit is, and what it rests on."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._basis import Guarantee
from karat._result import Result, rows_of
from karat._typing import FloatArray

_NAMES = {
    "clopper-pearson": "Clopper–Pearson",
    "wilson": "Wilson",
    "binomial-kl": "binomial KL",
    "normal": "normal",
    "bernstein": "empirical Bernstein",
    "betting": "betting",
    "bootstrap": "bootstrap",
    "surprise": "surprise",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Limits(Result):
    """Confidence limits of one number.

    Attributes
    ----------
    estimate : float
        The proportion, the mean or the statistic of the sample; NaN where there is no item.
    lower, upper : float
        The limits. Of a one-sided limit the other end is the end of the range.
    confidence : float
        Probability that the number lies between the limits.
    side : str
        ``"both"``, ``"lower"`` or ``"upper"``. Both limits share the error equally.
    method : str
        How the limits were found.
    guarantee : str
        ``"exact"`` and ``"finite-sample"`` limits cover at least as often as ``confidence`` says
        for any number of independent items; ``"approximate"`` ones as the number grows.
    n : float
        Number of items; with weights, Kish's effective number.
    """

    estimate: float
    lower: float
    upper: float
    confidence: float
    side: str
    method: str
    guarantee: str
    n: float

    @property
    def width(self) -> float:
        """Distance between the limits."""
        return self.upper - self.lower

    def summary(self) -> str:
        """Return the limits in one sentence."""
        where = {
            "both": f"between {self.lower:.4g} and {self.upper:.4g}",
            "lower": f"at least {self.lower:.4g}",
            "upper": f"at most {self.upper:.4g}",
        }[self.side]
        seen = "nothing was seen" if math.isnan(self.estimate) else f"{self.estimate:.4g} was seen"
        return (
            f"{where} at {100 * self.confidence:g} % confidence ({_NAMES[self.method]} limits, "
            f"{self.guarantee}); {seen} (n = {self.n:,.6g})"
        )

    def _table(self) -> list[tuple[str, str]]:
        return [
            ("estimate", f"{self.estimate:.4g}"),
            ("lower", f"{self.lower:.4g}"),
            ("upper", f"{self.upper:.4g}"),
            ("method", _NAMES[self.method]),
            ("guarantee", self.guarantee),
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PoweredLimits(Result):
    """Limits of a mean or a ratio from a few labelled items and predictions for all.

    Attributes
    ----------
    of : str
        ``"mean"``, ``"ratio"``, or the name of a metric.
    estimate : float
        The prediction-powered estimate; NaN for a ratio if no label counts in its denominator.
    lower, upper : float
        Its limits, approximate.
    confidence : float
        Probability that the number lies between the limits.
    used : bool
        Whether predictions enter at all; if not, the limits are those of the labels.
    left : float
        Share of the labels' variance that predictions leave, from ¼ to 1.
    weight : float
        How far the predictions of a mean are trusted: 0 ignores them, 1 takes them as they are.
    labels : Limits
        From the labelled items alone: Wilson's, or, below 20 labels, those of Clopper and Pearson;
        of metrics that are neither a mean nor such a ratio, by the worst item that could come next.
    certain : Limits or None
        For a mean of labels that weigh alike, limits that hold for any number of items.
    n : int
        Labelled items.
    n_total : int
        All items.
    finite : bool
        Whether the number is that of exactly these items, or of the law that they come from.
    """

    of: str
    estimate: float
    lower: float
    upper: float
    confidence: float
    used: bool
    left: float
    weight: float
    labels: Limits
    certain: Limits | None
    n: int
    n_total: int
    finite: bool

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth: they hold as the number of labels grows.

        Where the number is that of exactly these items and all of them have labels, it is known.
        """
        known = self.finite and self.n == self.n_total and self.lower == self.upper
        return "complete" if known else "approximate"

    @property
    def width(self) -> float:
        """Distance between the limits."""
        return self.upper - self.lower

    def summary(self) -> str:
        """Return the estimate beside what the labels alone say."""
        what = f"the {self.of} of these items" if self.finite else f"the {self.of}"
        said = (
            f"{what} is {self.estimate:.4g} (between {self.lower:.4g} and {self.upper:.4g} at "
            f"{100 * self.confidence:g} % confidence, approximate)"
        )
        if not self.used:
            return f"{said}; predictions do not help the {self.n:,} labels (n = {self.n_total:,})"
        return (
            f"{said}; the {self.n:,} labels alone say {self.labels.lower:.4g} to "
            f"{self.labels.upper:.4g} (n = {self.n_total:,})"
        )

    def _table(self) -> list[tuple[str, str]]:
        def shown(low: float, high: float) -> str:
            return f"{low:.4g} to {high:.4g}"

        rows = [
            ("with predictions", shown(self.lower, self.upper)),
            ("labels alone", shown(self.labels.lower, self.labels.upper)),
        ]
        if self.certain is not None:
            rows.append(("for any number of items", shown(self.certain.lower, self.certain.upper)))
        return [*rows, ("variance that is left", f"{100 * self.left:.0f} %")]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AnytimeLimits(Result):
    """Limits after every label, which hold at all of them together.

    Attributes
    ----------
    of : str
        ``"mean"``, ``"ratio"``, or the name of a metric.
    estimates : array (n,)
        The estimate after each label; NaN where there is none yet.
    lowers, uppers : array (n,)
        The limits after each label.
    confidence : float
        Probability that the number lies between the limits after every label.
    n_total : int or None
        Number of all items, if the number is that of exactly these items.
    """

    of: str
    estimates: FloatArray
    lowers: FloatArray
    uppers: FloatArray
    confidence: float
    n_total: int | None

    @property
    def n(self) -> int:
        """Number of labels."""
        return len(self.lowers)

    @property
    def estimate(self) -> float:
        """The estimate after the last label."""
        return float(self.estimates[-1])

    @property
    def lower(self) -> float:
        """The lower limit after the last label."""
        return float(self.lowers[-1])

    @property
    def upper(self) -> float:
        """The upper limit after the last label."""
        return float(self.uppers[-1])

    @property
    def width(self) -> float:
        """Distance between the limits after the last label."""
        return self.upper - self.lower

    def summary(self) -> str:
        """Return the limits after the last label in one sentence."""
        return (
            f"the {self.of} is between {self.lower:.4g} and {self.upper:.4g} at "
            f"{100 * self.confidence:g} % confidence, however often one looks; {self.estimate:.4g} "
            f"was seen after {self.n:,} labels"
        )

    def _columns(self) -> dict[str, Any]:
        words = ("estimate=estimates", "lower=lowers", "upper=uppers", "confidence")
        return {"n": np.arange(1, self.n + 1)} | rows_of(self, words)

    def _table(self) -> list[tuple[str, str]]:
        return [
            ("estimate", f"{self.estimate:.4g}"),
            ("limits at every look", f"{self.lower:.4g} to {self.upper:.4g}"),
            ("labels", f"{self.n:,}"),
        ]
