"""Several classes or labels: each is ranked against the rest."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import BoolArray, Column, FloatArray, Frame
from karat._validate import binary_order, check_score_columns, encode_labels, refuse_option
from karat.ranking.area_results._area_options import AreaOptions
from karat.ranking.area_results._area_result import area_result
from karat.ranking.areas import influence
from karat.ranking.labels import Labels, clustered_limits
from karat.ranking.placements import labelled_scores, place
from karat.ranking.result import WeightedAUC
from karat.ranking.weights import TprBand, TwoWayBand, Weight, scale_of

__all__ = ["areas_of_labels", "positive_column"]


def positive_column(
    y_true: Column | Frame, y_score: Frame, classes: Column | None, pos_label: Any
) -> Column | Frame:
    """Return the scores of the positive class where there are two classes and two columns.

    Both columns of such a ``predict_proba`` rank the rows alike; other tables come back unchanged.
    """
    _, order = encode_labels({"y_true": y_true}, classes)
    if len(order) != 2:
        return y_score
    columns = check_score_columns(y_score, "y_score", each="column per class", classes=order)
    positive = binary_order(order, pos_label)[-1]
    return list(columns.values())[int(order[-1] == positive)]


def areas_of_labels(labels: Labels, options: AreaOptions, average: str) -> WeightedAUC:
    """Return the area of each label or class, and their mean or that of all entries pooled."""
    shared = options.sharing(len(labels.positive))
    parts = {}
    for name, positive in labels.positive.items():
        rows = labelled_scores(
            positive, labels.score[name], labels.weight, approximate=labels.approximate
        )
        parts[name] = area_result(rows, shared, np.array(["the rest", name], dtype=object))
    found = _averaged(parts, options) if average == "macro" else _pooled(labels, options)
    return replace(
        found, per_class=parts, average=average, classes=np.array(list(parts)),
        skipped=labels.skipped or None,
    )  # fmt: skip


def _averaged(parts: Mapping[Any, WeightedAUC], options: AreaOptions) -> WeightedAUC:
    """Return the mean of areas, and of limits that hold together."""
    each = list(parts.values())

    def mean(name: str) -> float:
        return math.fsum(getattr(p, name) for p in each) / len(each)

    half = None if each[0].half_width is None else mean("half_width")
    taken = {p.certificate for p in each}
    return replace(
        each[0], value=mean("value"), lower=mean("lower"), upper=mean("upper"),
        confidence=options.confidence, half_width=half, standard_error=None,
        n_positive=sum(p.n_positive for p in each) / len(each),
        n_negative=sum(p.n_negative for p in each) / len(each),
        certificate=each[0].certificate if len(taken) == 1 else options.certificate,
        why=each[0].why if len(taken) == 1 else "of each class by its numbers of rows",
    )  # fmt: skip


def _pooled(labels: Labels, options: AreaOptions) -> WeightedAUC:
    """Return the area of all entries, with limits that take those of one row together."""
    region = options.weight
    if isinstance(region, TwoWayBand) or options.ties == "strict":
        refuse_option("micro", "average", "'macro' for two-way areas and with ties='strict'")
    positive, score, weight = labels.pooled()
    rows = labelled_scores(positive, score, weight, approximate=labels.approximate)
    found = area_result(rows, replace(options, certificate="dkw"), np.array([False, True]))
    if isinstance(region, TprBand):
        effects, area = _entry_effects(~positive, -score, weight, region.mirrored())
    else:
        effects, area = _entry_effects(positive, score, weight, region)
    most, has = region.area, positive if weight is None else positive & (weight > 0)
    limits = clustered_limits(
        area / most, effects / most, has, len(next(iter(labels.score.values()))),
        1 - options.confidence,
    )  # fmt: skip
    scale, shift = scale_of(region, options.normalize)
    lower, upper = (shift + scale * most * x for x in limits)
    return replace(
        found, lower=lower, upper=upper, certificate="clustered", half_width=None,
        why="entries of one row are not independent",
    )  # fmt: skip


def _entry_effects(
    positive: BoolArray, score: FloatArray, weight: FloatArray | None, region: Weight
) -> tuple[FloatArray, float]:
    """Return what each entry adds to the error of an area, and the area."""
    ones, zeros = (np.flatnonzero(side) for side in (positive, ~positive))
    ones, zeros = ones[np.argsort(score[ones])], zeros[np.argsort(score[zeros])]
    weights = None if weight is None else (weight[ones], weight[zeros])
    placed = place(score[ones], score[zeros], weights=weights)
    effect = np.empty(len(score))
    found = influence(placed, region)
    for rows, values in zip((ones, zeros), found, strict=True):
        mass = np.ones(len(rows)) if weight is None else weight[rows]
        share = mass / mass.sum()
        effect[rows] = (values - values @ share) * share
    return effect, float(np.average(found[0], weights=placed.mass))
