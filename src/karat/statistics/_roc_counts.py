"""Positives and negatives per distinct score."""

from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column
from karat._validate import (
    binary_order,
    check_same_length,
    check_scores,
    check_weighting,
    check_weights,
    encode_labels,
    require_two_classes,
)
from karat.exceptions import LabelError
from karat.statistics.kernels import joint_counts, summed, tie_groups
from karat.statistics.result import RocCounts

__all__ = ["roc_counts"]


@keeps_kind
def roc_counts(
    y_true: Column,
    y_score: Column,
    *,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    pos_label: Any = None,
    classes: Column | None = None,
) -> RocCounts:
    """Count positives and negatives at each distinct score.

    Parameters
    ----------
    y_true : column (n,)
        True labels of two classes.
    y_score : column (n,)
        Scores; a higher score means that the positive class is more likely.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means: importances, of which the sums of squares are kept too so that
        limits can rest on the effective number of rows; or numbers of equal rows.
    pos_label : label, optional
        The positive class; by default the larger label.
    classes : column (2,), optional
        The two classes, negative first, where one of them may not occur.

    Returns
    -------
    RocCounts
        Scores, positives and negatives. Two of them can be added.

    Examples
    --------
    >>> r = roc_counts([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    >>> r.scores.tolist(), r.positives.tolist(), r.negatives.tolist()
    ([0.1, 0.4, 0.8], [0, 1, 1], [1, 1, 0])
    """
    (codes,), order = encode_labels({"y_true": y_true}, classes)
    require_two_classes(order, "y_true")
    if len(order) > 2:
        raise LabelError(
            f"y_true holds {len(order)} classes, {order[:8].tolist()}; expected two. For one class "
            "against the rest pass y_true == that class"
        )
    if (ordered := binary_order(order, pos_label)) is not order:
        codes, order = 1 - codes, ordered
    scores = check_scores(y_score)
    weight = check_weights(sample_weight)
    important = check_weighting(weighting, weight)
    check_same_length(y_true=codes, y_score=scores, sample_weight=weight)
    ids, distinct = tie_groups(scores)
    counts = joint_counts([codes, ids], [2, len(distinct)], weight)
    squares = None
    if weight is not None and important:
        squares = summed(codes, weight**2, 2)
    return RocCounts(
        scores=np.asarray(distinct), positives=counts[1], negatives=counts[0], classes=order,
        squares=squares,
    )  # fmt: skip
