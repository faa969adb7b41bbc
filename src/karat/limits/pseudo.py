"""Limits of any function of cell counts, with half a pseudo-count in the worst cell.

A cell that was not seen may still have a probability above 0; the delta method takes its
variance for 0. Here half an item, or half a cluster of mean size, is added to one cell at a
time, and the widest limits count.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from karat._result import keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy, Shown
from karat._typing import Column, FloatArray, IntArray
from karat._validate import check_count, check_number, check_rng, check_weights, refuse_option
from karat.exceptions import DataError
from karat.limits.options import check_range, check_request
from karat.limits.resampling import enough_draws
from karat.limits.result import Limits


@keeps_kind
def pseudo_count(
    statistic: Callable[[FloatArray], FloatArray],
    counts: Column,
    *,
    low: float = 0.0,
    high: float = 1.0,
    size: float = 0.5,
    n_resamples: int | None = None,
    confidence: float = 0.95,
    side: str = "both",
    rng: int | np.random.Generator | None = None,
) -> Limits:
    r"""Limit a statistic of the shares of cells by the worst item that could come next.

    Every cell c draws :math:`\gamma_c \sim Gamma(n_c)` (0 where nothing was seen) and one cell a
    pseudo-count :math:`e \sim Gamma(s)` on top. The lower limit is the least, over the cells that
    the pseudo-count may fall into, of the δ quantile of :math:`G((\gamma + e 1_c)/\Sigma)`; the
    upper limit is the greatest of the 1 − δ quantile. With s = 1 the limits of a proportion are
    those of Clopper and Pearson; with s = ½ they are narrower and cover nearly as often as they
    say.

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
        The size s of the pseudo-count.
    n_resamples : int, optional
        Number of draws; at least 50/δ, where δ is what each limit leaves out, since fewer do not
        tell its quantile. By default that number, and at least 2,000.
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
    >>> r = pseudo_count(balanced, [9, 3, 1, 27], rng=0)
    >>> round(r.lower, 2), round(r.upper, 2)
    (0.71, 0.96)
    """
    request = check_request(confidence, side)
    least, most = check_range(low, high)
    shape = check_number(size, "size", above=0.0)
    given = None if n_resamples is None else check_count(n_resamples, "n_resamples")
    generator = check_rng(rng)
    cells = check_weights(counts, "counts")
    if cells is None:
        raise DataError(
            Argument("counts"),
            " is None; expected ",
            Expected("the number of items of each cell"),
        )
    if not callable(statistic):
        refuse_option(statistic, "statistic", "a function of shares (draws, cells)")
    if cells.sum() <= 0:
        raise DataError("counts sum to 0; expected at least one item in one cell")
    draws = enough_draws(request.delta, width=len(cells), shared=request.shared, given=given)

    def checked(shares: FloatArray) -> FloatArray:
        return _checked(statistic(shares), len(shares), least, most)

    with np.errstate(all="ignore"):
        value = float(checked(cells[None] / cells.sum())[0])
        ends = pseudo_count_limits(
            checked,
            cells,
            (least, most),
            delta=request.delta,
            draws=draws,
            rng=generator,
            pseudo=shape,
        )
    if np.isfinite(value):
        ends = min(ends[0], value), max(ends[1], value)
    return request.limits(
        ends,
        value=value,
        n=float(cells.sum()),
        method="pseudo-count",
        guarantee="approximate",
        whole=(least, most),
    )


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
            Argument("statistic"),
            f" gave {values[outside][0]:g}; expected ",
            Expected(
                "numbers between ",
                Option("low", Shown(f"{low:g}")),
                " and ",
                Option("high", Shown(f"{high:g}")),
            ),
            Remedy("Pass the least and the greatest value that it can have", after=". "),
        )
    return np.where(np.isfinite(values), np.clip(values, low, high), np.nan)


# --- Limits of any statistic of counts, by the worst item that could come next.

_CELLS = 4_000_000  # shares that a statistic is given at a time
_ALL = 64  # cells of which every one is tried with all draws
_KEPT = 12  # cells that are tried on either side where there are more
_SOME = 250  # draws by which they are chosen then


# One value per row of shares, NaN where it is undefined, or its least and its greatest value.
Statistic = Callable[[FloatArray], FloatArray | tuple[FloatArray, FloatArray]]


def pseudo_count_limits(
    statistic: Statistic,
    counts: FloatArray,
    span: tuple[float, float],
    *,
    delta: float,
    draws: int,
    rng: np.random.Generator,
    pseudo: float = 0.5,
    unit: FloatArray | None = None,
    strata: IntArray | None = None,
    few: int = 5,
) -> tuple[float, float]:
    """Return limits of a statistic of the shares of cells, ``delta`` on either side.

    Every cell gets a gamma variable with its count as shape, 0 where nothing was seen, and one
    cell a pseudo-count, a gamma variable of shape ½, on top; the statistic of the shares has
    quantiles for each cell that the pseudo-count may fall into, and the outermost count. With a
    pseudo-count of 1 the limits of a proportion are those of Clopper and Pearson exactly; with ½
    they are narrower and still cover where many cells are empty. Where the statistic of a draw is
    not finite it is either end of ``span``. ``statistic`` takes shares (draws, cells); it may
    return the least and the greatest value of each row instead of one. Of more than 64 cells those
    that are outermost in the first draws are tried with all of them. ``unit`` (cells,) is what one
    item of a cell weighs, see `weighted_cells`.

    A statistic that averages over classes needs each of them: of ``strata``, the class of each
    cell, every one with fewer than ``few`` items gets a pseudo-count of its own, all at once, in
    the cell that is worst for it.
    """
    size = len(counts)
    seen = np.where(counts > 0, counts, 1.0)
    weigh = np.ones(size) if unit is None else unit
    base = rng.standard_gamma(seen, (draws, size)) * ((counts > 0) * weigh)
    extra = rng.standard_gamma(pseudo, draws)
    lows, highs, tried = _by_cell(statistic, base, extra, weigh, span, delta)
    low, high = float(lows[tried].min()), float(highs[tried].max())
    rare = [] if strata is None else _rare(counts, strata, few)
    if len(rare) > 1:
        several = rng.standard_gamma(pseudo, (draws, len(rare)))
        for side, outermost in enumerate((lows, -highs)):
            table = base.copy()
            for column, cells_of in enumerate(rare):
                cell = cells_of[outermost[cells_of].argmin()]
                table[:, cell] += several[:, column] * weigh[cell]
            found = float(ends_of(_values(statistic, table), span, delta)[side])
            low, high = (min(low, found), high) if side == 0 else (low, max(high, found))
    return max(low, span[0]), min(high, span[1])


def drawn_limits(
    statistic: Statistic,
    base: FloatArray,
    extra: FloatArray,
    span: tuple[float, float],
    *,
    delta: float,
) -> tuple[float, float]:
    """Return the limits where the weights (draws, cells) and pseudo-counts (draws,) are drawn."""
    lows, highs, tried = _by_cell(statistic, base, extra, np.ones(base.shape[1]), span, delta)
    return max(float(lows[tried].min()), span[0]), min(float(highs[tried].max()), span[1])


def by_cell(
    ends: Callable[[IntArray, int | None], tuple[FloatArray, FloatArray]],
    size: int,
    *,
    every: int,
    kept: int,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return both quantiles with the pseudo-count in each cell, and the cells tried in full.

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
    values: FloatArray | tuple[FloatArray, FloatArray], span: tuple[float, float], delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return the quantiles of draws (…, draws) on either side; undefined ones may be anything."""
    pair = values if isinstance(values, tuple) else (values, values)
    below, above = (
        np.where(np.isfinite(side), side, end) for side, end in zip(pair, span, strict=True)
    )
    return np.quantile(below, delta, axis=-1), np.quantile(above, 1 - delta, axis=-1)


