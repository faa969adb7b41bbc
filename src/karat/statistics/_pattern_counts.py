"""Counts of prediction by pattern of weak labels."""

from karat._frames import keeps_kind
from karat._typing import AnyArray, Column, Frame
from karat._validate import (
    check_probabilities,
    check_same_length,
    check_weighting,
    check_weights,
    encode_groups,
    encode_labels,
    is_matrix,
    refuse_lazy,
    require_two_classes,
)
from karat.exceptions import DataError
from karat.statistics.kernels import joint_counts, soft_counts, summed
from karat.statistics.pattern_result import PatternCounts
from karat.statistics.reading import find_patterns

__all__ = ["pattern_counts"]

_MOST_CELLS = 1 << 28


@keeps_kind
def pattern_counts(
    y_pred: Column | Frame,
    weak_labels: Frame,
    groups: Column | None = None,
    *,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    classes: Column | None = None,
    null: str = "not asked",
) -> PatternCounts:
    """Count predictions within each pattern of weak labels.

    ``joint[z, j] = P(Z=z, Ŷ=j)``: all that bounds on a confusion metric need of the data.

    Parameters
    ----------
    y_pred : column (n,) or matrix (n, k)
        Predicted labels, or class probabilities of a randomised classifier.
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 where a labeler abstained, null where it was
        not asked.
    groups : column (n,), optional
        Group of each item; the table then has one block per group, groups first.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means: importances, of which the sums of squares are kept too; or
        numbers of equal rows.
    classes : column (k,), optional
        The classes in the wanted order; by default those found in predictions and votes, sorted.
    null : {"not asked", "abstain"}, default "not asked"
        What a null is. It is not asked unless said otherwise; -1 is always an abstention.

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
    refuse_lazy(weak_labels=weak_labels)  # its rows are matched with the predictions
    soft = is_matrix(y_pred)
    found = {}
    if not soft and classes is None:
        _, predicted = encode_labels({"y_pred": y_pred})
        found = {"y_pred": predicted}
    votes = find_patterns(weak_labels, classes, also=found, null=null)
    order, ids = votes.classes, votes.ids
    require_two_classes(order, "weak_labels" if soft else "y_pred and weak_labels")
    if soft:
        predictions: AnyArray = check_probabilities(y_pred, "y_pred", classes=order)
    else:
        predictions = encode_labels({"y_pred": y_pred}, order)[0][0]
    weight = check_weights(sample_weight)
    important = check_weighting(weighting, weight)
    group_codes, group_names = encode_groups(groups)
    check_same_length(y_pred=predictions, weak_labels=ids, sample_weight=weight, groups=group_codes)
    codes, sizes = [ids], [len(votes.patterns)]
    _require_space(len(votes.patterns), len(order), group_names)
    if group_codes is not None and group_names is not None:
        codes, sizes = [group_codes, ids], [len(group_names), len(votes.patterns)]
    if soft:
        counts = soft_counts(codes, sizes, predictions, weight)
    else:
        counts = joint_counts([*codes, predictions], [*sizes, len(order)], weight)
    squares = None
    if weight is not None and important:
        squares = summed(ids, weight**2, len(votes.patterns))
    return PatternCounts(
        counts=counts,
        patterns=votes.patterns,
        classes=order,
        names=votes.names,
        groups=group_names,
        squares=squares,
    )


def _require_space(patterns: int, classes: int, groups: AnyArray | None) -> None:
    """Refuse a table that would not fit into memory."""
    blocks = 1 if groups is None else len(groups)
    cells = patterns * classes * blocks
    if cells > _MOST_CELLS:
        raise DataError(
            f"{patterns:,} patterns, {classes} classes and {blocks:,} groups make {cells:,} cells; "
            f"expected at most {_MOST_CELLS:,}. Count the groups apart, or use fewer labelers"
        )
