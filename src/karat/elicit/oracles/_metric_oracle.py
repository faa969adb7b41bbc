"""Someone who answers by a known metric: for simulations."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_number, check_rng
from karat.elicit.transcript import Answer, Query
from karat.metrics import MetricBase, as_metric

__all__ = ["MetricOracle"]

# Values that differ by less are equal: which is greater would be chance of the last digit.
_ROUNDING = 1e-14


class MetricOracle:
    """Answers queries by a metric, with the slips of a person.

    Parameters
    ----------
    metric : Metric or str
        The metric that the simulated person answers by.
    noise : float, default 0
        Pairs whose values differ by less are answered at random (Hiranandani 2021,
        Definition 2.4).
    flip : float, default 0
        Probability that an answer is inverted.
    tie : float, default 0
        Pairs whose values differ by no more are called a tie.
    rng : int or generator, optional
        Randomness of the slips.

    Examples
    --------
    >>> from karat.elicit import Query
    >>> from karat.metrics import accuracy
    >>> import numpy as np
    >>> better, worse = np.diag([0.5, 0.5]), np.full((2, 2), 0.25)
    >>> MetricOracle(accuracy)(Query(better, worse))
    'first'
    """

    def __init__(
        self,
        metric: MetricBase | str,
        *,
        noise: float = 0.0,
        flip: float = 0.0,
        tie: float = 0.0,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        self.metric = as_metric(metric)
        self.noise = check_number(noise, "noise", at_least=0.0)
        self.flip = check_number(flip, "flip", at_least=0.0, at_most=1.0)
        self.tie = check_number(tie, "tie", at_least=0.0)
        self.rng = check_rng(rng)
        self.n_answers = 0

    def __call__(self, query: Query) -> Answer:
        """Answer a query."""
        self.n_answers += 1
        gap = self._value(query.first) - self._value(query.second)
        if abs(gap) <= max(self.tie, _ROUNDING):
            return "tie"
        if abs(gap) < self.noise:
            return "first" if self.rng.random() < 0.5 else "second"
        flipped = self.flip > 0 and self.rng.random() < self.flip
        return "first" if (gap > 0) != flipped else "second"

    def _value(self, confusion: FloatArray) -> float:
        """Return the value of a confusion; groups are pooled for a metric that knows none."""
        value: Any = self.metric(confusion)
        if np.ndim(value):
            value = self.metric(np.asarray(confusion).sum(axis=0))
        return float(value)
