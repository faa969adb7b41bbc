"""Several tests at once, and the limits of a rate that several people share."""

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.limits.kernels import wilson_limits

__all__ = ["benjamini_yekutieli", "holm", "rate_limits"]


def benjamini_yekutieli(p_values: FloatArray, rate: float) -> BoolArray:
    """Return which hypotheses are rejected at a false discovery rate, however they depend.

    Y. Benjamini and D. Yekutieli, The control of the false discovery rate in multiple testing under
    dependency, Annals of Statistics 29 (2001), Theorem 1.3.
    """
    m = len(p_values)
    ranks = np.arange(1, m + 1)
    order = np.argsort(p_values, kind="stable")
    under = np.flatnonzero(p_values[order] <= ranks * rate / (m * (1 / ranks).sum()))
    rejected = np.zeros(m, dtype=bool)
    if under.size:
        rejected[order[: under[-1] + 1]] = True
    return rejected


def holm(p_values: FloatArray, delta: float) -> BoolArray:
    """Return which hypotheses are rejected if a single false one may be with ``delta`` at most.

    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6 (1979). All rejected hypotheses are false at once with probability 1 − delta.
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    kept = np.flatnonzero(p_values[order] > delta / (m - np.arange(m)))
    rejected = np.zeros(m, dtype=bool)
    rejected[order[: kept[0] if kept.size else m]] = True
    return rejected


def rate_limits(
    values: list[FloatArray], items: list[np.ndarray], n_items: int, delta: float
) -> tuple[float, float, float]:
    """Return the mean over people of their mean values, and its limits over items.

    Person j has ``values[j]`` (0 or 1) on ``items[j]``; an item that several people answered is one
    draw. The limits are Wilson's at the number of independent items that would give the variance.
    """
    m = len(values)
    means = np.array([v.mean() for v in values])
    influence = np.zeros(n_items)
    for v, where, mean in zip(values, items, means, strict=True):
        np.add.at(influence, where, (v - mean) / (m * len(v)))
    rate = float(means.mean())
    n = int((np.bincount(np.concatenate(items), minlength=n_items) > 0).sum())
    variance = float(influence @ influence) * n / max(n - 1, 1)
    fewest = float(min(len(v) for v in values))
    number = rate * (1 - rate) / variance if variance > 0 and 0 < rate < 1 else fewest
    low, high = wilson_limits(rate * number, number, delta)
    return rate, float(low), float(high)
