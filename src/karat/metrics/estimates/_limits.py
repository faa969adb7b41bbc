"""Limits of a metric from counts: exact for a proportion, by a surprise for any other."""

import warnings
from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.exceptions import UndefinedMetricWarning
from karat.limits.kernels import clopper_pearson_limits, drawn_limits, surprise_limits
from karat.metrics.base import GroupMetric, MetricBase
from karat.metrics.estimates._proportion import as_proportion
from karat.metrics.estimates._range import metric_range
from karat.metrics.families import BalancedAccuracy, Macro

__all__ = ["Found", "cluster_limits", "count_limits", "table_values"]

_DRAWS = 2000
_FEW = 10  # items of a class below which an average over classes counts it as uncertain by itself
_GAMMAS = 4_000_000  # gamma variables that are held at a time
_EXACT = 52  # powers of 2 whose sum a double holds


class Found(NamedTuple):
    """A value with its limits, and how they were found."""

    value: float
    lower: float
    upper: float
    method: str


def table_values(metric: MetricBase, tables: FloatArray) -> FloatArray:
    """Return the metric of each table (b, …, k, k) of shares; NaN where it is undefined.

    Whether it is depends on the cells that are empty alone, so one table of each kind is tried.
    """
    flat = tables.reshape(len(tables), -1)
    if isinstance(metric, GroupMetric):
        values = np.full(len(tables), np.nan)
        whole = (tables.sum(axis=-1) > 0).all(axis=(1, 2))
        if whole.any():
            values[whole] = metric._values(tables[whole])
        return values
    first, kind = _kinds(flat > 0)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error", UndefinedMetricWarning)
        defined = np.array([_is_defined(metric, tables[i : i + 1]) for i in first])
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = np.asarray(metric._values(tables), dtype=np.float64)
    return np.where(defined[kind], values, np.nan)


def _kinds(filled: BoolArray) -> tuple[IntArray, IntArray]:
    """Return one row of each kind (b, cells), and the kind of every row.

    A row is told by a sum of whole numbers that doubles hold exactly: powers of 2, or, of many
    cells, random ones, of which two sums are equal once in 10¹² times. Sorting rows is far slower.
    """
    cells = filled.shape[1]
    powers = np.exp2(np.arange(min(cells, _EXACT), dtype=np.float64))
    drawn = np.random.default_rng(0).integers(1, 2**40, cells).astype(np.float64)
    weights = powers if cells <= _EXACT else drawn
    _, first, kind = np.unique(
        filled.astype(np.float64) @ weights, return_index=True, return_inverse=True
    )
    return first, kind.ravel()


def _is_defined(metric: MetricBase, table: FloatArray) -> bool:
    try:
        return bool(np.isfinite(metric._values(table)).all())
    except UndefinedMetricWarning:
        return False


def count_limits(
    metric: MetricBase,
    counts: FloatArray,
    shape: tuple[int, ...],
    *,
    delta: float,
    rng: np.random.Generator,
) -> Found:
    """Return the metric of counts with its limits, ``delta`` on either side.

    ``counts`` are flat and need not be whole; ``shape`` is that of a table.
    """
    own = as_proportion(metric)
    span = metric_range(metric)
    if own is not None:
        won, total = own.counts(counts.reshape(shape))
        ends = [own.value(float(end)) for end in clopper_pearson_limits(won, total, delta)]
        value = own.value(won / total) if total > 0 else np.nan
        return Found(value, ends[0], ends[1], "clopper-pearson")
    value = float(table_values(metric, (counts / counts.sum()).reshape(1, *shape))[0])
    low, high = surprise_limits(
        lambda shares: table_values(metric, shares.reshape(-1, *shape)),
        counts, span, delta=delta, draws=_DRAWS, rng=rng, strata=_classes(metric, shape), few=_FEW,
    )  # fmt: skip
    return _around(value, low, high, "surprise")


def _classes(metric: MetricBase, shape: tuple[int, ...]) -> IntArray | None:
    """Return the true class of each cell where a metric averages over three classes or more.

    Each of them counts alike, so those with few items are all surprising at once.
    """
    averages = isinstance(metric, BalancedAccuracy | Macro)
    return np.indices(shape)[0].ravel() if averages and shape[0] > 2 else None


def _around(value: float, low: float, high: float, method: str) -> Found:
    """Return limits that hold the value between them."""
    seen = not np.isnan(value)
    return Found(
        value, min(low, value) if seen else low, max(high, value) if seen else high, method
    )


def cluster_limits(
    metric: MetricBase,
    cell: IntArray,
    weight: FloatArray | None,
    cluster: IntArray,
    shape: tuple[int, ...],
    *,
    delta: float,
    rng: np.random.Generator,
) -> Found:
    """Return limits where whole clusters are independent, by weights that clusters draw together.

    Each cluster gets a gamma variable of shape 1; the surprise is half a cluster of the usual size
    in one cell. With one item a cluster it is the surprise of `count_limits`.
    """
    cells, m = int(np.prod(shape)), int(cluster.max()) + 1
    span = metric_range(metric)
    table = np.bincount(cluster * cells + cell, weight, m * cells).reshape(m, cells)
    total = table.sum(axis=0)
    value = float(table_values(metric, (total / total.sum()).reshape(1, *shape))[0])
    step = max(1, _GAMMAS // m)
    drawn = [
        rng.standard_gamma(1.0, (min(step, _DRAWS - at), m)) @ table
        for at in range(0, _DRAWS, step)
    ]
    base = np.concatenate(drawn)
    extra = rng.standard_gamma(0.5, _DRAWS) * (total.sum() / m)
    low, high = drawn_limits(
        lambda shares: table_values(metric, shares.reshape(-1, *shape)), base, extra, span,
        delta=delta,
    )  # fmt: skip
    return _around(value, low, high, "cluster")
