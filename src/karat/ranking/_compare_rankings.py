"""Compare rankings of the same rows by any measure, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from karat._basis import Guarantee
from karat._result import Result, keeps_kind
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat._validate import (
    check_choice,
    check_confidence,
    check_number,
    check_same_length,
    check_weighting,
    check_weights,
    refuse_option,
)
from karat.exceptions import OptionError
from karat.ranking._cut_measures import AveragePrecision, ExpectedCost, Measure, NetBenefit, Row
from karat.ranking._measures import (
    RankingMeasure,
    check_cut,
    check_rows,
    measured_rows,
    read_models,
    rows_of,
)
from karat.ranking.placements import read_labels
from karat.ranking.result import WeightedAUC

_MEASURES = ("average_precision", "precision_at", "recall_at", "lift", "net_benefit", "cost_curve")


@keeps_kind
def compare_rankings(
    y_true: Column,
    y_scores: Mapping[Any, Column] | Frame,
    *,
    measure: str = "average_precision",
    k: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    at: float | None = None,
    confidence: float = 0.95,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
) -> RankingComparison:
    """Compare several models on the same rows, by any measure of this package but the area.

    The limits of a difference come from what each row adds to the measure of one model less what it
    adds to that of the other, so what both share cancels. They hold for all pairs together, and are
    approximate: Student's t, with one more row that the models differ on. `compare_auc` compares
    areas.

    Parameters
    ----------
    y_true : column (n,)
        Labels of two classes.
    y_scores : mapping of name to column, or frame (n, models)
        Scores of each model.
    measure : {"average_precision", "precision_at", "recall_at", "lift", "net_benefit", \
            "cost_curve"}
        The function that measures each model.
    k, share, threshold, at
        Its cut, as that function takes it.
    confidence : float, default 0.95
        Probability that the limits hold, for all models and for all pairs together.
    pos_label, sample_weight, weighting
        As in `average_precision`.

    Returns
    -------
    RankingComparison
        ``models``, ``differences`` and ``best``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(3000) < 0.2
    >>> good, poor = rng.normal(size=3000) + 2 * y, rng.normal(size=3000) + y
    >>> r = compare_rankings(y, {"good": good, "poor": poor}, measure="precision_at", k=300)
    >>> r.best, r.differences[0].lower > 0
    ('good', True)
    """
    chosen = _measure_of(
        check_choice(measure, "measure", _MEASURES), k=k, share=share, threshold=threshold, at=at
    )
    level = check_confidence(confidence)
    positive, classes = read_labels(y_true, pos_label, what="a ranking")
    scores = read_models(y_scores)
    weight = check_weights(sample_weight)
    for name, score in scores.items():
        check_same_length(**{"y_true": positive, f"y_scores[{name!r}]": score})
    check_same_length(y_true=positive, sample_weight=weight)
    approximate = check_weighting(weighting, weight)
    for score in scores.values():
        check_rows(chosen, score, approximate=approximate)
    return compared_rankings(
        chosen, positive, scores, weight, classes, level, approximate=approximate
    )


def _measure_of(name: str, **cuts: Any) -> Measure:
    """Return a measure with the cut that it takes, and no other."""
    takes = {
        "average_precision": (),
        "precision_at": ("k", "share", "threshold"),
        "recall_at": ("k", "share", "threshold"),
        "lift": ("k", "share"),
        "net_benefit": ("threshold",),
        "cost_curve": ("at",),
    }[name]
    for cut, value in cuts.items():
        if value is not None and cut not in takes:
            expected = f"None with measure={name!r}"
            refuse_option(value, cut, expected)
    if name == "average_precision":
        return AveragePrecision()
    if name in ("net_benefit", "cost_curve"):
        option = takes[0]
        value = 0.5 if name == "cost_curve" and cuts["at"] is None else cuts[option]
        if value is None:
            raise OptionError("net_benefit takes threshold=; got none. Pass the one that is meant")
        number = check_number(value, option, above=0.0, at_most=1.0)
        if number >= 1:
            refuse_option(value, option, "a number above 0 and below 1")
        return NetBenefit(number) if name == "net_benefit" else ExpectedCost(number)
    return check_cut(name.removesuffix("_at"), **{cut: cuts[cut] for cut in takes})


# --- What is known of several models on the same rows.

_METHODS = {
    "paired": "paired, likely",
    "approximate": "paired, approximate",
    "delong": "paired, normal",
    "distribution-free": "distribution-free",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingDifference(Result):
    """The difference between two models on the same rows, in an area or another measure.

    Attributes
    ----------
    first, second : label
        Names of the models, as they were passed; ``value`` is the measure of the first less that of
        the second.
    value, lower, upper : float
        The difference and its limits, which hold for all pairs together.
    p_value : float or None
        Of no difference, two-sided and paired, not adjusted for the number of pairs.
    method : {"paired", "approximate", "delong", "distribution-free"}
        How ``lower`` and ``upper`` were found: ``paired`` limits are likely and assume independent
        rows; ``approximate`` ones, those of `compare_rankings`, are paired too; ``delong`` ones
        are paired and normal; ``distribution-free`` ones are guaranteed, and are made of the limits
        of both models.
    guaranteed_lower, guaranteed_upper : float or None
        The distribution-free limits, where there are any.
    approximate : bool
        Whether rows had importance weights: all limits are rough then.
    """

    first: Any
    second: Any
    value: float
    lower: float
    upper: float
    p_value: float | None
    method: str = "distribution-free"
    guaranteed_lower: float | None = None
    guaranteed_upper: float | None = None
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
            return _METHODS[self.method]
        return (
            "rough, rows are weighted"
            if self.method == "distribution-free"
            else (f"{_METHODS[self.method].partition(',')[0]}, rough, rows are weighted")
        )

    @property
    def second_line(self) -> str:
        """The distribution-free limits in words, where they are not the limits themselves."""
        if self.method == "distribution-free" or self.guaranteed_lower is None:
            return ""
        free = "unpaired" if self.approximate else "distribution-free"
        return f"; {free} limits {self.guaranteed_lower:+.4f} to {self.guaranteed_upper:+.4f}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RankingComparison(Result):
    """Several models on the same rows.

    Attributes
    ----------
    models : mapping of name to WeightedAUC or RankingMeasure
        The measure of each, with limits that hold for all models together.
    differences : tuple of RankingDifference
        Every pair, the better model first.
    confidence : float
        Probability that all limits hold together.
    """

    models: Mapping[Any, WeightedAUC | RankingMeasure]
    differences: tuple[RankingDifference, ...]
    confidence: float

    _PARTS = (("model", "models"),)

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


# --- Several models on the same rows: their measures, and the differences row by row.


def compared_rankings(
    measure: Measure,
    positive: BoolArray,
    scores: Mapping[Any, FloatArray],
    weight: FloatArray | None,
    classes: AnyArray,
    level: float,
    *,
    approximate: bool,
) -> RankingComparison:
    """Return the measure of each model and the differences of all pairs."""
    each = 1 - (1 - level) / len(scores)
    models: dict[Any, RankingMeasure] = {}
    effects: dict[Any, FloatArray] = {}
    units: dict[Any, tuple[float, float]] = {}
    span = 1.0
    mass = np.ones(len(positive)) if weight is None else weight
    for name, score in scores.items():
        ordered = rows_of(positive, score, weight, approximate=approximate)
        models[name] = measured_rows(measure, ordered, classes, each, approximate=approximate)
        counted = mass * (ordered.n / mass.sum())
        rows = Row(positive, score, counted, ordered)
        effects[name] = measure.effects(rows) * np.sqrt(counted)
        units[name] = measure.unit(ordered)
        span = measure.span(ordered)
    sign = -1 if isinstance(measure, ExpectedCost) else 1
    pairs = []
    for pair in combinations(models, 2):
        first, second = sorted(pair, key=lambda name: -sign * models[name].value)
        value = models[first].value - models[second].value
        unit, size = max(units[first][0], units[second][0]), min(units[first][1], units[second][1])
        spread = float(np.sum((effects[first] - effects[second]) ** 2))
        pairs.append(_Pair(first, second, value, spread, unit, size))
    share = (1 - level) / len(pairs)
    return RankingComparison(
        models=models,
        differences=tuple(_difference(pair, share, span, weighted=approximate) for pair in pairs),
        confidence=level,
    )


class _Pair(NamedTuple):
    """Two models, and what the rows that both rank say of their difference."""

    first: Any
    second: Any
    value: float
    spread: float  # sum of the squared differences of what each row adds
    unit: float  # what one more row may add
    size: float


def _difference(pair: _Pair, delta: float, span: float, *, weighted: bool) -> RankingDifference:
    """Return a difference with limits by Student's t.

    One more row that the models differ on is added to what the rows show: models that happen to
    agree on few rows are not known to agree.
    """
    from scipy.special import stdtr, stdtrit

    value, size = pair.value, pair.size
    freedom = max(size - 1.0, 1.0)
    error = math.sqrt(pair.spread * size / max(size - 1.0, 0.5) + pair.unit**2)
    reach = -float(stdtrit(freedom, delta / 2)) * error
    p_value = float(2 * stdtr(freedom, -abs(value) / error))
    return RankingDifference(
        first=pair.first,
        second=pair.second,
        value=value,
        lower=max(value - reach, -span),
        upper=min(value + reach, span),
        p_value=p_value,
        method="approximate",
        approximate=weighted,
    )
