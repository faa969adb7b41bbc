"""What a confidence limit is, and what it rests on."""

import math
from dataclasses import dataclass

from karat._result import Result

__all__ = ["Limits", "PoweredMean"]

_NAMES = {
    "clopper-pearson": "Clopper–Pearson",
    "wilson": "Wilson",
    "binomial-kl": "binomial KL",
    "normal": "normal",
    "bernstein": "empirical Bernstein",
    "betting": "betting",
    "bootstrap": "bootstrap",
    "powered": "prediction-powered",
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
class PoweredMean(Result):
    """A mean from a few labelled items and predictions for all.

    Attributes
    ----------
    estimate : float
        The prediction-powered mean.
    lower, upper : float
        Its limits, approximate.
    confidence : float
        Probability that the mean lies between the limits.
    weight : float
        How far predictions are trusted: 0 ignores them, 1 takes them as they are.
    labels : Limits
        From the labelled items alone, by the same approximation.
    certain : Limits
        Limits that hold for any number of items, with the predictions and without.
    n : int
        Labelled items.
    n_total : int
        All items.
    finite : bool
        Whether the mean is that of exactly these items, or of the law that they come from.
    """

    estimate: float
    lower: float
    upper: float
    confidence: float
    weight: float
    labels: Limits
    certain: Limits
    n: int
    n_total: int
    finite: bool

    def summary(self) -> str:
        """Return the estimate beside what the labels alone say."""
        what = "the mean of these items" if self.finite else "the mean"
        return (
            f"{what} is {self.estimate:.4g} (between {self.lower:.4g} and {self.upper:.4g} at "
            f"{100 * self.confidence:g} % confidence, approximate); the {self.n:,} labels alone "
            f"say {self.labels.lower:.4g} to {self.labels.upper:.4g} (n = {self.n_total:,})"
        )

    def _table(self) -> list[tuple[str, str]]:
        def shown(low: float, high: float) -> str:
            return f"{low:.4g} to {high:.4g}"

        return [
            ("with predictions", shown(self.lower, self.upper)),
            ("labels alone", shown(self.labels.lower, self.labels.upper)),
            ("for any number of items", shown(self.certain.lower, self.certain.upper)),
            ("weight of the predictions", f"{self.weight:.3g}"),
        ]
