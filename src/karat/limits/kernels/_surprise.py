"""Limits of any statistic of counts, by the worst item that could come next."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["by_cell", "drawn_limits", "ends_of", "surprise_limits"]

_CELLS = 4_000_000  # weights that are held at a time
_ALL = 64  # cells of which every one is tried with all draws
_KEPT = 12  # cells that are tried on either side where there are more
_SOME = 250  # draws by which they are chosen then


def surprise_limits(
    statistic: Callable[[FloatArray], FloatArray],
    counts: FloatArray,
    span: tuple[float, float],
    *,
    delta: float,
    draws: int,
    rng: np.random.Generator,
    surprise: float = 0.5,
    strata: IntArray | None = None,
    few: int = 5,
) -> tuple[float, float]:
    """Return limits of a statistic of the shares of cells, ``delta`` on either side.

    Every cell gets a gamma variable with its count as shape, 0 where nothing was seen, and one
    cell a surprise, a gamma variable of shape ½, on top; the statistic of the shares has quantiles
    for each cell that the surprise may fall into, and the outermost count. With a surprise of 1
    the limits of a proportion are those of Clopper and Pearson exactly; with ½ they are narrower
    and still cover where many cells are empty. Where the statistic of a draw is not finite it is
    either end of ``span``. ``statistic`` takes shares (draws, cells). Of more than 64 cells those
    that are outermost in the first draws are tried with all of them.

    A statistic that averages over classes needs each of them: of ``strata``, the class of each
    cell, every one with fewer than ``few`` items gets a surprise of its own, all at once, in the
    cell that is worst for it.
    """
    size = len(counts)
    seen = np.where(counts > 0, counts, 1.0)
    base = rng.standard_gamma(np.broadcast_to(seen, (draws, size))) * (counts > 0)
    extra = rng.standard_gamma(surprise, draws)
    lows, highs, tried = _by_cell(statistic, base, extra, span, delta)
    low, high = float(lows[tried].min()), float(highs[tried].max())
    rare = [] if strata is None else _rare(counts, strata, few)
    if len(rare) > 1:
        several = rng.standard_gamma(surprise, (draws, len(rare)))
        pair = np.repeat(base[None], 2, axis=0)
        for column, cells_of in enumerate(rare):
            pair[0, :, cells_of[lows[cells_of].argmin()]] += several[:, column]
            pair[1, :, cells_of[highs[cells_of].argmax()]] += several[:, column]
        all_low, all_high = _ends(statistic, pair, span, delta)
        low, high = min(low, float(all_low[0])), max(high, float(all_high[1]))
    return max(low, span[0]), min(high, span[1])


def drawn_limits(
    statistic: Callable[[FloatArray], FloatArray],
    base: FloatArray,
    extra: FloatArray,
    span: tuple[float, float],
    *,
    delta: float,
) -> tuple[float, float]:
    """Return the limits where the weights (draws, cells) and surprises (draws,) are drawn."""
    lows, highs, tried = _by_cell(statistic, base, extra, span, delta)
    return max(float(lows[tried].min()), span[0]), min(float(highs[tried].max()), span[1])


def by_cell(
    ends: Callable[[IntArray, int | None], tuple[FloatArray, FloatArray]],
    size: int,
    *,
    every: int,
    kept: int,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return both quantiles with the surprise in each cell, and the cells of which all draws tell.

    ``ends`` takes cells and a number of draws, None for all of them. The same draws stand behind
    every cell, so where there are more than ``every`` cells a few draws tell which of them are
    outermost: ``kept`` on either side.
    """
    tried = np.arange(size)
    lows, highs = np.empty(size), np.empty(size)
    if size > every:
        lows[:], highs[:] = ends(tried, _SOME)
        tried = np.union1d(np.argsort(lows)[:kept], np.argsort(highs)[-kept:])
    lows[tried], highs[tried] = ends(tried, None)
    return lows, highs, tried


def ends_of(
    values: FloatArray, span: tuple[float, float], delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return the quantiles of draws (…, draws) on either side; undefined ones may be anything."""
    below, above = (np.where(np.isfinite(values), values, end) for end in span)
    return np.quantile(below, delta, axis=-1), np.quantile(above, 1 - delta, axis=-1)


def _by_cell(
    statistic: Callable[[FloatArray], FloatArray],
    base: FloatArray,
    extra: FloatArray,
    span: tuple[float, float],
    delta: float,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return `by_cell` of weights (draws, cells), as many cells at a time as memory allows."""

    def ends(tried: IntArray, some: int | None) -> tuple[FloatArray, FloatArray]:
        step = max(1, _CELLS // base[:some].size)
        parts = []
        for at in range(0, len(tried), step):
            cells = tried[at : at + step]
            table = np.repeat(base[None, :some], len(cells), axis=0)
            for row, cell in enumerate(cells):
                table[row, :, cell] += extra[:some]
            parts.append(_ends(statistic, table, span, delta))
        lows, highs = np.concatenate(parts, axis=1)
        return lows, highs

    return by_cell(ends, base.shape[1], every=_ALL, kept=_KEPT)


def _rare(counts: FloatArray, strata: IntArray, few: int) -> list[IntArray]:
    """Return the cells of each class that has few items."""
    classes, code = np.unique(strata, return_inverse=True)
    totals = np.bincount(code, weights=counts)
    return [np.flatnonzero(strata == c) for c in classes[totals < few]]


def _ends(
    statistic: Callable[[FloatArray], FloatArray],
    tables: FloatArray,
    span: tuple[float, float],
    delta: float,
) -> tuple[FloatArray, FloatArray]:
    """Return both quantiles of the statistic of tables (t, draws, cells), which are scaled."""
    tables /= tables.sum(axis=2, keepdims=True)
    values = np.asarray(statistic(tables.reshape(-1, tables.shape[2]))).reshape(tables.shape[:2])
    return ends_of(values, span, delta)
