"""How sure a metric of labelled items is: limits from counts, by group and by cluster.

`as_proportion` tells whether a metric is a function of one proportion, whose limits are exact;
`table_ends` tells what values it can have on a table of which some classes are empty;
`estimate_metric` counts and limits: it is what ``Metric.estimate`` calls.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._result import Estimate
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, IntArray
from karat._validate import (
    check_alike,
    check_classes,
    check_confidence,
    check_probabilities,
    check_rng,
    check_same_length,
    check_weighting,
    check_weights,
    encode_groups,
    encode_labels,
    is_matrix,
    refuse_option,
    require_two_classes,
)
from karat.exceptions import DataError, MetricError, SmallSampleWarning, UndefinedMetricWarning
from karat.limits.means import cluster_number
from karat.limits.proportions import clopper_pearson_limits
from karat.limits.pseudo import WeightedCells, drawn_limits, pseudo_count_limits, weighted_cells
from karat.limits.resampling import enough_draws
from karat.metrics import LinearFractionalMetric, LinearMetric, PowerMeanMetric
from karat.metrics._group import GroupMetric
from karat.metrics.base import MetricBase
from karat.metrics.named import BalancedAccuracy, GMean, Macro, one_vs_rest
from karat.metrics.result import MetricEstimate, MetricGap
from karat.statistics import Confusion

# Kish's number of clusters, and its share of all clusters, below which a few clusters decide.
# Limits cannot know of large clusters that were not drawn: where the largest 5 % are right .3 of
# the time, the others .9, and sizes are Pareto's, 95 % limits from 20 to 100 clusters cover .82 to
# .86.
_FEW_CLUSTERS = 5.0
_EQUAL_CLUSTERS = 0.4


def estimate_metric(
    metric: MetricBase,
    y_true: Column | Confusion,
    y_pred: Column | None,
    *,
    groups: Column | None,
    clusters: Column | None,
    sample_weight: Column | None,
    weighting: str | None,
    classes: Column | None,
    pos_label: Any,
    confidence: float,
    rng: int | np.random.Generator | None,
) -> MetricEstimate:
    """Check what was passed, count, and limit; see ``Metric.estimate``."""
    level, generator = check_confidence(confidence), check_rng(rng)
    compares = isinstance(metric, GroupMetric)
    if isinstance(y_true, Confusion):
        rows = {"y_pred": y_pred, "groups": groups, "clusters": clusters}
        refuse_rows(**rows, sample_weight=sample_weight)
        items = counted_already(metric, y_true, classes, pos_label)
    elif y_pred is None:
        raise DataError(
            Argument("y_pred"),
            " is missing",
            Remedy("pass the predicted labels, or a confusion as ", Argument("y_true")),
        )
    else:
        items = count_items(
            metric,
            y_true,
            y_pred,
            groups=groups,
            clusters=clusters,
            sample_weight=sample_weight,
            weighting=weighting,
            classes=classes,
            pos_label=pos_label,
        )
    if compares and items.group is None:
        raise MetricError(
            f"{metric.title} compares groups",
            Remedy("pass ", Option("groups"), ", the group of each item"),
        )
    fixed = metric.for_classes(items.size)
    if not np.isfinite(fixed.value_range).all():
        raise MetricError(
            f"{metric.title} has no known least and greatest value, so its limits cannot be found; "
            "pass a ratio whose numerator is between 0 and its denominator"
        )
    seed = int(generator.integers(2**63))
    whole = _one(metric, fixed, items, level, 1.0, seed)
    if items.group is None or compares:
        return whole
    assert items.group_names is not None
    names = items.group_names.tolist()
    parts = {
        name: _one(metric, fixed, items.of(at), level, 1.0, seed) for at, name in enumerate(names)
    }
    pairs = list(combinations(range(len(names)), 2))
    wide = [
        _one(metric, fixed, items.of(at), level, len(pairs) or 1, seed) for at in range(len(names))
    ]
    gaps = tuple(
        MetricGap(
            metric=metric,
            first=names[u],
            second=names[v],
            estimate=Estimate.of(*mover_gap(wide[u], wide[v]), level, "approximate"),
            pairs=len(pairs),
        )
        for u, v in pairs
    )
    return replace(whole, groups=parts, gaps=gaps)


def _warn_of_clusters(m: int, number: float) -> None:
    """Warn of few clusters, or of sizes so unequal that a few of them decide."""
    if number < _FEW_CLUSTERS or number < _EQUAL_CLUSTERS * m:
        warnings.warn(
            f"{m} clusters of these sizes count as {number:.1f} of one size: the limits are too "
            "narrow if large clusters differ from small ones. Label more clusters, or fewer items "
            "of the largest",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )


def mover_gap(first: Any, second: Any) -> tuple[float, float, float]:
    """Return the difference of two independent numbers, with limits from the limits of each.

    The distance to a limit of the difference is the root of the sum of the squared distances to
    the limits that it comes from (Zou and Donner 2008); an unknown number leaves it unknown.
    """
    value = first.value - second.value
    if np.isnan(value):
        return value, first.lower - second.upper, first.upper - second.lower
    down = np.hypot(first.value - first.lower, second.upper - second.value)
    up = np.hypot(first.upper - first.value, second.value - second.lower)
    return value, float(value - down), float(value + up)


def _one(
    metric: MetricBase,
    fixed: MetricBase,
    items: Counted,
    level: float,
    shared: float,
    seed: int,
) -> MetricEstimate:
    """Return the estimate of some items, with an error of (1 − level) divided by ``shared``."""
    k, n = items.size, items.n
    groups = fixed.n_groups if isinstance(fixed, GroupMetric) else None
    shape: tuple[int, ...] = (k, k)
    if groups is not None:
        if items.group_names is None or len(items.group_names) != groups:
            found = 0 if items.group_names is None else len(items.group_names)
            raise MetricError(f"{metric.title} is for {groups} groups and was given {found}")
        items, shape = items.by_group(), (groups, k, k)
    rng = np.random.default_rng(seed)
    delta = (1 - level) / 2 / shared
    if items.weight is not None and items.weight.sum() <= 0:
        raise DataError("the items of a group all weigh 0; leave the group out")
    number = float(n)
    if items.weight is not None:
        number = float(cells_of(items.cell, items.weight, shape).counts.sum())
    if items.cluster is not None:
        weight = np.ones(n) if items.weight is None else items.weight
        clusters = cluster_number(weight, items.cluster)
        number = min(number, clusters)
        _warn_of_clusters(int(items.cluster.max()) + 1, clusters)
    options: dict[str, Any] = {"delta": delta, "rng": rng, "shared": 2.0 * shared}
    if items.times is None:
        rows = items.cell, items.weight, items.cluster
        answer = table_limits(fixed, *rows, shape, **options)
    else:
        answer = count_limits(fixed, items.table(int(np.prod(shape))), shape, **options)
    exact = answer.method == "clopper-pearson" and items.weight is None
    return MetricEstimate(
        metric=metric,
        estimate=Estimate.of(
            answer.value, answer.lower, answer.upper, level, "exact" if exact else "approximate"
        ),
        n=n,
        n_effective=number,
        method=answer.method,
        pos_label=items.classes[1].item() if _has_positive(metric) else None,
        groups=None,
        gaps=(),
    )


# --- Labelled items counted into the cells of truth and prediction, by group and cluster.


class Counted(NamedTuple):
    """The cell of each item, with its weight, group and cluster.

    ``times`` are the numbers of equal items that the entries stand for, where they are not one.
    """

    cell: IntArray
    weight: FloatArray | None
    group: IntArray | None
    group_names: AnyArray | None
    cluster: IntArray | None
    classes: AnyArray
    times: IntArray | None = None

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.cell) if self.times is None else int(self.times.sum())

    @property
    def size(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def of(self, group: int) -> Counted:
        """Return the items of one group."""
        rows = np.flatnonzero(self.group == group)
        weight = None if self.weight is None else self.weight[rows]
        cluster = None
        if self.cluster is not None:
            cluster = np.unique(self.cluster[rows], return_inverse=True)[1]
        return self._replace(
            cell=self.cell[rows],
            weight=weight,
            group=None,
            group_names=None,
            cluster=cluster,
            times=None if self.times is None else self.times[rows],
        )

    def by_group(self) -> Counted:
        """Return the items with cells (group, truth, prediction)."""
        assert self.group is not None
        return self._replace(cell=self.group * self.size**2 + self.cell)

    def table(self, cells: int) -> FloatArray:
        """Return the counts, or sums of weights, of all cells."""
        each = self.weight if self.times is None else self.times
        return np.bincount(self.cell, each, cells).astype(np.float64)


def count_items(
    metric: MetricBase,
    y_true: Column,
    y_pred: Column,
    *,
    groups: Column | None,
    clusters: Column | None,
    sample_weight: Column | None,
    classes: Column | None,
    pos_label: Any,
    weighting: str | None = None,
) -> Counted:
    """Check and count what was passed to ``estimate``."""
    if is_matrix(y_pred):
        check_probabilities(y_pred, "y_pred")
        raise MetricError(
            Argument("y_pred"),
            " holds class probabilities; expected ",
            Expected("labels: estimate counts items in whole cells"),
            ". Predict a class of each item first",
        )
    order = metric._class_order(y_true, y_pred, classes, pos_label)
    (true, called), found = encode_labels({"y_true": y_true, "y_pred": y_pred}, order)
    if classes is None:
        check_alike({"y_true": true, "y_pred": called}, found)
    require_two_classes(found, "y_true", "y_pred")
    weight = check_weights(sample_weight)
    times: IntArray | None = None
    important = check_weighting(weighting, weight)
    if weight is not None and not important:
        times, weight = weight.astype(np.int64), None
        if clusters is not None:
            refuse_option("frequency", "weighting", "'importance' with clusters, or a row per item")
    group, names = encode_groups(groups)
    cluster, _ = encode_groups(clusters, name="clusters")
    check_same_length(
        y_true=true,
        y_pred=called,
        sample_weight=weight if times is None else times,
        groups=group,
        clusters=cluster,
    )
    return Counted(true * len(found) + called, weight, group, names, cluster, found, times)


def counted_already(
    metric: MetricBase, table: Confusion, classes: Column | None, pos_label: Any
) -> Counted:
    """Return the items of a confusion, in the order of the metric's classes."""
    counts = np.asarray(table.counts)
    if (counts != np.round(counts)).any():
        raise DataError(
            "the confusion holds sums of weights; expected ",
            Expected("whole numbers of items, which limits rest on"),
            ". Pass the rows with ",
            Option("sample_weight"),
        )
    known, stated = (table.classes, False) if classes is None else (check_classes(classes), True)
    name = "classes" if stated else "the confusion"
    table = table.in_order(metric._order_of(known, pos_label=pos_label, stated=stated, name=name))
    times = np.asarray(table.counts, dtype=np.int64).reshape(-1)
    at = np.flatnonzero(times)
    if not len(at):
        raise DataError("the confusion has no items; count at least one")
    group, cell = np.divmod(at, len(table.classes) ** 2)
    by = None if table.groups is None else group
    return Counted(cell, None, by, table.groups, None, table.classes, times[at])


