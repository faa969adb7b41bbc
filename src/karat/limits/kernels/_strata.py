"""Limits of any statistic of labels in strata, by the worst item that could come next."""

from collections.abc import Callable

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray

__all__ = ["stratified_limits"]


def stratified_limits(
    statistic: Callable[[FloatArray], FloatArray],
    counts: FloatArray,
    sizes: FloatArray,
    span: tuple[float, float],
    *,
    delta: float,
    draws: int,
    rng: np.random.Generator,
    surprise: float = 0.5,
    possible: BoolArray | None = None,
) -> tuple[float, float]:
    """Return limits of a statistic of exactly these items, ``delta`` on either side.

    ``counts`` (strata, classes) are the labels of each stratum and ``sizes`` its items. As in
    `surprise_limits`, gamma variables with the counts as shapes give the shares of each stratum,
    and one cell of one stratum a surprise on top; the items without a label are then drawn by
    these shares. ``statistic`` takes numbers of items (draws, strata, classes). A stratum without
    labels may hold anything; ``possible`` (strata, classes) says which classes it may hold.
    """
    strata, k = counts.shape
    rest = np.maximum(np.round(sizes - counts.sum(axis=1)), 0).astype(np.int64)
    none = counts.sum(axis=1) == 0
    can = np.ones(counts.shape, dtype=bool) if possible is None else possible
    shapes = np.where(none[:, None], surprise * can, counts)
    base = rng.standard_gamma(np.where(shapes > 0, shapes, 1.0), (draws, strata, k)) * (shapes > 0)
    extra = rng.standard_gamma(surprise, draws)
    totals = counts + _rest(base, rest, rng)
    low, high = np.inf, -np.inf
    for h in range(strata):
        if rest[h] == 0:
            continue
        for c in np.flatnonzero(can[h]):
            own = base[:, h] * (not none[h])
            own[:, c] += extra
            table = totals.copy()
            table[:, h] = counts[h] + _rest(own[:, None], rest[h : h + 1], rng)[:, 0]
            values = statistic(table)
            ends = [np.where(np.isfinite(values), values, end) for end in span]
            low = min(low, float(np.quantile(ends[0], delta)))
            high = max(high, float(np.quantile(ends[1], 1 - delta)))
    if low > high:  # every item has its label
        value = float(statistic(counts[None])[0])
        return (value, value) if np.isfinite(value) else span
    return max(low, span[0]), min(high, span[1])


def _rest(weight: FloatArray, rest: IntArray, rng: np.random.Generator) -> FloatArray:
    """Draw the labels of the items that have none, (draws, strata, classes)."""
    share = weight / weight.sum(axis=2, keepdims=True)
    drawn = np.zeros(weight.shape)
    left, kept = np.broadcast_to(rest, weight.shape[:2]).copy(), np.ones(weight.shape[:2])
    for c in range(weight.shape[2] - 1):
        chance = np.clip(share[:, :, c] / np.maximum(kept, 1e-12), 0.0, 1.0)
        drawn[:, :, c] = rng.binomial(left, chance)
        left = left - drawn[:, :, c].astype(np.int64)
        kept = kept - share[:, :, c]
    drawn[:, :, -1] = left
    return drawn
