"""Limits at every look from labelled rows, in the order in which they came."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.audit.design import ratios_of
from karat.audit.gating._ahead import Bets
from karat.exceptions import AuditError, MetricError
from karat.limits.kernels import anytime_path, ratio_steps, value_grid
from karat.metrics import Metric

__all__ = ["check_order", "sample_bets", "sample_limits"]

_SORTED = 1 / 30_000  # probability of so few runs in a random order


def check_order(true: IntArray, called: IntArray) -> None:
    """Refuse rows that are sorted by their label, or by whether the prediction is right.

    Under a random order the number of runs of the rarer values has a hypergeometric law (Stevens
    1939); one random order in 30,000 looks so sorted.
    """
    for what, values in (("label", true), ("whether the prediction is right", true == called)):
        rare = values != np.bincount(values.astype(int)).argmax()
        b = int(rare.sum())
        if b < 2:
            continue
        a = len(rare) - b
        runs = int(rare[0]) + int(np.sum(rare[1:] & ~rare[:-1]))
        if _chance_of_runs(runs, a, b) < _SORTED:
            raise AuditError(
                f"the rows look sorted by {what}: {b} rows that differ from the most frequent "
                f"stand in {runs} runs where {b * (a + 1) / (a + b):.0f} are expected. Limits at "
                "every look bet on the rows in the order in which they were labelled; pass them "
                "in that order, or in a random order (shuffle=True)"
            )


def _chance_of_runs(runs: int, a: int, b: int) -> float:
    """Return the probability that b values among a others stand in so few runs, or in fewer."""
    from scipy.special import gammaln

    def ways(n: FloatArray | float, k: FloatArray) -> FloatArray:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    k = np.arange(1.0, min(runs, a + 1) + 1)
    logs = ways(a + 1.0, k) + ways(b - 1.0, k - 1) - ways(float(a + b), np.array(float(b)))
    return float(np.exp(logs).sum())


def sample_bets(
    metric: Metric, true: IntArray, called: IntArray, n_classes: int, delta: float
) -> list[Bets]:
    """Return the bets on each ratio of the metric of the law that the rows come from."""
    parts = ratios_of(metric, n_classes)
    if parts is None:
        raise MetricError(
            f"{metric.title} has no limits at every look; use accuracy, a cost matrix, precision, "
            "recall, F1, balanced accuracy or a macro average of these"
        )
    found = []
    for factor, top, bottom, span in parts:
        a, b = top[true, called], bottom[true, called]
        kinds = np.unique(np.stack([top.ravel(), bottom.ravel()], axis=1), axis=0)
        steps, grid = ratio_steps(a, b, np.ones(len(a)), kinds, 1.0), value_grid(span)
        own = delta / len(parts)
        lows, highs = anytime_path(steps, grid, delta=own)
        found.append(Bets(steps, grid, factor, float(lows[-1]), float(highs[-1]), own))
    return found


def sample_limits(bets: list[Bets]) -> tuple[float, float]:
    """Return limits of the metric at every look, from those of its ratios."""
    ends = [(b.scale * b.low, b.scale * b.high) for b in bets]
    return sum(min(pair) for pair in ends), sum(max(pair) for pair in ends)
