"""Counts of truth against prediction, from what users pass."""

from karat._typing import AnyArray, Column, Frame
from karat._validate import (
    check_probabilities,
    check_same_length,
    check_weights,
    encode_groups,
    encode_labels,
    is_matrix,
    require_two_classes,
)
from karat.statistics.kernels import joint_counts, soft_counts

__all__ = ["count_labels"]


def count_labels(
    y_true: Column,
    y_pred: Column | Frame,
    sample_weight: Column | None,
    groups: Column | None,
    classes: Column | None,
) -> tuple[AnyArray, AnyArray, AnyArray | None]:
    """Check the input of `confusion` and `rates`; return counts, classes and groups."""
    soft = is_matrix(y_pred)
    columns = {"y_true": y_true} if soft else {"y_true": y_true, "y_pred": y_pred}
    codes, order = encode_labels(columns, classes)
    require_two_classes(order, *columns)
    proba = check_probabilities(y_pred, "y_pred", classes=order) if soft else None
    weight = check_weights(sample_weight)
    group_codes, group_names = encode_groups(groups)
    check_same_length(
        y_true=codes[0],
        y_pred=codes[1] if proba is None else proba,
        sample_weight=weight,
        groups=group_codes,
    )
    k = len(order)
    sizes = [k] * len(codes)
    if group_codes is not None and group_names is not None:
        codes, sizes = [group_codes, *codes], [len(group_names), *sizes]
    if proba is None:
        counts = joint_counts(codes, sizes, weight)
    else:
        counts = soft_counts(codes, sizes, proba, weight)
    return counts, order, group_names
