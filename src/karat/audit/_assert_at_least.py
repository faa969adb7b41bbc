"""A gate for tests."""

from typing import Any

import numpy as np

from karat._typing import Column
from karat.audit._gate import gate
from karat.metrics import MetricBase

__all__ = ["assert_at_least"]


def assert_at_least(
    y_true: Column,
    y_pred: Column,
    at_least: float,
    *,
    metric: MetricBase | str,
    classes: Column | None = None,
    pos_label: Any = None,
    shuffle: bool = False,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> None:
    """Raise an AssertionError unless the metric is at least so great for certain.

    Parameters
    ----------
    y_true, y_pred, at_least, metric, classes, pos_label, shuffle, confidence, rng
        As of `gate`, which says FAIL and INCONCLUSIVE apart; here both raise, with the reason.

    Examples
    --------
    >>> assert_at_least([0, 1] * 40, [0, 1] * 40, 0.8, metric="accuracy")
    >>> assert_at_least([0, 1, 1], [0, 1, 1], 0.8, metric="accuracy")
    Traceback (most recent call last):
    AssertionError: INCONCLUSIVE: accuracy is 1.000, between ... labels like these would decide it
    """
    found = gate(
        y_true, y_pred, at_least, metric=metric, classes=classes, pos_label=pos_label,
        shuffle=shuffle, confidence=confidence, rng=rng,
    )  # fmt: skip
    if found.status != "PASS":
        raise AssertionError(found.summary())