def refuse_rows(**given: Any) -> None:
    """Refuse what says something of single rows, beside a confusion that has none."""
    for name, column in given.items():
        if column is not None:
            raise DataError(
                Argument(name),
                " does not go with a confusion, which has no rows",
                Remedy("pass the true labels as ", Argument("y_true"), ", or count with groups"),
            )


# --- Limits of a metric from counts: exact for a proportion, by a pseudo-count for any other.

_FEW = 10  # items of a class below which an average over classes counts it as uncertain by itself
_GAMMAS = 4_000_000  # gamma variables that are held at a time
_SAME = 1e-9  # by which weights that are equal differ through rounding


class Found(NamedTuple):
    """A value with its limits, and how they were found."""

    value: float
    lower: float
    upper: float
    method: str


def table_limits(
    metric: MetricBase,
    cell: IntArray,
    weight: FloatArray | None,
    cluster: IntArray | None,
    shape: tuple[int, ...],
    *,
    delta: float,
    rng: np.random.Generator,
    shared: float = 2.0,
) -> Found:
    """Return the metric of items with its limits: the cell, weight and cluster of each."""
    if cluster is not None:
        return cluster_limits(
            metric, cell, weight, cluster, shape, delta=delta, rng=rng, shared=shared
        )
    if weight is not None:
        return weighted_limits(metric, cell, weight, shape, delta=delta, rng=rng, shared=shared)
    counts = np.bincount(cell, minlength=int(np.prod(shape))).astype(np.float64)
    return count_limits(metric, counts, shape, delta=delta, rng=rng, shared=shared)


