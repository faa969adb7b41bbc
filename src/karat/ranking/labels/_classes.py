"""Several classes as labels, each against the rest."""

from typing import Any

from karat._validate import (
    check_same_length,
    check_score_columns,
    check_weighting,
    check_weights,
    encode_labels,
    refuse_option,
    require_two_classes,
)
from karat.exceptions import LabelError
from karat.ranking.labels._labels import Labels, no_groups

__all__ = ["classes_apart"]


def classes_apart(
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    weighting: str | None,
    classes: Any,
    *,
    groups: Any,
    pos_label: Any,
) -> Labels:
    """Return each class against the rest, with its column of scores."""
    if pos_label is not None:
        refuse_option(pos_label, "pos_label", "None where y_score has one column per class")
    no_groups(groups)
    (codes,), order = encode_labels({"y_true": y_true}, classes)
    require_two_classes(order, "y_true")
    columns = check_score_columns(y_score, "y_score", each="column per class", classes=order)
    weight = check_weights(sample_weight)
    check_same_length(y_true=codes, y_score=next(iter(columns.values())), sample_weight=weight)
    positive = {name: codes == j for j, name in enumerate(order.tolist())}
    for name, rows in positive.items():
        if not rows.any():
            raise LabelError(f"y_true has no row of class {name!r}, which has a column of scores")
    return Labels(positive, columns, weight, check_weighting(weighting, weight), {})
