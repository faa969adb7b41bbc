"""Joint distribution of truth and prediction."""

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat.statistics.reading import count_labels
from karat.statistics.result import Confusion

__all__ = ["confusion"]


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
