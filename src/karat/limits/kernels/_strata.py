"""Limits of any statistic of labels in strata, by the worst item that could come next."""

from collections.abc import Callable

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.limits.kernels._surprise import by_cell, ends_of

__all__ = ["stratified_limits"]

_ALL = 40  # cells of strata of which every one is tried with all draws
_KEPT = 8  # cells that are tried on either side where there are more


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
    thin = (counts.sum(axis=1) <= 1) & (rest > 0)
    pairs = [(h, int(c)) for h in range(strata) if rest[h] and not none[h]
             for c in np.flatnonzero(can[h])]  # fmt: skip
    low, high = np.inf, -np.inf
    # Strata with one label or none go to their worst class, or towards it, all of them together:
    # drawn one by one they would average out, and their sum would look known.
    sides = (False, True) if thin.any() else (None,)
    for upper in sides:
        drawn = base
        if upper is not None:
            drawn = _worst(statistic, base, counts, rest, (thin, none, can), extra, upper, rng)
        totals = counts + _rest(drawn, rest, rng)
        if pairs:
            parts = (drawn, extra, totals)
            lower_, upper_ = _widest(statistic, parts, counts, rest, pairs, span, delta, rng)
        else:
            lower_, upper_ = map(float, ends_of(statistic(totals), span, delta))
        low = low if upper is True else min(low, lower_)
        high = high if upper is False else max(high, upper_)
    return max(low, span[0]), min(high, span[1])


_Drawn = tuple[FloatArray, FloatArray, FloatArray]


def _surprised(
    drawn: _Drawn, counts: FloatArray, rest: IntArray, h: int, c: int, rng: np.random.Generator
) -> FloatArray:
    """Return the numbers of items with the surprise in one cell of one stratum."""
    weight, extra, totals = drawn
    own = weight[:, h].copy()
    own[:, c] += extra
    table = totals.copy()
    table[:, h] = counts[h] + _rest(own[:, None], rest[h : h + 1], rng)[:, 0]
    return table


def _widest(
    statistic: Callable[[FloatArray], FloatArray],
    drawn: _Drawn,
    counts: FloatArray,
    rest: IntArray,
    pairs: list[tuple[int, int]],
    span: tuple[float, float],
    delta: float,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the outermost quantiles with the surprise in one of the cells of strata."""

    def ends(tried: IntArray, some: int | None) -> tuple[FloatArray, FloatArray]:
        weight, extra, totals = (part[:some] for part in drawn)
        lows, highs = np.empty(len(tried)), np.empty(len(tried))
        for i, (h, c) in enumerate(pairs[at] for at in tried):
            table = _surprised((weight, extra, totals), counts, rest, h, c, rng)
            lows[i], highs[i] = ends_of(statistic(table), span, delta)
        return lows, highs

    lows, highs, tried = by_cell(ends, len(pairs), every=_ALL, kept=_KEPT)
    return float(lows[tried].min()), float(highs[tried].max())


def _worst(
    statistic: Callable[[FloatArray], FloatArray],
    base: FloatArray,
    counts: FloatArray,
    rest: IntArray,
    kinds: tuple[BoolArray, BoolArray, BoolArray],
    extra: FloatArray,
    upper: bool,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the gammas with every thin stratum at, or pulled to, the class that is worst for it.

    Which class that is shows where all else stays at its mean: exact for a linear statistic.
    """
    thin, none, can = kinds
    mean = (counts + _rest(base, rest, rng)).mean(axis=0)
    drawn = base.copy()
    for h in np.flatnonzero(thin):
        values = np.full(counts.shape[1], np.nan)
        for c in np.flatnonzero(can[h]):
            table = mean.copy()
            table[h] = counts[h]
            table[h, c] += rest[h]
            values[c] = statistic(table[None])[0]
        sign = 1.0 if upper else -1.0
        at = int(np.argmax(np.where(can[h], np.nan_to_num(sign * values, nan=np.inf), -np.inf)))
        if none[h]:
            drawn[:, h] = 0.0
            drawn[:, h, at] = 1.0
        else:
            drawn[:, h, at] += rng.permutation(extra)
    return drawn


def _rest(weight: FloatArray, rest: IntArray, rng: np.random.Generator) -> FloatArray:
    """Draw the labels of the items that have none, (draws, strata, classes)."""
    total = weight.sum(axis=2, keepdims=True)
    # Gammas of tiny shapes can all be 0.
    share = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1.0 / weight.shape[2])
    drawn = np.zeros(weight.shape)
    left, kept = np.broadcast_to(rest, weight.shape[:2]).copy(), np.ones(weight.shape[:2])
    for c in range(weight.shape[2] - 1):
        chance = np.clip(share[:, :, c] / np.maximum(kept, 1e-12), 0.0, 1.0)
        drawn[:, :, c] = rng.binomial(left, chance)
        left = left - drawn[:, :, c].astype(np.int64)
        kept = kept - share[:, :, c]
    drawn[:, :, -1] = left
    return drawn
