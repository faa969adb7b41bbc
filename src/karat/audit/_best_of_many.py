"""Which of several models are best, with limits for all pairs at once."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, FloatArray, IntArray
from karat._validate import (
    check_alike,
    check_confidence,
    check_rng,
    check_same_length,
    encode_labels,
    native_frame,
    require_two_classes,
)
from karat.audit.decision_result import ModelTiers
from karat.exceptions import MetricError, ShapeError
from karat.limits.kernels import surprise_limits
from karat.metrics import LinearMetric, Metric, MetricBase, MetricGap, as_metric
from karat.metrics.estimates import metric_range, table_values

__all__ = ["best_of_many"]

_DRAWS = 2000
_MOST_CELLS = 1000


@keeps_kind
def best_of_many(
    predictions: Any,
    y_true: Column,
    *,
    metric: MetricBase | str,
    classes: Column | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> ModelTiers:
    """Rank models by a metric on labelled items, and say which differences are real.

    Every pair is compared on the same items: of the counts of truth and both predictions the
    difference gets limits by a surprise (see `karat.limits.surprise`) at the error divided by the
    number of pairs, so that they hold for all pairs together. A model is in tier 1 if no other
    beats it, in tier 2 if only models of tier 1 do, and so on.

    Parameters
    ----------
    predictions : mapping or frame
        Predictions of each model, by name.
    y_true : column (n,)
        True labels of a random sample.
    metric : Metric or str
        What to rank by.
    classes : column (k,), optional
        The classes; by default those found, sorted.
    pos_label : label, optional
        The positive class; by default the larger label.
    confidence : float, default 0.95
        Probability that the limits of all pairs hold.
    rng : int or generator, optional
        Source of randomness.

    Returns
    -------
    ModelTiers

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 400)
    >>> models = {r: np.where(rng.random(400) < r, truth, 1 - truth) for r in (0.9, 0.88, 0.6)}
    >>> best_of_many(models, truth, metric="accuracy", rng=0).tiers
    (1, 1, 2)
    """
    chosen = as_metric(metric)
    if not isinstance(chosen, Metric):
        raise MetricError(f"{chosen.title} compares groups; rank models by one population")
    level, generator = check_confidence(confidence), check_rng(rng)
    columns = _named(predictions)
    if len(columns) < 2:
        raise ShapeError(f"predictions holds {len(columns)} model; expected at least two")
    first = next(iter(columns.values()))
    order = chosen._class_order(y_true, first, classes, pos_label)
    named = {f"predictions[{name!r}]": column for name, column in columns.items()}
    codes, found = encode_labels({"y_true": y_true} | named, order)
    if classes is None:
        check_alike(dict(zip(("y_true", *named), codes, strict=True)), found)
    require_two_classes(found, "y_true", "predictions")
    _check_lengths(codes, list(columns))
    fixed = chosen.for_classes(len(found))
    return _ranked(chosen, fixed, list(columns), codes, len(found), level, generator)


def _named(predictions: Any) -> dict[Any, Any]:
    """Return the columns of a mapping or a frame."""
    if isinstance(predictions, Mapping):
        return dict(predictions)
    frame = native_frame(predictions, "predictions")
    if frame is None:
        raise ShapeError(
            f"predictions is {type(predictions).__name__}; expected a mapping from the name of "
            "each model to its predictions, or a frame with a column each"
        )
    return {name: frame[name].to_native() for name in frame.columns}


def _check_lengths(codes: list[IntArray], names: list[Any]) -> None:
    for name, column in zip(names, codes[1:], strict=True):
        check_same_length(y_true=codes[0], **{f"predictions[{name!r}]": column})


def _ranked(
    chosen: Metric,
    fixed: Metric,
    names: list[Any],
    codes: list[IntArray],
    k: int,
    level: float,
    rng: np.random.Generator,
) -> ModelTiers:
    true, models = codes[0], codes[1:]
    each = [_limits(fixed, (true, m), k, (1 - level) / 2, rng) for m in models]
    order = sorted(range(len(names)), key=lambda i: -np.nan_to_num(each[i][0], nan=-np.inf))
    pairs, beats = [], np.zeros((len(names), len(names)), dtype=bool)
    number = len(names) * (len(names) - 1) // 2
    for u, v in combinations(order, 2):
        value, low, high = _limits(
            fixed, (true, models[u], models[v]), k, (1 - level) / 2 / number, rng
        )
        beats[u, v], beats[v, u] = low > 0, high < 0
        pairs.append(
            MetricGap(metric=chosen, first=names[u], second=names[v], value=value, lower=low,
                      upper=high, confidence=level, pairs=number)
        )  # fmt: skip
    sorted_ = [each[i] for i in order]
    return ModelTiers(
        metric=chosen, names=tuple(names[i] for i in order),
        values=np.array([e[0] for e in sorted_]), lowers=np.array([e[1] for e in sorted_]),
        uppers=np.array([e[2] for e in sorted_]), tiers=_tiers(beats[np.ix_(order, order)]),
        pairs=tuple(pairs), confidence=level, n=len(true),
    )  # fmt: skip


def _tiers(beats: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]") -> tuple[int, ...]:
    """Return the tier of each: one more than the worst tier of those that beat it."""
    tiers: list[int] = []
    for at in range(len(beats)):
        above = [tiers[i] for i in range(at) if beats[i, at]]
        tiers.append(1 + max(above, default=0))
    return tuple(tiers)


def _limits(
    metric: Metric, codes: tuple[IntArray, ...], k: int, delta: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return a metric, or a difference of two models, with its limits, from counts."""
    span = metric_range(metric)
    two = len(codes) == 3
    if two:
        span = (span[0] - span[1], span[1] - span[0])
    if two and isinstance(metric, LinearMetric):
        # Of a linear metric only the difference of the two weights of an item counts.
        worth, cell = np.unique(
            metric.weights[codes[0], codes[1]] - metric.weights[codes[0], codes[2]],
            return_inverse=True,
        )
        ends = np.unique(np.concatenate([worth, _differences(metric.weights)]))
        cell = np.searchsorted(ends, worth)[cell]
        counts = np.bincount(cell, minlength=len(ends)).astype(float)

        def statistic(shares: FloatArray) -> FloatArray:
            return np.asarray(shares @ ends)
    else:
        if k ** len(codes) > _MOST_CELLS:
            # A surprise must be able to fall into every cell, and so many are too many to try.
            raise MetricError(
                f"{metric.title} of {k} classes has {k ** len(codes):,} kinds of items, too many "
                "to compare models by; pass metric='accuracy' or another linear metric"
            )
        kept, cell = np.unique(np.ravel_multi_index(codes, (k,) * len(codes)), return_inverse=True)
        cells = np.arange(k ** len(codes))
        counts = np.bincount(np.searchsorted(cells, kept)[cell], minlength=len(cells)).astype(float)
        place = np.unravel_index(cells, (k,) * len(codes))

        def statistic(shares: FloatArray) -> FloatArray:
            return _values(metric, shares, place, k)

    value = float(np.asarray(statistic(counts[None] / counts.sum()))[0])
    low, high = surprise_limits(statistic, counts, span, delta=delta, draws=_DRAWS, rng=rng)
    if np.isnan(value):
        return value, low, high
    return value, min(low, value), max(high, value)


def _differences(weights: FloatArray) -> FloatArray:
    """Return the differences that two predictions of one item can make."""
    return np.unique(weights[:, :, None] - weights[:, None, :])


def _values(metric: Metric, shares: FloatArray, place: Any, k: int) -> FloatArray:
    true, *models = place
    found = []
    for called in models:
        tables = np.zeros((len(shares), k * k))
        cell = true * k + called
        for c in range(k * k):
            tables[:, c] = shares[:, cell == c].sum(axis=1)
        found.append(table_values(metric, tables.reshape(-1, k, k)))
    return found[0] if len(found) == 1 else np.asarray(found[0] - found[1])
