"""The estimate of a metric: one for all items, one for each group, and the gaps between them."""

from itertools import combinations
from typing import Any

import numpy as np

from karat._typing import Column
from karat._validate import check_confidence, check_rng
from karat.exceptions import DataError, MetricError
from karat.metrics.base import GroupMetric, MetricBase
from karat.metrics.estimates._counts import Counted, count_items
from karat.metrics.estimates._limits import Found, cluster_limits, count_limits
from karat.metrics.estimates._range import metric_range
from karat.metrics.result import MetricEstimate, MetricGap

__all__ = ["estimate_metric", "mover_gap"]


def estimate_metric(
    metric: MetricBase,
    y_true: Column,
    y_pred: Column,
    *,
    groups: Column | None,
    clusters: Column | None,
    sample_weight: Column | None,
    classes: Column | None,
    pos_label: Any,
    confidence: float,
    rng: int | np.random.Generator | None,
) -> MetricEstimate:
    """Check what was passed, count, and limit; see ``Metric.estimate``."""
    level, generator = check_confidence(confidence), check_rng(rng)
    compares = isinstance(metric, GroupMetric)
    if compares and groups is None:
        raise MetricError(f"{metric.title} compares groups; pass groups=, the group of each item")
    items = count_items(
        metric, y_true, y_pred, groups=groups, clusters=clusters, sample_weight=sample_weight,
        classes=classes, pos_label=pos_label,
    )  # fmt: skip
    fixed = metric.for_classes(items.size)
    if not np.isfinite(metric_range(fixed)).all():
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
    wide = [_one(metric, fixed, items.of(at), level, len(pairs) or 1, seed)
            for at in range(len(names))]  # fmt: skip
    gaps = tuple(
        MetricGap(
            metric=metric, first=names[u], second=names[v], confidence=level, pairs=len(pairs),
            **dict(zip(("value", "lower", "upper"), mover_gap(wide[u], wide[v]), strict=True)),
        )
        for u, v in pairs
    )  # fmt: skip
    return MetricEstimate(**{**_fields(whole), "groups": parts, "gaps": gaps})


def _fields(result: MetricEstimate) -> dict[str, Any]:
    return {name: getattr(result, name) for name in MetricEstimate.__dataclass_fields__}


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
    k, n = items.size, len(items.cell)
    groups = fixed.n_groups if isinstance(fixed, GroupMetric) else None
    shape: tuple[int, ...] = (k, k)
    if groups is not None:
        if items.group_names is None or len(items.group_names) != groups:
            found = 0 if items.group_names is None else len(items.group_names)
            raise MetricError(f"{metric.title} is for {groups} groups and was given {found}")
        items, shape = items.by_group(), (groups, k, k)
    rng = np.random.default_rng(seed)
    delta = (1 - level) / 2 / shared
    counts = items.table(int(np.prod(shape)))
    if counts.sum() <= 0:
        raise DataError("the items of a group all weigh 0; leave the group out")
    number = float(n)
    if items.weight is not None:
        # No cell may count for more items than it holds: a recall rests on the positives alone.
        sums = np.bincount(items.cell, items.weight, len(counts.ravel()))
        squares = np.bincount(items.cell, items.weight**2, len(counts.ravel()))
        scale = float((sums[squares > 0] / squares[squares > 0]).min())
        number = scale * float(counts.sum())
        counts = counts * scale
    if items.cluster is None:
        answer: Found = count_limits(fixed, counts, shape, delta=delta, rng=rng)
    else:
        number = min(number, float(items.cluster.max() + 1))
        answer = cluster_limits(
            fixed, items.cell, items.weight, items.cluster, shape, delta=delta, rng=rng
        )
    exact = answer.method == "clopper-pearson" and items.weight is None
    return MetricEstimate(
        metric=metric,
        value=answer.value,
        lower=answer.lower,
        upper=answer.upper,
        confidence=level,
        n=n,
        n_effective=number,
        method=answer.method,
        guarantee="exact" if exact else "approximate",
        pos_label=items.classes[1].item() if metric.n_classes == 2 else None,
        groups=None,
        gaps=(),
    )