def count_limits(
    metric: MetricBase,
    counts: FloatArray,
    shape: tuple[int, ...],
    *,
    delta: float,
    rng: np.random.Generator,
    shared: float = 2.0,
) -> Found:
    """Return the metric of counts with its limits, ``delta`` on either side.

    ``counts`` are flat and need not be whole; ``shape`` is that of a table, and ``shared`` the
    number of limits among which the error is divided.
    """
    own = as_proportion(metric)
    cells = WeightedCells(counts, np.ones(len(counts)), 0.5)
    if own is not None:
        return _exact(own, cells, shape, delta)
    return _simulated(metric, cells, shape, delta, rng, shared)


def weighted_limits(
    metric: MetricBase,
    cell: IntArray,
    weight: FloatArray,
    shape: tuple[int, ...],
    *,
    delta: float,
    rng: np.random.Generator,
    shared: float = 2.0,
) -> Found:
    """Return the metric of weighted items with its limits; see `weighted_cells`.

    A proportion rests on the items that it counts alone: a recall on the positives, so that weights
    of classes leave its limits as they are.
    """
    own = as_proportion(metric)
    if own is None:
        return _simulated(metric, cells_of(cell, weight, shape), shape, delta, rng, shared)
    counted = (own.success | own.failure).ravel()[cell]
    cells = cells_of(cell[counted], weight[counted], shape)
    kinds = [cells.unit[kind.ravel()] for kind in (own.success, own.failure)]
    if all(np.allclose(unit, unit[0], rtol=_SAME, atol=0.0) for unit in kinds):
        return _exact(own, cells, shape, delta)
    return _simulated(metric, cells, shape, delta, rng, shared)


