"""Patterns of weak labels, from what users pass."""

import numpy as np

from karat._typing import AnyArray, Column, Frame
from karat._validate import (
    check_same_length,
    check_weighting,
    check_weights,
    collected_alone,
    encode_weak_labels,
    is_lazy,
)
from karat.statistics.kernels import distinct_votes, summed
from karat.statistics.pattern_result import Patterns

__all__ = ["find_patterns"]


def find_patterns(
    weak_labels: Frame,
    classes: Column | None = None,
    *,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    also: dict[str, AnyArray] | None = None,
    name: str = "weak_labels",
    null: str = "not asked",
) -> Patterns:
    """Return the patterns, as `patterns` does; values of the columns ``also`` are classes too."""
    lazy = is_lazy(weak_labels)
    weak_labels = collected_alone(weak_labels, name, sample_weight)
    votes = encode_weak_labels(weak_labels, classes, also=also, name=name, null=null)
    weight = check_weights(sample_weight)
    important = check_weighting(weighting, weight)
    check_same_length(**{name: votes.codes, "sample_weight": weight})
    ids, first = distinct_votes(votes.codes, len(votes.classes), complete=votes.complete)
    squares = None
    if weight is not None and important:
        squares = summed(ids, weight**2, len(first))
    return Patterns(
        patterns=votes.codes[first].astype(np.int64),
        counts=np.bincount(ids, weights=weight, minlength=len(first)),
        ids=ids,
        classes=votes.classes,
        names=tuple(votes.names),
        in_order=not lazy,
        squares=squares,
    )
