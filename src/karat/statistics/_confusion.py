"""Count a confusion matrix, or the rates of each class, from true and predicted labels."""

from karat._result import keeps_kind
from karat._typing import AnyArray, Column, Frame
from karat._validate import (
    check_alike,
    check_probabilities,
    check_same_length,
    check_weights,
    encode_groups,
    encode_labels,
    is_matrix,
    require_two_classes,
)
from karat.statistics.patterns import joint_counts, soft_counts
from karat.statistics.result import Confusion, Rates


@keeps_kind
def confusion(
    y_true: Column,
    y_pred: Column | Frame,
    sample_weight: Column | None = None,
    groups: Column | None = None,
    *,
    classes: Column | None = None,
) -> Confusion:
    """Count truth against prediction.

    ``C[i, j] = P(Y=i, Ŷ=j)``: rows are the truth, columns the prediction (Hiranandani 2021,
    eq. 4.1).

    Parameters
    ----------
    y_true : column (n,)
        True labels: integers, text, booleans or categories.
    y_pred : column (n,) or matrix (n, k)
        Predicted labels, or the class probabilities with which a randomised classifier predicts,
        one column per class.
    sample_weight : column (n,), optional
        Weights of at least 0.
    groups : column (n,), optional
        Group of each item; the table then has one k×k block per group, groups first.
    classes : column (k,), optional
        The classes in the wanted order; by default those found, sorted.

    Returns
    -------
    Confusion
        Counts, joint probabilities and rates. Two of them can be added.

    Examples
    --------
    >>> c = confusion(["ham", "ham", "spam", "spam"], ["ham", "spam", "spam", "spam"])
    >>> c.classes.tolist()
    ['ham', 'spam']
    >>> c.probabilities
    array([[0.25, 0.25],
           [0.  , 0.5 ]])
    """
    counts, order, names = count_labels(y_true, y_pred, sample_weight, groups, classes)
    return Confusion(counts=counts, classes=order, groups=names)


@keeps_kind
def rates(
    y_true: Column,
    y_pred: Column | Frame,
    sample_weight: Column | None = None,
    groups: Column | None = None,
    *,
    classes: Column | None = None,
) -> Rates:
    """Rates of prediction within each true class: ``R[i, j] = P(Ŷ=j | Y=i)``.

    Parameters
    ----------
    y_true, y_pred, sample_weight, groups, classes
        As in `confusion`.

    Returns
    -------
    Rates
        Rates and the counts behind them. Two of them can be added. The row of a class that does
        not occur is NaN.

    Examples
    --------
    >>> r = rates([0, 0, 1, 1], [0, 1, 1, 1])
    >>> r.rates
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    counts, order, names = count_labels(y_true, y_pred, sample_weight, groups, classes)
    return Rates(counts=counts, classes=order, groups=names)


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
    if classes is None and not soft:
        check_alike(dict(zip(columns, codes, strict=True)), order)
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
