"""From checked options to a result, for one ranking, for groups, for classes and for labels."""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat._validate import (
    check_choice,
    check_confidence,
    check_same_length,
    check_scores,
    check_weighting,
    check_weights,
    encode_groups,
    is_matrix,
)
from karat.exceptions import DataError, OptionError, ScoreError, SmallSampleWarning
from karat.ranking.area_results import positive_column
from karat.ranking.labels import Labels, classes_apart, clustered_limits, read_labels_apart
from karat.ranking.measure_result import RankingMeasure
from karat.ranking.measures import AveragePrecision, Cut, ExpectedCost, Measure, NetBenefit, Row
from karat.ranking.orderings import Ordering, ordering_of
from karat.ranking.placements import labelled_scores, read_labels

__all__ = ["check_rows", "measured_ranking", "measured_rows", "rows_of"]


def measured_ranking(
    measure: Measure,
    y_true: Column | Frame,
    y_score: Column | Frame,
    *,
    confidence: float,
    pos_label: Any,
    sample_weight: Column | None,
    weighting: str | None,
    groups: Column | None,
    classes: Column | None = None,
    average: str = "macro",
) -> RankingMeasure:
    """Return a measure of what users passed."""
    level = check_confidence(confidence)
    check_choice(average, "average", ("macro", "micro"))
    labels = read_labels_apart(y_true, y_score, sample_weight, weighting)
    if labels is not None:
        labels.only_these(groups=groups, pos_label=pos_label)
    elif is_matrix(y_score):
        y_score = positive_column(y_true, y_score, classes, pos_label)
        if is_matrix(y_score):
            labels = classes_apart(
                y_true, y_score, sample_weight, weighting, classes, groups=groups,
                pos_label=pos_label,
            )  # fmt: skip
    if labels is not None:
        _only_average_precision(measure)
        return _of_labels(measure, labels, level, average)
    positive, order = read_labels(y_true, pos_label, classes, what="a ranking")
    score = check_scores(y_score)
    weight = check_weights(sample_weight)
    codes, names = (None, None) if groups is None else encode_groups(groups)
    check_same_length(y_true=positive, y_score=score, sample_weight=weight, groups=codes)
    approximate = check_weighting(weighting, weight)
    check_rows(measure, score, approximate=approximate)
    whole = measured_rows(
        measure, rows_of(positive, score, weight, approximate=approximate), order, level,
        approximate=approximate,
    )  # fmt: skip
    if codes is None or names is None:
        return whole
    parts, skipped = _grouped(
        measure, positive, score, weight, codes, names, order, level, approximate=approximate
    )
    return replace(whole, groups=parts, skipped=skipped)


def _only_average_precision(measure: Measure) -> None:
    if not isinstance(measure, AveragePrecision):
        raise DataError(
            f"y_score has several columns, one for each class or label; {measure.name} ranks by "
            "one. Pass the column of one of them, with y_true == it"
        )


def check_rows(measure: Measure, score: FloatArray, *, approximate: bool) -> None:
    """Refuse scores and weights that a measure cannot read."""
    if isinstance(measure, NetBenefit) and (score.min() < 0 or score.max() > 1):
        row = int(np.flatnonzero((score < 0) | (score > 1))[0])
        raise ScoreError(
            f"y_score row {row} is {score[row]:.6g}; net benefit compares scores with a threshold "
            "that is a probability. Pass probabilities between 0 and 1, calibrated ones"
        )
    if isinstance(measure, Cut) and measure.k is not None and approximate:
        raise OptionError(
            f"k is {measure.k} and the weights of rows are no counts; expected share=, or "
            "weighting='frequency'"
        )


def rows_of(
    positive: BoolArray, score: FloatArray, weight: FloatArray | None, *, approximate: bool
) -> Ordering:
    """Return the ordering of checked rows."""
    return ordering_of(labelled_scores(positive, score, weight, approximate=approximate))


