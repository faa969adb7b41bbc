"""The mean of a binary metric over classes."""

from karat.metrics.base import Metric
from karat.metrics.families import Macro

__all__ = ["macro"]


def macro(metric: Metric) -> Metric:
    """Mean of a binary metric over the classes, each against the rest.

    Parameters
    ----------
    metric : Metric
        A metric for two classes, such as `precision` or ``f_beta(1)``.

    Examples
    --------
    >>> from karat.metrics import f_beta
    >>> round(macro(f_beta(1)).score([0, 1, 2, 2], [0, 1, 1, 2]), 4)
    0.7778
    """
    return Macro(metric)