def _by_cell(
    statistic: Statistic,
    base: FloatArray,
    extra: FloatArray,
    unit: FloatArray,
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
                table[row, :, cell] += extra[:some] * unit[cell]
            values = _values(statistic, table.reshape(-1, base.shape[1]))
            low, high = (side.reshape(len(cells), -1) for side in values)
            parts.append(ends_of((low, high), span, delta))
        lows, highs = np.concatenate(parts, axis=1)
        return lows, highs

    return by_cell(ends, base.shape[1], every=_ALL, kept=_KEPT)


def _rare(counts: FloatArray, strata: IntArray, few: int) -> list[IntArray]:
    """Return the cells of each class that has few items."""
    classes, code = np.unique(strata, return_inverse=True)
    totals = np.bincount(code, weights=counts)
    return [np.flatnonzero(strata == c) for c in classes[totals < few]]


def _values(statistic: Statistic, table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest value of each row (draws, cells), some rows at a time."""
    step = max(1, _CELLS // table.shape[1])
    lows, highs = [], []
    for at in range(0, len(table), step):
        part = table[at : at + step]
        found = statistic(part / part.sum(axis=1, keepdims=True))
        pair = found if isinstance(found, tuple) else (found, found)
        lows.append(pair[0])
        highs.append(pair[1])
    return np.concatenate(lows), np.concatenate(highs)


# --- Items of unequal weights in cells: how many items a cell is worth, and what each of them
# weighs.
#
# A cell with n items of the total weight W and the sum of squares Q is drawn as a gamma variable
# with the mean W and a variance of at least Q. Its items count as ``n / r``, each with the weight
# ``r · W / n``, where ``r = max(nQ/W², ρ)``: nQ/W² is what unequal weights inside the cell cost
# (Kish 1965), and ``ρ = ΣQ / Σ(W²/n)`` the same over all cells, since a cell of few items does not
# show how far weights vary. Weights that are constant within each cell, such as those of classes,
# cost nothing: ρ is 1, and a rate within a class has the limits that it has without weights.

_EQUAL = 1e-9  # of the weights of a cell: rounding


class WeightedCells(NamedTuple):
    """Cells for `pseudo_count_limits`: how many items each is worth, and what an item weighs."""

    counts: FloatArray
    unit: FloatArray
    pseudo: float


def weighted_cells(
    cell: IntArray, weight: FloatArray, rows: IntArray, columns: IntArray
) -> WeightedCells:
    """Return the cells of weighted items.

    ``rows`` and ``columns`` (cells,) are the two margins of each cell, truth and prediction. An
    empty cell takes the mean weight of the margin that explains the weights better. The
    pseudo-count is half an item, and a whole one where weights vary within cells.
    """
    cell, weight = cell[weight > 0], weight[weight > 0]
    size = len(rows)
    weight = weight / weight.max(initial=0.0) if len(weight) else weight  # squares may overflow
    n, total, square = (
        np.asarray(np.bincount(cell, part, size), dtype=np.float64)
        for part in (np.ones(len(cell)), weight, weight**2)
    )
    seen = n > 0
    if not seen.any():
        return WeightedCells(n, np.ones(size), 0.5)
    even = np.divide(total**2, n, out=np.zeros(size), where=seen)
    pooled = max(1.0, float(square.sum() / even.sum()))
    varies = pooled > 1.0 + _EQUAL
    own = np.divide(square, even, out=np.ones(size), where=even > 0)  # squares may be 0
    cost = np.maximum(own, pooled) if varies else np.ones(size)
    means = [_means(n, total, margin) for margin in (rows, columns)]
    spread = [float(np.sum((np.log(weight / mean[cell])) ** 2)) for mean in means]
    fill = means[0] if spread[0] <= spread[1] else means[1]
    mean = np.divide(total, n, out=fill.copy(), where=seen)
    return WeightedCells(n / cost, mean * cost, 1.0 if varies else 0.5)


def _means(n: FloatArray, total: FloatArray, margin: IntArray) -> FloatArray:
    """Return the mean weight of the margin of each cell, or that of all where it is empty."""
    number, sums = np.bincount(margin, n), np.bincount(margin, total)
    whole = np.full(len(number), total.sum() / n.sum())
    return np.asarray(np.divide(sums, number, out=whole, where=number > 0)[margin])


# --- What an item can add to the two sides of a ratio.

Pair = tuple[float, float]


def check_kinds(
    top: FloatArray, bottom: FloatArray, success: Any, failure: Any
) -> tuple[Pair, Pair]:
    """Check ``success=`` and ``failure=``, and that every item is one of them, or nothing."""
    ends = _pair(success, "success"), _pair(failure, "failure")
    if min(ends[0]) <= 0 or ends[1][0] != 0 or ends[1][1] <= 0:
        refuse_option(
            (success, failure), "success, failure", "positive numbers, and 0 over a positive number"
        )
    _check_kinds(top, bottom, *ends)
    return ends


def _pair(value: Any, name: str) -> tuple[float, float]:
    if not isinstance(value, list | tuple | np.ndarray) or len(value) != 2:
        refuse_option(value, name, "two numbers: what it adds to numerator and denominator")
    return check_number(value[0], name), check_number(value[1], name)


def _check_kinds(
    top: FloatArray, bottom: FloatArray, success: tuple[float, float], failure: tuple[float, float]
) -> None:
    """Refuse items that are neither a success nor a failure nor nothing."""
    kinds = np.array([success, failure, (0.0, 0.0)])
    seen = np.stack([top, bottom], axis=1)
    strange = np.flatnonzero(~(seen[:, None] == kinds).all(axis=2).any(axis=1))
    if len(strange):
        row = int(strange[0])
        raise DataError(
            f"row {row} adds ({top[row]:g}, {bottom[row]:g}) to numerator and "
            "denominator; expected ",
            Expected(f"{success} for a success, {failure} for a failure, or (0, 0)"),
            Remedy(
                "Pass ",
                Option("success"),
                " and ",
                Option("failure"),
                " as the ratio counts them",
                after=". ",
            ),
        )
