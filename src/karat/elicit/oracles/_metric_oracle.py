"""Someone who answers by a known metric: for simulations."""

import numpy as np

from karat._validate import check_number, check_rng, refuse_option
from karat.elicit.answers import ROUNDING, metric_margin
from karat.elicit.transcript import Answer, Query
from karat.metrics import MetricBase, as_metric

__all__ = ["MetricOracle"]


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
        Probability that an answer is inverted, whatever else led to it.
    scale : float, optional
        Noise that grows toward indifference: the first side is preferred with the probability
        ``1 / (1 + exp(−d / scale))``, d being its value less that of the second. With ``flip`` that
        is ``flip + (1 − 2·flip) / (1 + exp(−d / scale))``. None: the better side, always.
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
        scale: float | None = None,
        tie: float = 0.0,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        self.metric = as_metric(metric)
        self.noise = check_number(noise, "noise", at_least=0.0)
        self.flip = check_number(flip, "flip", at_least=0.0, at_most=1.0)
        self.scale = None if scale is None else _checked_scale(scale)
        self.tie = check_number(tie, "tie", at_least=0.0)
        self.rng = check_rng(rng)
        self.n_answers = 0

    def __call__(self, query: Query) -> Answer:
        """Answer a query."""
        self.n_answers += 1
        gap = metric_margin(self.metric, query)
        if abs(gap) <= max(self.tie, ROUNDING):
            return "tie"
        if abs(gap) < self.noise:
            return "first" if self.rng.random() < 0.5 else "second"
        first = gap > 0
        if self.scale is not None:
            # exp of minus the size overflows for neither sign
            slip = np.exp(-abs(gap) / self.scale)
            first ^= bool(self.rng.random() < slip / (1.0 + slip))
        flipped = self.flip > 0 and self.rng.random() < self.flip
        return "first" if first != flipped else "second"


def _checked_scale(scale: float) -> float:
    if check_number(scale, "scale", at_least=0.0) == 0.0:
        refuse_option(scale, "scale", "a number above 0, or None for answers without such noise")
    return float(scale)