def cells_of(cell: IntArray, weight: FloatArray, shape: tuple[int, ...]) -> WeightedCells:
    """Return `weighted_cells` of a table (…, truth, prediction)."""
    place = np.indices(shape).reshape(len(shape), -1)
    rows, columns = (
        np.ravel_multi_index((*place[:-2], place[side]), (*shape[:-2], shape[side]))
        for side in (-2, -1)
    )
    return weighted_cells(cell, weight, rows, columns)


def _exact(own: Proportion, cells: WeightedCells, shape: tuple[int, ...], delta: float) -> Found:
    """Return the limits of Clopper and Pearson; successes may weigh other than failures."""
    won, total = own.counts(cells.counts.reshape(shape))
    hit, miss = (float(cells.unit[kind.ravel()][0]) for kind in (own.success, own.failure))
    ratio = 1.0 if np.isclose(hit, miss, rtol=_SAME, atol=0.0) else hit / miss

    def value(share: float) -> float:
        return own.value(ratio * share / (ratio * share + 1.0 - share))

    low, high = (value(float(end)) for end in clopper_pearson_limits(won, total, delta))
    return Found(value(won / total) if total > 0 else np.nan, low, high, "clopper-pearson")


def _simulated(
    metric: MetricBase,
    cells: WeightedCells,
    shape: tuple[int, ...],
    delta: float,
    rng: np.random.Generator,
    shared: float,
) -> Found:
    """Return limits by a pseudo-count."""
    span = metric.value_range
    total = cells.counts * cells.unit
    if total.sum() <= 0:
        return Found(np.nan, *span, "pseudo-count")
    draws = enough_draws(delta, width=len(total), shared=shared, remedy=_remedy(shared))
    low, high = pseudo_count_limits(
        lambda shares: table_ends(metric, shares.reshape(-1, *shape)),
        cells.counts,
        span,
        delta=delta,
        draws=draws,
        rng=rng,
        pseudo=cells.pseudo,
        unit=cells.unit,
        strata=_classes(metric, shape),
        few=_FEW,
    )
    value = table_value(metric, (total / total.sum()).reshape(shape))
    return _around(value, low, high, "pseudo-count")


