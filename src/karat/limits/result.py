"""What a confidence limit is, and what it rests on."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._result import Estimate, Estimated, Guarantee, rows_of
from karat._typing import FloatArray

_NAMES = {
    "clopper-pearson": "Clopper–Pearson",
    "wilson": "Wilson",
    "binomial-kl": "binomial KL",
    "normal": "normal",
    "bernstein": "empirical Bernstein",
    "betting": "betting",
    "bootstrap": "bootstrap",
    "pseudo-count": "pseudo-count",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Limits(Estimated[float]):
    """Confidence limits of one number.

    Attributes
    ----------
    estimate : Estimate
        The proportion, the mean or the statistic of the sample (NaN where there is no item) with
        its limits, as ``value``, ``lower``, ``upper``, ``confidence`` and ``basis``. Of a one-sided
        limit the other end is the end of the range.
    side : str
        ``"both"``, ``"lower"`` or ``"upper"``. Both limits share the error equally.
    method : str
        How the limits were found.
    n : float
        Number of items; with weights, Kish's effective number.
    """

    estimate: Estimate[float]
    side: str
    method: str
    n: float

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth.

        ``"exact"`` and ``"finite-sample"`` limits cover at least as often as ``confidence`` says
        for any number of independent items; ``"approximate"`` ones as the number grows.
        """
        if self.basis != "guaranteed":
            return "approximate"
        return "exact" if self.method == "clopper-pearson" else "finite-sample"

    def summary(self) -> str:
        """Return the limits in one sentence."""
        where = {
            "both": f"between {self.lower:.4g} and {self.upper:.4g}",
            "lower": f"at least {self.lower:.4g}",
            "upper": f"at most {self.upper:.4g}",
        }[self.side]
        seen = "nothing was seen" if math.isnan(self.value) else f"{self.value:.4g} was seen"
        return (
            f"{where} at {100 * self.confidence:g} % confidence ({_NAMES[self.method]} limits, "
            f"{self.guarantee}); {seen} (n = {self.n:,.6g})"
        )

    def _table(self) -> list[tuple[str, str]]:
        return [
            ("value", f"{self.value:.4g}"),
            ("lower", f"{self.lower:.4g}"),
            ("upper", f"{self.upper:.4g}"),
            ("method", _NAMES[self.method]),
            ("guarantee", self.guarantee),
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PredictionPoweredLimits(Estimated[float]):
    """Limits of a mean or a ratio from a few labelled items and predictions for all.

    Attributes
    ----------
    of : str
        ``"mean"``, ``"ratio"``, or the name of a metric.
    estimate : Estimate
        The prediction-powered estimate with its limits; NaN for a ratio if no label counts in its
        denominator. The limits hold as the number of labels grows (``"likely"``); where the number
        is that of exactly these items and all of them have labels, it is known (``"certain"``).
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
    estimate: Estimate[float]
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
        """What the limits are worth: they hold as the number of labels grows, or all is known."""
        return "complete" if self.basis == "certain" else "approximate"

    def summary(self) -> str:
        """Return the estimate beside what the labels alone say."""
        what = f"the {self.of} of these items" if self.finite else f"the {self.of}"
        said = (
            f"{what} is {self.value:.4g} (between {self.lower:.4g} and {self.upper:.4g} at "
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
class AnytimeLimits(Estimated[float]):
    """Limits after every label, which hold at all of them together.

    Attributes
    ----------
    of : str
        ``"mean"``, ``"ratio"``, or the name of a metric.
    looks : Estimate of arrays (n,)
        The value after each label, NaN where there is none yet, and the limits, which hold after
        every label together. ``value``, ``lower`` and ``upper`` of the result are the last ones.
    n_total : int or None
        Number of all items, if the number is that of exactly these items.
    """

    of: str
    looks: Estimate[FloatArray]
    n_total: int | None

    @property
    def n(self) -> int:
        """Number of labels."""
        return len(self.looks.lower)

    @property
    def estimate(self) -> Estimate[float]:  # type: ignore[override]
        """The number after the last label, with the limits that hold then and before."""
        return Estimate(
            value=float(self.looks.value[-1]),
            lower=float(self.looks.lower[-1]),
            upper=float(self.looks.upper[-1]),
            confidence=self.looks.confidence,
            basis=self.looks.basis,
        )

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth: they hold for any law of the values and any number of them."""
        return "finite-sample"

    def summary(self) -> str:
        """Return the limits after the last label in one sentence."""
        return (
            f"the {self.of} is between {self.lower:.4g} and {self.upper:.4g} at "
            f"{100 * self.confidence:g} % confidence, however often one looks; {self.value:.4g} "
            f"was seen after {self.n:,} labels"
        )

    def _columns(self) -> dict[str, Any]:
        words = ("value", "lower", "upper", "confidence")
        return {"n": np.arange(1, self.n + 1)} | rows_of(self.looks, words)

    def _table(self) -> list[tuple[str, str]]:
        return [
            ("value", f"{self.value:.4g}"),
            ("limits at every look", f"{self.lower:.4g} to {self.upper:.4g}"),
            ("labels", f"{self.n:,}"),
        ]
