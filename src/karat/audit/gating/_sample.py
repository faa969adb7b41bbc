"""Limits at every look from labelled rows, in the order in which they came."""

import numpy as np

from karat._typing import IntArray
from karat.audit.design import ratios_of
from karat.audit.gating._ahead import Bets
from karat.exceptions import AuditError, MetricError
from karat.limits.kernels import anytime_path, ratio_steps, value_grid
from karat.metrics import Metric

__all__ = ["check_order", "sample_bets", "sample_limits"]

_SORTED = -4.0  # standard deviations below the expected number of runs


def check_order(true: IntArray, called: IntArray) -> None:
    """Refuse rows that are sorted by their label, or by whether the prediction is right.

    Under a random order the number of runs of equal values has a known mean and variance (Wald and
    Wolfowitz 1940); one random order in 30,000 looks so sorted.
    """
    for what, values in (("label", true), ("whether the prediction is right", true == called)):
        top = values == np.bincount(values.astype(int)).argmax()
        a, b = float(top.sum()), float((~top).sum())
        n = a + b
        if min(a, b) < 5:
            continue
        runs = 1 + int(np.sum(top[1:] != top[:-1]))
        mean = 1 + 2 * a * b / n
        variance = (mean - 1) * (mean - 2) / (n - 1)
        if (runs - mean) / np.sqrt(variance) < _SORTED:
            raise AuditError(
                f"the rows look sorted by {what}: {runs} runs of equal values where {mean:.0f} are "
                "expected. Limits at every look bet on the rows in the order in which they were "
                "labelled; pass them in that order, or in a random order (shuffle=True)"
            )


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