def _remedy(shared: float) -> str:
    return ", or compare fewer groups" if shared > 2 else ""


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
    shared: float = 2.0,
) -> Found:
    """Return limits where whole clusters are independent, by weights that clusters draw together.

    Each cluster gets a gamma variable of shape 1. The pseudo-count is a cluster of the size Σm²/Σm,
    that of the cluster an item is in on average, all in one cell: half of it where all are of one
    size, the whole where they count as half as many (Kish 1965). With one item a cluster it is the
    pseudo-count of `count_limits`. Limits of accuracy covered at least .94 in 52 laws of 10 to 100
    clusters (300 samples each); half a cluster of the mean size covered .71 to .87 in three of
    them.
    """
    cells, m = int(np.prod(shape)), int(cluster.max()) + 1
    span = metric.value_range
    table = np.bincount(cluster * cells + cell, weight, m * cells).reshape(m, cells)
    total = table.sum(axis=0)
    value = table_value(metric, (total / total.sum()).reshape(shape))
    draws = enough_draws(delta, width=max(cells, m / 40), shared=shared, remedy=_remedy(shared))
    step = max(1, _GAMMAS // m)
    drawn = [
        rng.standard_gamma(1.0, (min(step, draws - at), m)) @ table for at in range(0, draws, step)
    ]
    base = np.concatenate(drawn)
    sizes = table.sum(axis=1)
    usual = float(sizes @ sizes / sizes.sum())
    unequal = usual * m / float(sizes.sum())
    extra = rng.standard_gamma(min(1.0, unequal / 2), draws) * usual
    low, high = drawn_limits(
        lambda shares: table_ends(metric, shares.reshape(-1, *shape)),
        base,
        extra,
        span,
        delta=delta,
    )
    return _around(value, low, high, "cluster")


# --- The metric of tables of shares: its value, and what it can be where classes are empty.

_EXACT = 52  # powers of 2 whose sum a double holds


def table_ends(metric: MetricBase, tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest value of each table (b, …, k, k).

    They differ where the metric is undefined. An average over classes is undefined in parts: a
    class without items counts 0 for the least and 1 for the greatest value, each over the number
    of classes. Any other metric may be anything within its range.
    """
    if isinstance(metric, Macro):
        apart = one_vs_rest(tables)
        parts = table_ends(metric.metric.for_classes(2), apart.reshape(-1, 2, 2))
        low, high = (part.reshape(apart.shape[:2]).mean(axis=1) for part in parts)
        return low, high
    if _averages(metric):
        empty = tables.sum(axis=2) == 0
        k = tables.shape[-1]
        right = np.eye(k)
        sides = [
            table_values(metric, np.where(empty[:, :, None], fill, tables))
            for fill in ((1.0 - right) / (k - 1), right)
        ]
        return np.minimum(*sides), np.maximum(*sides)
    values = table_values(metric, tables)
    low, high = (np.where(np.isfinite(values), values, end) for end in metric.value_range)
    return low, high


def table_value(metric: MetricBase, table: FloatArray) -> float:
    """Return the metric of one table; NaN where it is undefined.

    An average over classes of which some are empty is what the metric itself takes it for, with
    its warning.
    """
    low, high = (float(end[0]) for end in table_ends(metric, table[None]))
    if low == high:
        return low
    if (low, high) == metric.value_range or not _averages(metric):
        return float("nan")
    return float(metric._values(table[None])[0])


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


def _averages(metric: MetricBase) -> bool:
    """Return whether a metric is a mean, of any kind, of a number of each class."""
    return isinstance(metric, Macro | BalancedAccuracy | GMean | PowerMeanMetric)


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


# --- What values a metric can have at all.


# --- Metrics that are a function of one proportion, so that their limits are exact.


class Proportion(NamedTuple):
    """Cells (k, k) that succeed and cells that fail; what each adds to a ratio.

    With the share p of the successes among the items of both kinds the metric is
    ``shift + t₁p / (b₁p + b₀(1 − p))``.
    """

    success: BoolArray
    failure: BoolArray
    added: tuple[float, float]
    missed: float
    shift: float = 0.0

    def counts(self, table: FloatArray) -> tuple[float, float]:
        """Return the successes, and successes and failures together, of a table of counts."""
        won = float(table[self.success].sum())
        return won, won + float(table[self.failure].sum())

    def value(self, p: float) -> float:
        """Return the metric at a share of successes; it grows with the share."""
        if p <= 0 or np.isnan(p):
            return self.shift + 0.0 * p
        top, bottom = self.added
        return self.shift + top * p / (bottom * p + self.missed * (1 - p))


def as_proportion(metric: MetricBase) -> Proportion | None:
    """Return the proportion that the metric is a function of, or None.

    Accuracy and other linear metrics of two values, precision, recall, and, since
    J = TP/(TP + FP + FN) is the share of true positives among the items that are or are called
    positive, the Jaccard index and F1 = 2J/(1 + J).
    """
    if isinstance(metric, LinearMetric):
        low, high = float(metric.weights.min()), float(metric.weights.max())
        won, lost = metric.weights == high, metric.weights == low
        if low < high and bool((won | lost).all()):
            return Proportion(won, lost, (high - low, 1.0), 1.0, low)
    if isinstance(metric, LinearFractionalMetric) and metric.constant == 0:
        return _ratio(metric)
    return None


def _ratio(metric: LinearFractionalMetric) -> Proportion | None:
    top, bottom = metric.numerator, metric.denominator
    counted = (top != 0) | (bottom != 0)
    won, lost = counted & (top > 0), counted & (top == 0)
    kinds = [
        {(float(a), float(b)) for a, b in zip(top[m], bottom[m], strict=True)} for m in (won, lost)
    ]
    if (top < 0).any() or len(kinds[0]) != 1 or len(kinds[1]) != 1:
        return None
    (added,), (missed,) = kinds
    return Proportion(won, lost, added, missed[1]) if added[1] > 0 and missed[1] > 0 else None


def _has_positive(metric: MetricBase) -> bool:
    """Return whether one of two classes is the positive one: costs alike for both have none."""
    return metric.n_classes == 2 and (metric.classes is not None or metric.depends_on_order)
