"""Distribution of the prediction given the truth."""

from karat._frames import keeps_kind
from karat._typing import Column, Frame
from karat.statistics.reading import count_labels
from karat.statistics.result import Rates

__all__ = ["rates"]


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