def measured_rows(
    measure: Measure, ordered: Ordering, classes: AnyArray, level: float, *, approximate: bool
) -> RankingMeasure:
    """Return a measure of one ordering."""
    reason = measure.missing(ordered)
    if reason:
        expected = "a smaller k" if "k is" in reason else "a lower threshold"
        raise OptionError(f"{reason}; expected {expected}")
    delta = 1 - level
    value, lower, upper, curve = measure.read(ordered, delta)
    exact = isinstance(measure, Cut) and measure.threshold is not None
    benefit = isinstance(measure, NetBenefit)
    return RankingMeasure(
        measure=measure.name, title=measure.title, value=value, lower=min(lower, value),
        upper=max(upper, value), confidence=level,
        basis="exact" if exact and not approximate else "approximate",
        chance=measure.chance(ordered), at=_cut_of(measure, ordered), note=measure.note(ordered),
        n_positive=ordered.n_positive, n_negative=ordered.n_negative, approximate=approximate,
        classes=classes, curve_x=curve.x, curve_y=curve.y, curve_lower=curve.lower,
        curve_upper=curve.upper,
        over_all=measure.over_all(ordered, delta) if benefit else None,  # type: ignore[attr-defined]
    )  # fmt: skip


def _cut_of(measure: Measure, ordered: Ordering) -> float | None:
    if isinstance(measure, ExpectedCost):
        return measure.at
    if isinstance(measure, Cut) and measure.threshold is None:
        return measure.share_of(ordered)
    return measure.threshold if isinstance(measure, Cut | NetBenefit) else None


def _grouped(
    measure: Measure,
    positive: BoolArray,
    score: FloatArray,
    weight: FloatArray | None,
    codes: Any,
    names: AnyArray,
    order: AnyArray,
    level: float,
    *,
    approximate: bool,
) -> tuple[dict[Any, RankingMeasure], dict[Any, str]]:
    """Return the measure within each group, and the groups that have none with the reason."""
    found: dict[Any, Ordering] = {}
    skipped: dict[Any, str] = {}
    for code, name in enumerate(names.tolist()):
        here = codes == code if weight is None else (codes == code) & (weight > 0)
        if len(np.unique(positive[here])) < 2:
            only = (
                f"all of class {order[int(positive[here][0])].item()!r}" if here.any() else "none"
            )
            skipped[name] = f"its {int(here.sum())} rows are {only}"
            continue
        part = rows_of(
            positive[here], score[here], None if weight is None else weight[here],
            approximate=approximate,
        )  # fmt: skip
        reason = measure.missing(part)
        if reason:
            skipped[name] = reason
        else:
            found[name] = part
    if skipped:
        name, reason = next(iter(skipped.items()))
        warnings.warn(
            f"{len(skipped)} of {len(names)} groups have no {measure.name}: {name!r}, {reason}. "
            "Pool small groups if they are to count",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )
    each = 1 - (1 - level) / max(1, len(found))
    parts = {
        name: measured_rows(measure, part, order, each, approximate=approximate)
        for name, part in found.items()
    }
    return parts, skipped


def _of_labels(measure: Measure, labels: Labels, level: float, average: str) -> RankingMeasure:
    """Return the measure of every label, and their mean or that of all entries pooled."""
    each = 1 - (1 - level) / len(labels.positive)
    parts = {}
    for name, positive in labels.positive.items():
        ordered = rows_of(
            positive, labels.score[name], labels.weight, approximate=labels.approximate
        )
        classes = np.array(["the rest", name], dtype=object)
        parts[name] = measured_rows(measure, ordered, classes, each, approximate=labels.approximate)
    together: dict[str, Any] = {
        "per_class": parts, "skipped": labels.skipped or None, "average": average,
        "classes": np.array(list(parts), dtype=object),
    }  # fmt: skip
    if average == "micro":
        return replace(_pooled(measure, labels, level), **together)

    def mean(name: str) -> float:
        return math.fsum(getattr(p, name) for p in parts.values()) / len(parts)

    names = ("value", "lower", "upper", "chance", "n_positive", "n_negative")
    first = next(iter(parts.values()))
    together |= {name: mean(name) for name in names}
    return replace(first, confidence=level, note="", **together)


def _pooled(measure: Measure, labels: Labels, level: float) -> RankingMeasure:
    """Return the measure of all entries, with limits that take those of one row together."""
    positive, score, weight = labels.pooled()
    ordered = rows_of(positive, score, weight, approximate=labels.approximate)
    found = measured_rows(
        measure, ordered, np.array([False, True]), level, approximate=labels.approximate
    )
    mass = np.ones(len(score)) if weight is None else weight
    counted = mass * (ordered.n / mass.sum())
    effects = measure.effects(Row(positive, score, counted, ordered)) * counted
    rows = len(score) // len(labels.positive)
    lower, upper = clustered_limits(found.value, effects, positive & (mass > 0), rows, 1 - level)
    return replace(found, lower=lower, upper=upper, basis="clustered")
