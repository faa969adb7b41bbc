"""Two classes, any metric: given the margins, the confusion is a function of TP alone."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.bounds._problem import End, Ends, Limit, Problem
from karat.exceptions import UndefinedHereError, UndefinedMetricWarning
from karat.metrics import Metric

__all__ = [
    "BASE",
    "BOTH",
    "NOTHING",
    "SHOWN",
    "TRUTH",
    "BinaryEnd",
    "binary_end",
    "binary_ends",
    "check_defined",
    "slope_at",
]

_GRID = 65
NOTHING = 1e-12  # a probability below this is a rounding error of 0
_TP = np.array([[0.0, 0.0], [0.0, 1.0]])
# The confusion [[TN, FP], [FN, TP]] is base + π·truth + ρ·shown + TP·both.
BASE = np.array([[1.0, 0.0], [0.0, 0.0]])
TRUTH = np.array([[-1.0, 0.0], [1.0, 0.0]])
SHOWN = np.array([[-1.0, 1.0], [0.0, 0.0]])
BOTH = np.array([[1.0, -1.0], [-1.0, 1.0]])


class BinaryEnd(NamedTuple):
    """The value at one end, and the influence of each (fold, pattern, prediction) on it."""

    value: float
    influence: FloatArray


def binary_ends(problem: Problem, metric: Metric, limit: Limit) -> Ends:
    """Bound any metric of two classes; the limit is by the delta method."""
    ends = []
    for side in (-1, 1):
        value, influence = binary_end(problem, metric, side)
        reach = limit.normal(problem.sample, influence)
        ends.append(End(value, value + side * reach))
    return Ends(ends[0], ends[1])


def binary_end(problem: Problem, metric: Metric, side: int) -> BinaryEnd:
    """Return the greatest (1) or least (−1) value over every attainable TP."""
    if problem.slack > 0:
        problem = _worst_margin(problem, side)
    low_values, high_values = problem.values(_TP, -1), problem.values(_TP, 1)
    share, called = float(problem.truth[1]), float(problem.predicted[1])
    check_defined(metric, share, called)
    least, most = max(0.0, share + called - 1.0), min(share, called)
    low = float(np.clip(problem.sample.mean(low_values), least, most))
    high = float(np.clip(problem.sample.mean(high_values), low, most))

    def confusion(tps: FloatArray) -> FloatArray:
        fixed = BASE + share * TRUTH + called * SHOWN
        return np.asarray(np.maximum(fixed + tps[:, None, None] * BOTH, 0.0))

    tp = _best(lambda t: side * np.asarray(metric(confusion(t))), low, high)
    mix = (tp - low) / (high - low) if high > low else 0.0
    own_tp = (1 - mix) * low_values + mix * high_values
    table = confusion(np.array([tp]))[0]
    slope = slope_at(metric, table)
    parts = [float(np.sum(slope * part)) for part in (TRUTH, SHOWN, BOTH)]
    own_truth = problem.truth_values()[..., 1]
    own_called = np.array([0.0, 1.0])
    influence = parts[0] * own_truth + parts[1] * own_called + parts[2] * own_tp
    return BinaryEnd(float(metric(table)), influence)


def slope_at(metric: Metric, confusion: FloatArray) -> FloatArray:
    """Return the gradient, a hair inside where the confusion is on the boundary."""
    inside = (1 - 1e-9) * confusion + 1e-9 / 4
    return metric.gradient(inside)


def _best(value: Callable[[FloatArray], FloatArray], low: float, high: float) -> float:
    """Return the maximiser of a function on [low, high]: a grid, then a closer look."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(low, high, _GRID)
    values = value(grid)
    at = int(np.argmax(values))
    if at in (0, _GRID - 1) or high <= low:
        return float(grid[at])
    close = minimize_scalar(
        lambda t: -float(value(np.array([t]))[0]),
        bounds=(grid[at - 1], grid[at + 1]),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return float(close.x) if -close.fun >= values[at] else float(grid[at])


def _worst_margin(problem: Problem, side: int) -> Problem:
    """Move the label model by the slack toward the predictions (1) or away from them (−1)."""
    pooled = (problem.sample.counts.sum(axis=(0, 2))[None, :, None] * problem.q).sum(axis=0)
    total = np.maximum(pooled.sum(axis=1), 1e-300)
    q = pooled[:, 1] / total
    p = problem.p[:, 1]
    aim = np.clip(q if side > 0 else 1 - q, p - problem.slack, p + problem.slack).clip(0, 1)
    return Problem(problem.sample, np.stack([1 - aim, aim], axis=1), problem.q, 0.0, problem.prior)


def check_defined(metric: Metric, share: float, called: float) -> None:
    """Refuse a metric that these margins leave undefined."""
    share, called = (0.0 if v < NOTHING else min(v, 1.0) for v in (share, called))
    table = BASE + share * TRUTH + called * SHOWN + share * called * BOTH
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndefinedMetricWarning)
        try:
            metric(np.maximum(table, 0.0))
        except UndefinedMetricWarning:
            raise UndefinedHereError(
                f"{metric.title} is undefined here: the positive class is predicted for "
                f"{100 * called:.3g} % and expected for {100 * share:.3g} % of the items. Choose "
                "another metric, threshold or pos_label"
            ) from None
