"""Limits of any statistic of counts, by the worst item that could come next."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray

__all__ = ["surprise_limits"]

_CELLS = 4_000_000  # weights that are held at a time


def surprise_limits(
    statistic: Callable[[FloatArray], FloatArray],
    counts: FloatArray,
    span: tuple[float, float],
    *,
    delta: float,
    draws: int,
    rng: np.random.Generator,
    surprise: float = 0.5,
) -> tuple[float, float]:
    """Return limits of a statistic of the shares of cells, ``delta`` on either side.

    Every cell gets a gamma variable with its count as shape, 0 where nothing was seen, and one
    cell a surprise, a gamma variable of shape ½, on top; the statistic of the shares has quantiles
    for each cell that the surprise may fall into, and the outermost count. With a surprise of 1
    the limits of a proportion are those of Clopper and Pearson exactly; with ½ they are narrower
    and still cover where many cells are empty. Where the statistic of a draw is not finite it is
    either end of ``span``. ``statistic`` takes shares (draws, cells).
    """
    size = len(counts)
    seen = np.where(counts > 0, counts, 1.0)
    base = rng.standard_gamma(np.broadcast_to(seen, (draws, size))) * (counts > 0)
    extra = rng.standard_gamma(surprise, draws)
    low, high = np.inf, -np.inf
    step = max(1, _CELLS // (draws * size))
    for first in range(0, size, step):
        cells = range(first, min(first + step, size))
        table = np.repeat(base[None], len(cells), axis=0)
        for row, cell in enumerate(cells):
            table[row, :, cell] += extra
        table /= table.sum(axis=2, keepdims=True)
        values = np.asarray(statistic(table.reshape(-1, size))).reshape(len(cells), draws)
        ends = (np.where(np.isfinite(values), values, end) for end in span)
        low = min(low, float(np.quantile(next(ends), delta, axis=1).min()))
        high = max(high, float(np.quantile(next(ends), 1 - delta, axis=1).max()))
    return max(low, span[0]), min(high, span[1])
