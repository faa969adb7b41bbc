"""What stands beside scores: weights, gold, domains."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, IntArray
from karat._validate import (
    check_classes,
    check_weighting,
    check_weights,
    encode_gold,
    encode_labels,
    named,
    present_gold,
    shown,
)
from karat.consensus.scores import ScoreTable
from karat.exceptions import DataError, LengthMismatchError
from karat.statistics.kernels import effective_counts
from karat.votes.reading import PassedValues

__all__ = ["score_domains", "score_gold", "score_weights"]


def _per_row(table: ScoreTable, values: Any, name: str, absent: float) -> FloatArray:
    """Return one value per item from one per row."""
    found = np.full(len(table.scores), absent)
    if values is None:
        return found
    if len(values) != len(table.item_of_row):
        raise LengthMismatchError(
            f"scores has {len(table.item_of_row):,} rows and {name} has {len(values):,}; pass one "
            "value per row"
        )
    found[table.item_of_row] = values
    return found


def score_gold(table: ScoreTable, y_true: Any, classes: Any) -> tuple[AnyArray, IntArray]:
    """Return the two classes, and the class of each item, -1 where it is not known."""
    order = None if classes is None else check_classes(classes)
    if order is not None and len(order) != 2:
        raise DataError(
            f"scores tell two classes apart, and classes= names {shown(order.tolist())}"
        )
    if y_true is None:
        return (np.array([0, 1]) if order is None else order), np.full(len(table.scores), -1)
    column = list(y_true.values()) if isinstance(y_true, Mapping) else y_true
    if order is None:
        values, present = present_gold(column)
        order = np.unique(values[present])
        order = np.array([0, 1]) if set(order.tolist()) <= {0, 1} else order
        if len(order) != 2:
            raise DataError(
                f"y_true holds the classes {named(order.tolist())}; scores tell two apart. Name "
                "both with classes="
            )
    codes = encode_gold(column, order)
    if isinstance(y_true, Mapping):
        listed = range(len(table.scores)) if table.items is None else table.items.tolist()
        place = {item: i for i, item in enumerate(listed)}
        unknown = [item for item in y_true if item not in place]
        if unknown:
            raise DataError(f"y_true labels the item {shown(unknown[0])}, which has no score")
        found = np.full(len(table.scores), -1)
        found[[place[item] for item in y_true]] = codes
        return order, found
    return order, _per_row(table, codes, "y_true", -1).astype(np.int64)


def score_domains(table: ScoreTable, domains: Any) -> tuple[IntArray, PassedValues]:
    """Return the domain of each item, and the names."""
    domains = table.domain if domains is None else domains
    if domains is None:
        return np.zeros(len(table.scores), np.int64), PassedValues(np.array(["all"]))
    (codes,), found = encode_labels({"domains": domains})
    names = PassedValues.of_column(domains, codes, len(found))
    return _per_row(table, codes, "domains", 0).astype(np.int64), names


def score_weights(
    table: ScoreTable, sample_weight: Column | None, weighting: str | None, domain: IntArray
) -> FloatArray:
    """Return what each item counts; importances add up to Kish's number in each domain."""
    given = check_weights(sample_weight)
    important = check_weighting(weighting, given)
    weight = np.asarray(_per_row(table, given, "sample_weight", 1.0), dtype=np.float64)
    return effective_counts(weight, weight**2, domain) if important else weight
