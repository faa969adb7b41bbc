"""What is known of an area under the ROC curve."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat._basis import Guarantee
from karat._result import Result
from karat._typing import AnyArray, FloatArray
from karat.ranking.certificates import Family
from karat.ranking.weights import AnyWeight, FprBand, Weight

_ANY = "distribution-free limits"
_FREE = frozenset({"auto", "hinge", "kl", "nested", "dkw", "beta", "maurer-pontil"})
_GUARANTEES = {
    "auto": _ANY,  # of classes whose certificates differ
    "hinge": _ANY,
    "kl": _ANY,
    "nested": _ANY,
    "dkw": _ANY,
    "beta": _ANY,
    "maurer-pontil": "distribution-free limits by Theorem 2 of Maurer and Pontil (2020)",
    "approximate": "approximate limits",
    "smoothed": "approximate limits",
    "delong": "normal limits",
    "bootstrap": "bootstrap limits",
    "clustered": "approximate limits",
}


def largest_gap(groups: Mapping[Any, Any] | None) -> tuple[float, float, float] | None:
    """Return the largest difference between two groups, and limits of it that hold together."""
    if not groups:
        return None
    parts = list(groups.values())
    value = max(p.value for p in parts) - min(p.value for p in parts)
    lower = max(p.lower for p in parts) - min(p.upper for p in parts)
    upper = max(p.upper for p in parts) - min(p.lower for p in parts)
    return value, max(0.0, lower), upper


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeightedAUC(Result):
    """A weighted area under the ROC curve, with its limits.

    Attributes
    ----------
    value : float
        The area.
    lower, upper : float
        Its limits, which hold with probability ``confidence`` at least (approximately for
        ``smoothed``, ``delong`` and ``bootstrap``).
    confidence : float
        Probability that the limits hold.
    certificate : str
        The method of the limits; where it was ``auto`` or ``approximate``, what that stood for.
    why : str
        Why that certificate was taken; empty where it was named.
    half_width : float or None
        The closed form that no DKW limit exceeds, ``‖W‖₁√(ln(4/δ)/2n₁) + ‖W‖_∞√(ln(4/δ)/2n₀)``, on
        the scale of ``value``; None for other certificates, two-way areas and ``ties="strict"``.
    standard_error : float or None
        That of ``smoothed``, ``delong`` and ``bootstrap``.
    weight : Weight, TprBand or TwoWayBand
        What was weighted.
    ties, normalize : str
        The rule of ties and the scale.
    n_positive, n_negative : float
        Rows of each class; what limits may count on, where rows are weighted.
    approximate : bool
        Whether rows had importance weights, so that the limits are approximate.
    classes : array (2,)
        The negative and the positive class.
    fpr, tpr : array (points,)
        Points of the curve, for drawing; empty for a macro average, where each part has its own.
    margins : tuple of float
        The half-widths of the bands around the false- and the true-positive rate; NaN for a macro
        average.
    value_range : tuple of float or None
        The least and the greatest value that the rows may have, where scores were counted in cells.
    groups : mapping or None
        The area in each group.
    skipped : mapping or None
        Groups or labels that have no area, and why.
    per_class : mapping or None
        The area of each class against the rest, or of each label.
    average : str or None
        How ``value`` averages these: ``macro`` (their mean) or ``micro`` (all labels pooled).
    """

    value: float
    lower: float
    upper: float
    confidence: float
    certificate: str
    why: str
    half_width: float | None
    standard_error: float | None
    weight: AnyWeight
    ties: str
    normalize: str
    n_positive: float
    n_negative: float
    approximate: bool
    classes: AnyArray
    fpr: FloatArray
    tpr: FloatArray
    margins: tuple[float, float]
    value_range: tuple[float, float] | None = None
    groups: Mapping[Any, "WeightedAUC"] | None = None
    skipped: Mapping[Any, str] | None = None
    per_class: Mapping[Any, "WeightedAUC"] | None = None
    average: str | None = None

    _PARTS = (("group", "groups"), ("class", "per_class"))

    @property
    def pos_label(self) -> Any:
        """The positive class; None where each class was ranked against the rest."""
        return None if self.per_class is not None else self.classes.tolist()[-1]

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth: for any law and number of rows, or as rows grow in number."""
        free = not self.approximate and self.certificate in _FREE
        return "finite-sample" if free else "approximate"

    @property
    def gap(self) -> tuple[float, float, float] | None:
        """The largest difference between two groups, and limits of it that hold together."""
        return largest_gap(self.groups)

    @property
    def title(self) -> str:
        """What the area is called."""
        scale = {"raw": "", "mean": " as a mean rate", "mcclish": " on McClish's scale"}
        return f"{self.weight.title}{scale[self.normalize]}"

    def summary(self) -> str:
        """Return the area and how sure it is."""
        n = f"{self.n_positive:,.6g} rows of {self.pos_label!r}, the positive class, and "
        n += f"{self.n_negative:,.6g} others"
        if self.per_class is not None:
            n = f"{self.average} average of {len(self.per_class)} classes or labels"
        sure = (
            "approximate, rows are weighted" if self.approximate else _GUARANTEES[self.certificate]
        )
        if self.why:  # the certificate was left to karat
            # With weights no limit is distribution-free, though the choice is the same.
            why = self.why.replace("distribution-free ", "") if self.approximate else self.why
            sure += f"{';' * self.approximate} by {self.certificate!r}, since {why}"
        text = (
            f"{self.title} is {self.value:.4f}{self._scale()}, between {self.lower:.4f} and "
            f"{self.upper:.4f} at {100 * self.confidence:g} % ({sure}; {n})"
        )
        if self.gap is not None:
            text += f"; largest gap between groups {self.gap[0]:.4f}"
        if self.skipped:
            text += f"; without an area: {', '.join(map(str, self.skipped))}"
        return text + self._worse_than_chance()

    def _scale(self) -> str:
        """Return what an area could be at most, and as a mean rate, unless that is plain."""
        most = self.weight.area
        if self.normalize != "raw" or most == 1:
            return ""
        mean = f", a mean true-positive rate of {self.value / most:.4f}"
        return f" of at most {most:.4g}{mean if isinstance(self.weight, FprBand) else ''}"

    def _worse_than_chance(self) -> str:
        chance = {"mcclish": 0.5, "mean": self.weight.chance / self.weight.area}.get(
            self.normalize, self.weight.chance
        )
        if self.per_class is not None or self.value >= chance:
            return ""
        return (
            f". That is below the {chance:.4g} of a ranking by chance: is {self.pos_label!r} the "
            "positive class, and does a higher score speak for it?"
        )

    def _table(self) -> list[tuple[str, str]]:
        rows = [("value", f"{self.value:.6f}"), ("limits", f"{self.lower:.6f} – {self.upper:.6f}")]
        if self.half_width is not None:
            rows.append(("closed form", f"± {self.half_width:.6f}"))
        if self.standard_error is not None:
            rows.append(("standard error", f"{self.standard_error:.6f}"))
        for parts in (self.groups, self.per_class):
            rows += [
                (str(k), f"{p.value:.4f} ({p.lower:.4f} – {p.upper:.4f})")
                for k, p in (parts or {}).items()
            ]
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RocPoint(Result):
    """The true-positive rate at one false-positive rate.

    Attributes
    ----------
    at : float
        The false-positive rate.
    value : float
        The true-positive rate there, on the rows.
    lower, upper : float
        Distribution-free limits of the true-positive rate there in the population.
    confidence : float
        Probability that the limits hold.
    widths, lowers, uppers : array (widths,)
        The limits from averages over bands of these widths beside the point. A mean over
        ``[at − h, at]`` is never above the rate at the point, nor a mean over ``[at, at + h]``
        below it; wider bands are further off (bias). All hold together.
    standard_errors : array (widths,)
        Of the mean over ``[at − h, at + h]``: narrower bands vary more.
    n_positive, n_negative : float
        Rows of each class.
    approximate : bool
        Whether rows had importance weights, so that the limits are approximate.
    """

    at: float
    value: float
    lower: float
    upper: float
    confidence: float
    widths: FloatArray
    lowers: FloatArray
    uppers: FloatArray
    standard_errors: FloatArray
    n_positive: float
    n_negative: float
    approximate: bool = False

    def summary(self) -> str:
        """Return the rate and its limits."""
        sure = ", approximate as rows are weighted" if self.approximate else " for any law"
        return (
            f"true-positive rate {self.value:.4f} at a false-positive rate of {self.at:g}, between "
            f"{self.lower:.4f} and {self.upper:.4f} at {100 * self.confidence:g} %{sure} "
            f"({self.n_positive:,.6g} positives, {self.n_negative:,.6g} negatives)"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class UniformMargin(Result):
    """How far the area of any model of a class can be from the one seen.

    Attributes
    ----------
    margin : float
        The bound on ``|Â_W(h) − A_W(h)|`` for all h of the class together; for a Gaussian
        complexity, on that of the surrogate ``f_{W,ℓ}``, and from below only if W has a step.
    confidence : float
        Probability that it holds.
    weight : Weight
        The weight that the bound is for.
    family : FiniteFamily, LinearScores or GaussianComplexity
        The class.
    holds : bool
        Whether what the bound needs was seen; if not, the margin is infinite.
    source : str
        Where the bound comes from.
    """

    margin: float
    confidence: float
    weight: Weight
    family: Family
    holds: bool
    source: str

    def summary(self) -> str:
        """Return the margin, and whether it is vacuous."""
        if not self.holds:
            return "no margin: the rarer class is too rare for Theorem 3"
        vacuous = " (vacuous: the area itself is no larger)" * (self.margin >= self.weight.area)
        return (
            f"every model of the class has an area within {self.margin:.4g} of the one seen at "
            f"{100 * self.confidence:g} %{vacuous}; {self.source}"
        )
