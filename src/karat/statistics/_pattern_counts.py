"""Counts of prediction by pattern of weak labels."""

import numpy as np

from karat._typing import AnyArray, Column, Frame
from karat._validate import (
    check_probabilities,
    check_same_length,
    check_weights,
    encode_groups,
    encode_labels,
    encode_weak_labels,
    is_matrix,
    require_two_classes,
)
from karat.exceptions import DataError
from karat.statistics._kernels import distinct_rows, joint_counts, soft_counts
from karat.statistics.pattern_result import PatternCounts

__all__ = ["pattern_counts"]

_MOST_CELLS = 1 << 28


def pattern_counts(
    y_pred: Column | Frame,
    weak_labels: Frame,
    groups: Column | None = None,
    *,
    sample_weight: Column | None = None,
    classes: Column | None = None,
) -> PatternCounts:
    """Count predictions within each pattern of weak labels.

    ``joint[z, j] = P(Z=z, Ŷ=j)``: all that bounds on a confusion metric need of the data.

    Parameters
    ----------
    y_pred : column (n,) or matrix (n, k)
        Predicted labels, or class probabilities of a randomised classifier.
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 or null where a labeler abstains.
    groups : column (n,), optional
        Group of each item; the table then has one block per group, groups first.
    sample_weight : column (n,), optional
        Weights of at least 0.
    classes : column (k,), optional
        The classes in the wanted order; by default those found in predictions and votes, sorted.

    Returns
    -------
    PatternCounts
        Counts, patterns and classes. Two of them can be added.

    Examples
    --------
    >>> t = pattern_counts([1, 0, 0], [[1, -1], [0, 1], [1, -1]])
    >>> t.patterns
    array([[ 0,  1],
           [ 1, -1]])
    >>> t.counts
    array([[1, 0],
           [1, 1]])
    """
    soft = is_matrix(y_pred)
    found = {}
    if not soft and classes is None:
        _, predicted = encode_labels({"y_pred": y_pred})
        found = {"y_pred": predicted}
    votes = encode_weak_labels(weak_labels, classes, also=found)
    require_two_classes(votes.classes, "weak_labels" if soft else "y_pred and weak_labels")
    if soft:
        predictions: AnyArray = check_probabilities(y_pred, "y_pred", classes=votes.classes)
    else:
        predictions = encode_labels({"y_pred": y_pred}, votes.classes)[0][0]
    weight = check_weights(sample_weight)
    group_codes, group_names = encode_groups(groups)
    check_same_length(
        y_pred=predictions, weak_labels=votes.codes, sample_weight=weight, groups=group_codes
    )
    ids, first = distinct_rows(votes.codes, len(votes.classes) + 1)
    codes, sizes = [ids], [len(first)]
    cells = len(first) * len(votes.classes) * (1 if group_names is None else len(group_names))
    if cells > _MOST_CELLS:
        raise DataError(
            f"{len(first):,} patterns, {len(votes.classes)} classes and "
            f"{1 if group_names is None else len(group_names):,} groups make {cells:,} cells; "
            f"expected at most {_MOST_CELLS:,}. Count the groups apart, or use fewer labelers"
        )
    if group_codes is not None and group_names is not None:
        codes, sizes = [group_codes, ids], [len(group_names), len(first)]
    if soft:
        counts = soft_counts(codes, sizes, predictions, weight)
    else:
        counts = joint_counts([*codes, predictions], [*sizes, len(votes.classes)], weight)
    return PatternCounts(
        counts=counts,
        patterns=votes.codes[first].astype(np.int64),
        classes=votes.classes,
        names=tuple(votes.names),
        groups=group_names,
    )
