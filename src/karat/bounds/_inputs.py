"""From what users pass to counts, patterns and P(Y | pattern)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_probabilities,
    check_same_length,
    check_weights,
    encode_groups,
    encode_labels,
    encode_weak_labels,
    is_matrix,
    read_column,
    require_two_classes,
)
from karat.exceptions import DataError, LabelError, ProbabilityError
from karat.statistics import Patterns, patterns

__all__ = ["Inputs", "pattern_proba", "read_gold", "read_inputs"]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Checked data: the patterns, what the label model says of each, and the rows."""

    votes: Patterns
    p: FloatArray
    classes: AnyArray
    weight: FloatArray | None
    cluster: IntArray | None

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.votes.ids)


def read_inputs(
    predictions: dict[str, Column | Frame],
    weak_labels: Frame,
    label_model: Any,
    *,
    classes: Column | None,
    pos_label: Any = None,
    sample_weight: Column | None = None,
    clusters: Column | None = None,
) -> Inputs:
    """Check votes, label model, weights and clusters, and settle the order of the classes."""
    order = _class_order(predictions, weak_labels, label_model, classes, pos_label)
    votes = patterns(weak_labels, classes=order)
    if (votes.patterns < 0).all():
        raise LabelError("every vote in weak_labels abstains; pass at least one labeler that votes")
    weight = check_weights(sample_weight)
    cluster, _ = encode_groups(clusters)
    check_same_length(weak_labels=votes.ids, sample_weight=weight, clusters=cluster)
    p = pattern_proba(label_model, votes, order)
    return Inputs(votes, p, order, weight, cluster)


def _class_order(
    predictions: dict[str, Column | Frame],
    weak_labels: Frame,
    label_model: Any,
    classes: Column | None,
    pos_label: Any,
) -> AnyArray:
    """Return the classes: given, or those of the label model, or those found; positive last."""
    if classes is not None:
        order = check_classes(classes)
    elif hasattr(label_model, "classes_"):
        order = np.asarray(label_model.classes_)
    else:
        hard = {name: v for name, v in predictions.items() if not is_matrix(v)}
        found = {name: encode_labels({name: v})[1] for name, v in hard.items()}
        order = encode_weak_labels(weak_labels, also=found).classes
    require_two_classes(order, *predictions, "weak_labels")
    if pos_label is None:
        return order
    if pos_label not in order.tolist():
        raise LabelError(
            f"pos_label is {pos_label!r}, which is not among the classes {order.tolist()}"
        )
    return np.asarray([*[c for c in order.tolist() if c != pos_label], pos_label])


def pattern_proba(label_model: Any, votes: Patterns, order: AnyArray) -> FloatArray:
    """Return P(Y | pattern), one row per pattern, columns in the given order of classes."""
    if not hasattr(label_model, "predict_proba"):
        return _from_rows(label_model, votes, order)
    known = np.asarray(label_model.classes_)
    if sorted(map(str, known.tolist())) != sorted(map(str, order.tolist())):
        raise LabelError(
            f"the label model knows the classes {known.tolist()} and the data the classes "
            f"{order.tolist()}; fit it with classes= these, or pass classes= those"
        )
    places = [known.tolist().index(c) for c in order.tolist()]
    if hasattr(label_model, "predict_pattern_proba"):
        code = np.append(places, -1)  # a vote for class c is the model's code places[c]
        proba = label_model.predict_pattern_proba(code[votes.patterns])
    else:
        numeric = order.dtype.kind in "biu"
        table = np.array(
            [*order.tolist(), -1 if numeric else None], dtype=None if numeric else object
        )
        proba = label_model.predict_proba(table[votes.patterns])
    return check_probabilities(proba, "label_model.predict_proba(...)", classes=known)[:, places]


def _from_rows(proba: Any, votes: Patterns, order: AnyArray) -> FloatArray:
    """Reduce an n×k array of P(Y | Z) to one row per pattern, which must agree within it."""
    rows = check_probabilities(proba, "label_model", classes=order)
    check_same_length(weak_labels=votes.ids, label_model=rows)
    p = np.zeros((len(votes.patterns), len(order)))
    p[votes.ids] = rows
    off = np.abs(rows - p[votes.ids]).max(axis=1) > 1e-6
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise ProbabilityError(
            f"label_model row {row} differs from another row with the same weak labels; P(Y | Z) "
            "must depend on the weak labels alone. Average the rows of each pattern first"
        )
    return p


def read_gold(y_true: Column | None, order: AnyArray, n: int) -> tuple[IntArray, BoolArray] | None:
    """Return codes of the truth and where it is known, or None if there is none."""
    if y_true is None:
        return None
    values, mask = read_column(y_true, "y_true")
    check_same_length(weak_labels=np.empty(n), y_true=values)
    known = np.ones(n, dtype=bool) if mask is None else ~mask
    if not known.any():
        raise DataError("y_true has no known label; pass some, or leave it out")
    codes = np.full(n, -1)
    (codes[known],), _ = encode_labels({"y_true": values[known]}, order)
    return codes, known
