"""A weight with the limits that hold it, and how limits are read from draws."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._frozen import Frozen
from karat._typing import FloatArray

__all__ = [
    "CONFIDENCE",
    "WeightInterval",
    "interval_columns",
    "interval_of",
    "interval_row",
    "intervals_of",
    "ratio_interval",
    "short",
    "weighted_limits",
]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightInterval(Frozen):
    """A weight or a ratio of weights, with the limits that hold it with 95 % probability.

    Attributes
    ----------
    name : str
        What it is, in words.
    estimate, lower, upper : float
        The value of the elicited metric and its limits; upper is infinite where the answers do
        not bound a ratio.
    """

    name: str
    estimate: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.name}: {short(self.estimate)} ({short(self.lower)}–{short(self.upper)})"


def short(value: float) -> str:
    """Return a number in three digits, for sentences and tables."""
    return "∞" if np.isinf(value) else f"{value:.3g}"


def interval_row(weight: WeightInterval) -> tuple[str, str]:
    """Return a row of a result's table: the name, and the estimate with its limits."""
    limits = f"{short(weight.lower)} to {short(weight.upper)}"
    return weight.name, f"{short(weight.estimate)} ({limits})"


def interval_columns(**intervals: tuple[WeightInterval, ...]) -> dict[str, list[Any]]:
    """Return one row per interval, with the kind that it is of."""
    rows = [(kind, weight) for kind, weights in intervals.items() for weight in weights]
    columns: dict[str, list[Any]] = {"kind": [kind for kind, _ in rows]}
    for name in ("name", "estimate", "lower", "upper"):
        columns[name] = [getattr(weight, name) for _, weight in rows]
    return columns


def weighted_limits(values: FloatArray, shares: FloatArray) -> tuple[float, float]:
    """Return the equal-tailed limits of weighted draws."""
    order = np.argsort(values)
    reached = np.cumsum(shares[order])
    tail = (1.0 - CONFIDENCE) / 2
    at = np.searchsorted(reached, [tail, 1.0 - tail]).clip(0, len(values) - 1)
    low, high = values[order][at]
    return float(low), float(high)


def interval_of(name: str, estimate: float, draws: FloatArray) -> WeightInterval:
    """Return an estimate with the limits of draws (n,) of equal share.

    The limits are widened to hold the estimate, which need not be the middle of the draws.
    """
    low, high = weighted_limits(draws, np.full(len(draws), 1.0 / len(draws)))
    return WeightInterval(
        name=name, estimate=estimate, lower=min(low, estimate), upper=max(high, estimate)
    )


def intervals_of(
    names: tuple[str, ...], estimates: FloatArray, draws: FloatArray
) -> tuple[WeightInterval, ...]:
    """Return each estimate (w,) with the limits of its column of draws (n, w)."""
    return tuple(
        interval_of(name, float(estimate), column)
        for name, estimate, column in zip(names, estimates, draws.T, strict=True)
    )


def ratio_interval(
    name: str, of: WeightInterval, to: WeightInterval, draws: FloatArray
) -> WeightInterval:
    """Return the ratio of the sizes of two weights, with limits from their draws (n, 2)."""
    estimates = np.array([of.estimate, to.estimate])
    ratios = _sizes_ratio(np.vstack([estimates, draws]))
    return interval_of(name, float(ratios[0]), ratios[1:])


def _sizes_ratio(weights: FloatArray) -> FloatArray:
    """Return ``|w₁| / |w₂|`` of weights (n, 2); infinity where w₂ is 0 but for rounding."""
    above, below = np.abs(weights).T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(below > 1e-9, above / below, np.inf))
