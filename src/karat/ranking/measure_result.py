"""What is known of average precision, a cut, net benefit or expected cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat._result import Result
from karat._typing import AnyArray, FloatArray
from karat.ranking.result import largest_gap

__all__ = ["RankingMeasure"]

_BASIS = {
    "exact": "exact limits",
    "approximate": "approximate limits",
    "clustered": "approximate limits, labels of one row taken together",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingMeasure(Result):
    """A measure of a ranking, with its limits.

    Attributes
    ----------
    measure : str
        ``average precision``, ``precision``, ``recall``, ``lift``, ``net benefit`` or ``expected
        cost``.
    title : str
        The measure with its cut.
    value : float
        The measure of the rows.
    lower, upper : float
        Limits of it in the population that the rows were drawn from.
    confidence : float
        Probability that the limits hold.
    basis : str
        ``exact`` (the law of a count), ``approximate`` (supported by simulations from 10 positives
        on), or ``clustered`` (approximate, with the labels of one row taken together).
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
        thresholds, or expected cost over the weight of a miss.
    over_all : tuple of float or None
        Of net benefit: how much better it is than acting on all rows, and limits of that.
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
    value: float
    lower: float
    upper: float
    confidence: float
    basis: str
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
    over_all: tuple[float, float, float] | None = None
    groups: Mapping[Any, "RankingMeasure"] | None = None
    skipped: Mapping[Any, str] | None = None
    per_class: Mapping[Any, "RankingMeasure"] | None = None
    average: str | None = None

    _PARTS = (("group", "groups"), ("class", "per_class"))

    @property
    def pos_label(self) -> Any:
        """The positive class; None where there are several classes or labels."""
        return None if self.per_class is not None else self.classes.tolist()[-1]

    @property
    def n(self) -> float:
        """All rows."""
        return self.n_positive + self.n_negative

    @property
    def gap(self) -> tuple[float, float, float] | None:
        """The largest difference between two groups, and limits of it that hold together."""
        return largest_gap(self.groups)

    def summary(self) -> str:
        """Return the measure and how sure it is."""
        sure = "approximate, rows are weighted" if self.approximate else _BASIS[self.basis]
        text = (
            f"{self.title} is {self.value:.4f}, between {self.lower:.4f} and {self.upper:.4f} at "
            f"{100 * self.confidence:g} % ({sure}; {self._rows()}); {self._chance()}"
        )
        if self.note:
            text += f"; {self.note}"
        if self.gap is not None:
            text += f"; largest gap between groups {self.gap[0]:.4f}"
        if self.skipped:
            text += f"; without a value: {', '.join(map(str, self.skipped))}"
        return text + self._worse_than_chance()

    def _rows(self) -> str:
        if self.per_class is None:
            return (
                f"{self.n_positive:,.6g} rows of {self.pos_label!r}, the positive class, and "
                f"{self.n_negative:,.6g} others"
            )
        return f"{self.average} average of {len(self.per_class)}"

    def _chance(self) -> str:
        if self.measure == "net benefit":
            all_rows = ""
            if self.over_all is not None:
                value, lower, upper = self.over_all
                all_rows = f", and {value:+.4f} ({lower:+.4f} to {upper:+.4f}) over acting on all"
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
            f". That is below chance: is {self.pos_label!r} the positive class, and does a higher "
            "score speak for it?"
        )

    def _table(self) -> list[tuple[str, str]]:
        rows = [("value", f"{self.value:.6f}"), ("limits", f"{self.lower:.6f} – {self.upper:.6f}")]
        for parts in (self.groups, self.per_class):
            rows += [
                (str(k), f"{p.value:.4f} ({p.lower:.4f} – {p.upper:.4f})")
                for k, p in (parts or {}).items()
            ]
        return rows
