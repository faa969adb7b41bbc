"""What is known of a ranking: its areas and other measures, several of them compared, one point.

`WeightedAUC` is an area and `RankingMeasure` another measure; a `RankingComparison` holds those of
several models and each `RankingDifference`. `RocPoint` is one point of the curve, and
`UniformMargin` a bound for all models of a class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from karat._result import Estimate, Estimated, Guarantee, Result, Several, basis_of
from karat._sentences import shown
from karat._typing import AnyArray, FloatArray
from karat.ranking.methods import Family
from karat.ranking.weights import AnyWeight, FprBand, Weight

_ANY = "distribution-free limits"
_FREE = frozenset({"auto", "hinge", "kl", "nested", "dkw", "beta", "maurer-pontil"})
_GUARANTEES = {
    "auto": _ANY,  # of classes whose methods differ
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


def area_guarantee(method: str, *, approximate: bool) -> Guarantee:
    """Return what the limits of an area are worth, by the method and whether rows have weights."""
    return "finite-sample" if method in _FREE and not approximate else "approximate"


def largest_gap(
    groups: Mapping[Any, WeightedAUC] | Mapping[Any, RankingMeasure] | None, confidence: float
) -> Estimate[float] | None:
    """Return the largest difference between two groups, with limits of it that hold together."""
    if not groups:
        return None
    parts: list[WeightedAUC | RankingMeasure] = list(groups.values())
    return Estimate(
        value=max(p.value for p in parts) - min(p.value for p in parts),
        lower=max(0.0, max(p.lower for p in parts) - min(p.upper for p in parts)),
        upper=max(p.upper for p in parts) - min(p.lower for p in parts),
        confidence=confidence,
        basis=basis_of(*parts),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WeightedAUC(Estimated[float]):
    """A weighted area under the ROC curve, with its limits.

    Attributes
    ----------
    estimate : Estimate
        The area with its limits: ``value``, ``lower``, ``upper``, ``confidence`` and ``basis``,
        which are also read from the result itself. The basis is ``"likely"`` for ``smoothed``,
        ``delong`` and ``bootstrap`` limits and where rows have importance weights.
    method : str
        The method of the limits; where it was ``auto`` or ``approximate``, what that stood for.
    why : str
        Why that method was taken; empty where it was named.
    half_width : float or None
        The closed form that no DKW limit exceeds, ``‖W‖₁√(ln(4/δ)/2n₁) + ‖W‖_∞√(ln(4/δ)/2n₀)``, on
        the scale of ``value``; None for other methods, two-way areas and ``ties="strict"``.
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

    estimate: Estimate[float]
    method: str
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
    groups: Mapping[Any, WeightedAUC] | None = None
    skipped: Mapping[Any, str] | None = None
    per_class: Mapping[Any, WeightedAUC] | None = None
    average: str | None = None

    _PARTS = (("group", "groups"), ("class", "per_class"))

    @property
    def pos_label(self) -> Any:
        """The positive class; None where each class was ranked against the rest."""
        return None if self.per_class is not None else self.classes.tolist()[-1]

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth: for any law and number of rows, or as rows grow in number."""
        return area_guarantee(self.method, approximate=self.approximate)

    @property
    def gap(self) -> Estimate[float] | None:
        """The largest difference between two groups, with limits of it that hold together."""
        return largest_gap(self.groups, self.confidence)

    @property
    def title(self) -> str:
        """What the area is called."""
        scale = {"raw": "", "mean": " as a mean rate", "mcclish": " on McClish's scale"}
        return f"{self.weight.title}{scale[self.normalize]}"

    def summary(self) -> str:
        """Return the area and how sure it is."""
        n = f"{self.n_positive:,.6g} rows of {shown(self.pos_label)}, the positive class, and "
        n += f"{self.n_negative:,.6g} others"
        if self.per_class is not None:
            n = f"{self.average} average of {len(self.per_class)} classes or labels"
        sure = "approximate, rows are weighted" if self.approximate else _GUARANTEES[self.method]
        if self.why:  # the method was left to karat
            # With weights no limit is distribution-free, though the choice is the same.
            why = self.why.replace("distribution-free ", "") if self.approximate else self.why
            sure += f"{';' * self.approximate} by {self.method!r}, since {why}"
        text = (
            f"{self.title} is {self.value:.4f}{self._scale()}, between {self.lower:.4f} and "
            f"{self.upper:.4f} at {100 * self.confidence:g} % ({sure}; {n})"
        )
        if self.gap is not None:
            text += f"; largest gap between groups {self.gap.value:.4f}"
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
            f". That is below the {chance:.4g} of a ranking by chance: is {shown(self.pos_label)} "
            "the positive class, and does a higher score speak for it?"
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


# --- Measures of a ranking beside its areas.

_SURE = {
    "exact": "exact limits",
    "approximate": "approximate limits",
    "clustered": "approximate limits, labels of one row taken together",
}


def measure_guarantee(method: str) -> Guarantee:
    """Return what the limits of a measure are worth, by their method."""
    return "exact" if method == "exact" else "approximate"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingMeasure(Estimated[float]):
    """A measure of a ranking, with its limits.

    Attributes
    ----------
    measure : str
        ``average precision``, ``precision``, ``recall``, ``lift``, ``net benefit`` or ``expected
        cost``.
    title : str
        The measure with its cut.
    estimate : Estimate
        The measure: ``value`` on the rows, with ``lower`` and ``upper``, limits of it in the
        population that they were drawn from, ``confidence`` and ``basis``.
    method : str
        Of the limits: ``exact`` (the law of a count), ``approximate`` (supported by simulations
        from 10 positives on), or ``clustered`` (approximate, with the labels of one row taken
        together).
    chance : float
        What a ranking that knows nothing has: for net benefit the better of acting on nobody and on
        everybody, for expected cost the cheaper of taking no row and all rows.
    at : float or None
        The cut: the share of rows that is taken, the threshold, or the weight of a miss.
    note : str
        What the value hides, such as rows that are level at the cut; empty if nothing.
    n_positive, n_negative : float
        Rows of each class; what limits may count on, where rows are weighted.
    approximate : bool
        Whether rows had importance weights.
    classes : array (2,)
        The negative and the positive class.
    curve_x, curve_y, curve_lower, curve_upper : array (points,)
        The curve that the picture shows, with limits of each point by itself (NaN for none):
        precision over recall, the measure over the share of rows that is taken, net benefit over
        thresholds, or expected cost over the weight of a miss. Empty for a macro average, where
        each part has its own.
    over_all : Estimate or None
        Of net benefit: how much better it is than acting on all rows, with limits.
    groups : mapping or None
        The measure in each group, ranked by itself, with limits that hold together.
    skipped : mapping or None
        Groups or labels that have no such measure, and why.
    per_class : mapping or None
        The measure of each class against the rest, or of each label.
    average : str or None
        How ``value`` averages these: ``macro`` (their mean) or ``micro`` (all labels pooled).
    """

    measure: str
    title: str
    estimate: Estimate[float]
    method: str
    chance: float
    at: float | None
    note: str
    n_positive: float
    n_negative: float
    approximate: bool
    classes: AnyArray
    curve_x: FloatArray
    curve_y: FloatArray
    curve_lower: FloatArray
    curve_upper: FloatArray
    over_all: Estimate[float] | None = None
    groups: Mapping[Any, RankingMeasure] | None = None
    skipped: Mapping[Any, str] | None = None
    per_class: Mapping[Any, RankingMeasure] | None = None
    average: str | None = None

    _PARTS = (("group", "groups"), ("class", "per_class"))

    @property
    def pos_label(self) -> Any:
        """The positive class; None where there are several classes or labels."""
        return None if self.per_class is not None else self.classes.tolist()[-1]

    @property
    def guarantee(self) -> Guarantee:
        """What the limits are worth: the law of a count, or as rows grow in number."""
        return measure_guarantee(self.method)

    @property
    def n(self) -> float:
        """All rows."""
        return self.n_positive + self.n_negative

    @property
    def gap(self) -> Estimate[float] | None:
        """The largest difference between two groups, with limits of it that hold together."""
        return largest_gap(self.groups, self.confidence)

    def summary(self) -> str:
        """Return the measure and how sure it is."""
        sure = "approximate, rows are weighted" if self.approximate else _SURE[self.method]
        text = (
            f"{self.title} is {self.value:.4f}, between {self.lower:.4f} and {self.upper:.4f} at "
            f"{100 * self.confidence:g} % ({sure}; {self._rows()}); {self._chance()}"
        )
        if self.note:
            text += f"; {self.note}"
        if self.gap is not None:
            text += f"; largest gap between groups {self.gap.value:.4f}"
        if self.skipped:
            text += f"; without a value: {', '.join(map(str, self.skipped))}"
        return text + self._worse_than_chance()

    def _rows(self) -> str:
        if self.per_class is None:
            return (
                f"{self.n_positive:,.6g} rows of {shown(self.pos_label)}, the positive class, and "
                f"{self.n_negative:,.6g} others"
            )
        return f"{self.average} average of {len(self.per_class)}"

    def _chance(self) -> str:
        if self.measure == "net benefit":
            all_rows = ""
            if self.over_all is not None:
                over = self.over_all
                limits = f"({over.lower:+.4f} to {over.upper:+.4f})"
                all_rows = f", and {over.value:+.4f} {limits} over acting on all"
            return f"acting on nobody has 0{all_rows}"
        if self.measure == "expected cost":
            return f"without scores it is {self.chance:.4f}"
        return f"a ranking by chance has {self.chance:.4f}"

    def _worse_than_chance(self) -> str:
        cost = self.measure == "expected cost"
        if self.per_class is not None or cost or self.measure == "net benefit":
            return ""
        if self.value >= self.chance:
            return ""
        return (
            f". That is below chance: is {shown(self.pos_label)} the positive class, and does a "
            "higher score speak for it?"
        )

    def _table(self) -> list[tuple[str, str]]:
        rows = [("value", f"{self.value:.6f}"), ("limits", f"{self.lower:.6f} – {self.upper:.6f}")]
        for parts in (self.groups, self.per_class):
            rows += [
                (str(k), f"{p.value:.4f} ({p.lower:.4f} – {p.upper:.4f})")
                for k, p in (parts or {}).items()
            ]
        return rows


# --- Several models on the same rows.

_RESTING_ON = {
    "paired": "paired, likely",
    "approximate": "paired, approximate",
    "delong": "paired, normal",
    "distribution-free": "distribution-free",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingDifference(Estimated[float]):
    """The difference between two models on the same rows, in an area or another measure.

    Attributes
    ----------
    first, second : label
        Names of the models, as they were passed.
    estimate : Estimate
        The measure of the first model less that of the second: ``value`` with ``lower`` and
        ``upper``, limits that hold for all pairs together, ``confidence`` and ``basis``.
    p_value : float or None
        Of no difference, two-sided and paired, not adjusted for the number of pairs.
    method : {"paired", "approximate", "delong", "distribution-free"}
        How ``lower`` and ``upper`` were found: ``paired`` limits are likely and assume independent
        rows; ``approximate`` ones, those of `compare_rankings`, are paired too; ``delong`` ones
        are paired and normal; ``distribution-free`` ones are guaranteed, and are made of the limits
        of both models.
    guaranteed : Estimate or None
        The difference with its distribution-free limits, where there are any.
    approximate : bool
        Whether rows had importance weights: all limits are rough then.
    """

    first: Any
    second: Any
    estimate: Estimate[float]
    p_value: float | None
    method: str = "distribution-free"
    guaranteed: Estimate[float] | None = None
    approximate: bool = False

    @property
    def decided(self) -> bool:
        """Whether the limits exclude that the two are equal."""
        return self.lower > 0 or self.upper < 0

    def summary(self) -> str:
        """Return the difference and its limits."""
        p = "" if self.p_value is None else f", paired p = {self.p_value:.2g}"
        return (
            f"{self.first} less {self.second}: {self.value:+.4f}, between {self.lower:+.4f} and "
            f"{self.upper:+.4f} ({self._resting_on()}){p}{self.second_line}"
        )

    def _resting_on(self) -> str:
        if not self.approximate:
            return _RESTING_ON[self.method]
        return (
            "rough, rows are weighted"
            if self.method == "distribution-free"
            else (f"{_RESTING_ON[self.method].partition(',')[0]}, rough, rows are weighted")
        )

    @property
    def second_line(self) -> str:
        """The distribution-free limits in words, where they are not the limits themselves."""
        if self.method == "distribution-free" or self.guaranteed is None:
            return ""
        free = "unpaired" if self.approximate else "distribution-free"
        return f"; {free} limits {self.guaranteed.lower:+.4f} to {self.guaranteed.upper:+.4f}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingComparison(Several):
    """Several models on the same rows.

    Attributes
    ----------
    models : mapping of name to WeightedAUC or RankingMeasure
        The measure of each, with limits that hold for all models together.
    value, lower, upper : array
        The same numbers, in the order of the models.
    differences : tuple of RankingDifference
        Every pair, the better model first.
    confidence : float
        Probability that all limits hold together.
    """

    models: Mapping[Any, WeightedAUC | RankingMeasure]
    differences: tuple[RankingDifference, ...]
    confidence: float

    _PARTS = (("model", "models"),)

    def _each(self) -> Iterable[WeightedAUC | RankingMeasure]:
        return self.models.values()

    @property
    def guarantee(self) -> Guarantee:
        """What the limits of the differences are worth, by the method of each."""
        areas = [m for m in self.models.values() if isinstance(m, WeightedAUC)]
        free = len(areas) == len(self.models) and all(a.guarantee == "finite-sample" for a in areas)
        free = free and all(d.method == "distribution-free" for d in self.differences)
        return "finite-sample" if free else "approximate"

    @property
    def lower_is_better(self) -> bool:
        """Whether the measure is a cost."""
        first = next(iter(self.models.values()))
        return isinstance(first, RankingMeasure) and first.measure == "expected cost"

    @property
    def best(self) -> Any:
        """The name of the best model: that of the greatest measure, or of the least cost."""
        sign = -1 if self.lower_is_better else 1
        return max(self.models, key=lambda name: sign * self.models[name].value)

    def summary(self) -> str:
        """Return the best model and how many of the rest the limits put below it."""
        top = self.models[self.best]
        pairs = [d for d in self.differences if d.first == self.best]
        sign = -1 if self.lower_is_better else 1
        beaten = sum((d.lower if sign > 0 else -d.upper) > 0 for d in pairs)
        level = (1 - self.confidence) / len(self.differences)
        tested = sum(d.p_value is not None and d.p_value < level for d in pairs)
        by_test = f" ({tested} by the paired test)" if tested != beaten else ""
        most, worse = ("least", "above") if sign < 0 else ("greatest", "below")
        return (
            f"{self.best} has the {most} {top.title}, {top.value:.4f} ({top.lower:.4f} to "
            f"{top.upper:.4f}); models that the limits put {worse} it: {beaten} of {len(pairs)}"
            f"{by_test}, at {100 * self.confidence:g} % for all comparisons together"
        )

    def _table(self) -> list[tuple[str, str]]:
        areas = [
            (str(name), f"{m.value:.4f} ({m.lower:.4f} – {m.upper:.4f})")
            for name, m in self.models.items()
        ]
        return areas + [(f"{d.first} − {d.second}", d.summary()) for d in self.differences]


# --- One point of the curve, and a bound for all models of a class.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RocPoint(Estimated[float]):
    """The true-positive rate at one false-positive rate.

    Attributes
    ----------
    at : float
        The false-positive rate.
    estimate : Estimate
        The true-positive rate there: ``value`` on the rows, with distribution-free limits
        ``lower`` and ``upper`` of it in the population, ``confidence`` and ``basis``.
    method : str
        The method of the limits.
    band_width, band_lower, band_upper : array (widths,)
        The limits from averages over bands of these widths beside the point. A mean over
        ``[at − h, at]`` is never above the rate at the point, nor a mean over ``[at, at + h]``
        below it; wider bands are further off (bias). All hold together.
    band_error : array (widths,)
        Standard error of the mean over ``[at − h, at + h]``: narrower bands vary more.
    n_positive, n_negative : float
        Rows of each class.
    approximate : bool
        Whether rows had importance weights, so that the limits are approximate.
    """

    at: float
    estimate: Estimate[float]
    method: str
    band_width: FloatArray
    band_lower: FloatArray
    band_upper: FloatArray
    band_error: FloatArray
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
