"""Limits of any statistic of counts, from few items."""

from collections.abc import Callable
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, FloatArray
from karat._validate import check_count, check_number, check_rng, check_weights, refuse_option
from karat.exceptions import DataError
from karat.limits.kernels import surprise_limits
from karat.limits.options import check_range, check_request
from karat.limits.result import Limits

__all__ = ["surprise"]


@keeps_kind
def surprise(
    statistic: Callable[[FloatArray], FloatArray],
    counts: Column,
    *,
    low: float = 0.0,
    high: float = 1.0,
    size: float = 0.5,
    n_resamples: int = 2000,
    confidence: float = 0.95,
    side: str = "both",
    rng: int | np.random.Generator | None = None,
) -> Limits:
    r"""Limit a statistic of the shares of cells by the worst item that could come next.

    Every cell c draws :math:`\gamma_c \sim Gamma(n_c)` (0 where nothing was seen) and one cell a
    surprise :math:`e \sim Gamma(s)` on top. The lower limit is the least, over the cells that the
    surprise may fall into, of the δ quantile of :math:`G((\gamma + e 1_c)/\Sigma)`; the upper limit
    is the greatest of the 1 − δ quantile. With s = 1 the limits of a proportion are those of
    Clopper and Pearson; with s = ½ they are narrower and cover nearly as often as they say.

    Parameters
    ----------
    statistic : callable
        Takes shares (draws, cells), each row summing to 1, and returns one value per row; a value
        that is not finite may be anything between ``low`` and ``high``.
    counts : column (cells,)
        Items of each cell.
    low, high : float
        The least and the greatest value of the statistic.
    size : float, default 0.5
        The size s of the surprise.
    n_resamples : int, default 2000
        Number of draws.
    confidence : float, default 0.95
        Probability that the limits hold, approximately.
    side : {"both", "lower", "upper"}
        ``both`` gives either side half of ``1 − confidence``, ``lower`` and ``upper`` give one side
        all of it.
    rng : int or generator, optional
        Source of randomness.

    Returns
    -------
    Limits

    Examples
    --------
    Balanced accuracy of 9 of 12 positives found and 27 of 28 negatives:

    >>> import numpy as np
    >>> balanced = lambda w: (w[:, 0] / (w[:, 0] + w[:, 1]) + w[:, 3] / (w[:, 2] + w[:, 3])) / 2
    >>> r = surprise(balanced, [9, 3, 1, 27], rng=0)
    >>> round(r.lower, 2), round(r.upper, 2)
    (0.71, 0.96)
    """
    request = check_request(confidence, side)
    least, most = check_range(low, high)
    shape = check_number(size, "size", above=0.0)
    draws, generator = check_count(n_resamples, "n_resamples"), check_rng(rng)
    cells = check_weights(counts, "counts")
    if cells is None:
        raise DataError("counts is None; expected the number of items of each cell")
    if not callable(statistic):
        refuse_option(statistic, "statistic", "a function of shares (draws, cells)")
    if cells.sum() <= 0:
        raise DataError("counts sum to 0; expected at least one item in one cell")

    def checked(shares: FloatArray) -> FloatArray:
        return _checked(statistic(shares), len(shares), least, most)

    with np.errstate(all="ignore"):
        value = float(checked(cells[None] / cells.sum())[0])
        ends = surprise_limits(
            checked, cells, (least, most), delta=request.delta, draws=draws, rng=generator,
            surprise=shape,
        )  # fmt: skip
    if np.isfinite(value):
        ends = min(ends[0], value), max(ends[1], value)
    return request.limits(
        ends, estimate=value, n=float(cells.sum()), method="surprise", guarantee="approximate",
        whole=(least, most),
    )  # fmt: skip


def _checked(given: Any, n: int, low: float, high: float) -> FloatArray:
    """Return what a statistic gave, or say what is wrong with it; NaN where it is not finite."""
    array = np.asarray(given)
    if array.dtype.kind not in "biuf" or array.shape != (n,):
        what = f"an array of shape {array.shape}" if array.ndim else f"{given!r}"
        raise DataError(
            f"statistic gave {what} of type {array.dtype} for {n} rows of shares; expected one "
            "number per row: it is called with an array (draws, cells)"
        )
    values = array.astype(np.float64)
    slack = 1e-9 * (high - low)
    outside = np.isfinite(values) & ((values < low - slack) | (values > high + slack))
    if outside.any():
        raise DataError(
            f"statistic gave {values[outside][0]:g}; expected numbers between low={low:g} and "
            f"high={high:g}. Pass the least and the greatest value that it can have"
        )
    return np.where(np.isfinite(values), np.clip(values, low, high), np.nan)
