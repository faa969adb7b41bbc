"""P(Y | Z) of each pattern, from a label model or from an array of one row per item."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import (
    check_classes,
    check_probabilities,
    check_same_length,
    encode_weak_labels,
)
from karat._validate._columns import named
from karat.exceptions import DataError, LabelError, ProbabilityError
from karat.statistics import Patterns, patterns

__all__ = ["pattern_posterior"]


def pattern_posterior(
    label_model: Any,
    weak_labels: Frame,
    *,
    classes: Column | None = None,
    also: dict[str, AnyArray] | None = None,
    sample_weight: Column | None = None,
) -> tuple[Patterns, FloatArray]:
    """Return the patterns of ``weak_labels`` and P(Y | Z) of each; ``also`` as in encoding."""
    if not hasattr(label_model, "predict_proba"):
        if classes is None:
            classes = encode_weak_labels(weak_labels, also=also).classes
        found = patterns(weak_labels, classes=classes, sample_weight=sample_weight)
        return found, _by_pattern(label_model, found)
    found = patterns(
        weak_labels, classes=_model_classes(label_model, classes), sample_weight=sample_weight
    )
    if hasattr(label_model, "predict_pattern_proba"):
        return found, label_model.predict_pattern_proba(found.patterns)
    return found, _by_pattern(label_model.predict_proba(weak_labels), found)


def _model_classes(label_model: Any, classes: Column | None) -> AnyArray:
    if not hasattr(label_model, "classes_"):
        raise DataError(
            f"this {type(label_model).__name__} has no classes_; fit it before the call, or pass "
            "its class probabilities as an array"
        )
    own = np.asarray(label_model.classes_)
    if classes is not None and not np.array_equal(check_classes(classes), own):
        raise LabelError(
            f"classes is {named(list(check_classes(classes)))} and the label model was fitted with "
            f"{named(list(own))}; leave classes= out, or fit the model with the same ones"
        )
    return own


def _by_pattern(proba: Any, found: Patterns) -> FloatArray:
    """Return the rows of an n×k array by pattern, or say which two rows of one pattern differ."""
    rows = check_probabilities(proba, "label_model", classes=found.classes)
    check_same_length(label_model=rows, weak_labels=found.ids)
    first = np.empty(len(found.patterns), dtype=np.intp)
    first[found.ids[::-1]] = np.arange(len(rows) - 1, -1, -1)
    apart = np.abs(rows - rows[first[found.ids]]).max(axis=1) > 1e-5
    if apart.any():
        row = int(np.flatnonzero(apart)[0])
        raise ProbabilityError(
            f"label_model rows {first[found.ids[row]]} and {row} differ and their weak labels are "
            "the same; P(Y | Z) is a function of the votes, so pass equal rows for equal votes"
        )
    return np.asarray(rows[first] / rows[first].sum(axis=1, keepdims=True))
