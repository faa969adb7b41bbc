"""More than two classes: each is ranked against the rest."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, Frame
from karat._validate import (
    binary_order,
    check_same_length,
    check_score_columns,
    check_weights,
    encode_labels,
    refuse_option,
    require_two_classes,
)
from karat.exceptions import DataError, LabelError
from karat.ranking.area_results._area_options import AreaOptions
from karat.ranking.area_results._area_result import area_result
from karat.ranking.placements import check_weighting, labelled_scores
from karat.ranking.result import WeightedAUC

__all__ = ["one_against_the_rest", "positive_column"]


def positive_column(
    y_true: Column, y_score: Frame, classes: Column | None, pos_label: Any
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


def one_against_the_rest(
    y_true: Column,
    y_score: Frame,
    options: AreaOptions,
    sample_weight: Column | None,
    weighting: str | None,
    groups: Column | None,
    classes: Column | None,
    pos_label: Any,
) -> WeightedAUC:
    """Return the area of each class against the rest, and their mean."""
    if pos_label is not None:
        refuse_option(pos_label, "pos_label", "None where y_score has one column per class")
    if groups is not None:
        raise DataError("groups= is for two classes and one column of scores; leave it out")
    (codes,), order = encode_labels({"y_true": y_true}, classes)
    require_two_classes(order, "y_true")
    columns = check_score_columns(y_score, "y_score", each="column per class", classes=order)
    row_weight = check_weights(sample_weight)
    check_same_length(y_true=codes, y_score=next(iter(columns.values())), sample_weight=row_weight)
    approximate = check_weighting(weighting, row_weight)
    shared, found = options.sharing(len(order)), {}
    for j, (name, score) in enumerate(zip(order.tolist(), columns.values(), strict=True)):
        positive = codes == j
        if not positive.any():
            raise LabelError(f"y_true has no row of class {name!r}, which has a column of scores")
        found[name] = labelled_scores(positive, score, row_weight, approximate=approximate)
    parts = {
        name: area_result(rows, shared, np.array(["the rest", name], dtype=object))
        for name, rows in found.items()
    }
    return _averaged(parts, options, order)


def _averaged(
    parts: Mapping[Any, WeightedAUC], options: AreaOptions, order: AnyArray
) -> WeightedAUC:
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
        classes=order, per_class=parts,
        certificate=each[0].certificate if len(taken) == 1 else options.certificate,
        why=each[0].why if len(taken) == 1 else "of each class by its numbers of rows",
    )  # fmt: skip
