"""Which of several models are best, with limits for all pairs at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from karat._result import Estimate, keeps_kind
from karat._sentences import Argument, Expected
from karat._typing import Column, FloatArray, IntArray
from karat._validate import (
    check_alike,
    check_confidence,
    check_rng,
    check_same_length,
    check_weighting,
    check_weights,
    encode_labels,
    native_frame,
    refuse_option,
    require_two_classes,
)
from karat.audit.result import ModelTiers
from karat.exceptions import MetricError, ShapeError
from karat.limits.resampling import enough_draws, flip_limits
from karat.metrics import LinearFractionalMetric, LinearMetric, as_metric
from karat.metrics.base import Metric, MetricBase
from karat.metrics.estimates import count_limits, table_value, table_values
from karat.metrics.result import MetricGap


@keeps_kind
def best_of_many(
    predictions: Any,
    y_true: Column,
    *,
    metric: MetricBase | str,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    classes: Column | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> ModelTiers:
    r"""Rank models by a metric on labelled items, and say which differences are real.

    Every pair is compared on the same items. With :math:`d_i`, what item i adds to the difference
    D of two models, D lies within

    .. math:: D \pm c \sqrt{(s^2 + a \max d^2/n) / (n - c^2)},

    where s² is the variance of d, a = 1 (2 for a metric that is neither linear nor a ratio), and c
    the quantile, over random signs ε of the items, of the greatest
    :math:`|\sum \epsilon_i d_i| / \sqrt{\sum d^2}` of all pairs (Romano and Wolf 2005): the limits
    hold for all pairs together. A model is in tier 1 if no other beats it, in tier 2 if only models
    of tier 1 do, and so on. Where another usual metric (accuracy, balanced accuracy, the Matthews
    correlation, F1, recall, precision) puts another model ahead of the first, ``reversed_by`` has
    the difference, and the summary says so.

    Parameters
    ----------
    predictions : mapping or frame
        Predictions of each model, by name.
    y_true : column (n,)
        True labels of a random sample.
    metric : Metric or str
        What to rank by.
    sample_weight : column (n,), optional
        How many equal items each row stands for; differences heed no other weights.
    weighting : {"frequency"}, optional
        What weights are; needed with them.
    classes : column (k,), optional
        The classes; by default those found, sorted.
    pos_label : label, optional
        The positive class of a metric for two classes. By default the last class that the metric
        names, else the one that the labels tell: 1 of 0 and 1, True, or a word such as "yes",
        "spam" or "fraud". Where nothing tells it, a metric that needs it is refused.
    confidence : float, default 0.95
        Probability that the limits of all pairs hold.
    rng : int or generator, optional
        Source of randomness.

    Returns
    -------
    ModelTiers

    References
    ----------
    J. P. Romano and M. Wolf, Exact and approximate stepdown methods for multiple hypothesis
    testing, Journal of the American Statistical Association 100 (2005). Their first step is taken
    alone, so that limits and tiers agree.

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
        raise ShapeError(
            Argument("predictions"),
            f" holds {len(columns)} model; expected ",
            Expected("at least two"),
        )
    named = {f"predictions[{name!r}]": column for name, column in columns.items()}
    _, labels = encode_labels({"y_true": y_true} | named, classes)
    require_two_classes(labels, "y_true", "predictions")
    order = chosen._order_of(
        labels, pos_label=pos_label, stated=classes is not None, name="y_true and predictions"
    )
    codes, found = encode_labels({"y_true": y_true} | named, order)
    if classes is None:
        check_alike(dict(zip(("y_true", *named), codes, strict=True)), found)
    require_two_classes(found, "y_true", "predictions")
    _check_lengths(codes, list(columns))
    items = _counted(codes, len(found), sample_weight, weighting)
    fixed = chosen.for_classes(len(found))
    tiers = _ranked(chosen, fixed, list(columns), items, level, generator)
    others = _reversed_by(tiers, list(columns), items, found.tolist(), pos_label, generator)
    return replace(tiers, reversed_by=others)


def _named(predictions: Any) -> dict[Any, Any]:
    """Return the columns of a mapping or a frame."""
    if isinstance(predictions, Mapping):
        return dict(predictions)
    frame = native_frame(predictions, "predictions")
    if frame is None:
        raise ShapeError(
            Argument("predictions"),
            f" is {type(predictions).__name__}; expected ",
            Expected(
                "a mapping from the name of each model to its predictions, or a frame "
                "with a column each"
            ),
        )
    return {name: frame[name].to_native() for name in frame.columns}


def _check_lengths(codes: list[IntArray], names: list[Any]) -> None:
    for name, column in zip(names, codes[1:], strict=True):
        check_same_length(y_true=codes[0], **{f"predictions[{name!r}]": column})


_MOST_KINDS = 2**62  # of which a whole number can hold all


class _Items(NamedTuple):
    """The distinct rows of true class and predictions, and how many items each stands for."""

    true: IntArray
    models: Sequence[IntArray]
    number: IntArray
    k: int

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.number.sum())

    @property
    def tables(self) -> FloatArray:
        """The counts (models, k, k) of truth and prediction."""
        k = self.k
        flat = [np.bincount(self.true * k + m, self.number, k * k) for m in self.models]
        return np.stack(flat).reshape(-1, k, k).astype(np.float64)


def _counted(
    codes: list[IntArray], k: int, sample_weight: Column | None, weighting: str | None
) -> _Items:
    """Return the items, each row as often as its weight says."""
    weight = check_weights(sample_weight)
    if check_weighting(weighting, weight):
        refuse_option(weighting, "weighting", "'frequency': differences heed no other weights")
    check_same_length(y_true=codes[0], sample_weight=weight)
    number = np.ones(len(codes[0])) if weight is None else weight
    if k ** len(codes) < _MOST_KINDS:
        shape = (k,) * len(codes)
        kind, place = np.unique(np.ravel_multi_index(codes, shape), return_inverse=True)
        rows = np.stack(np.unravel_index(kind, shape), axis=1)
    else:
        rows, place = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), number).astype(np.int64)
    return _Items(rows[:, 0], list(rows[:, 1:].T), counts, k)


def _ranked(
    chosen: Metric,
    fixed: Metric,
    names: list[Any],
    items: _Items,
    level: float,
    rng: np.random.Generator,
) -> ModelTiers:
    k, tables = items.k, items.tables.reshape(len(names), -1)
    each = [count_limits(fixed, table, (k, k), delta=(1 - level) / 2, rng=rng) for table in tables]
    lower, upper = _differences(fixed, items, level, rng)
    order = sorted(range(len(names)), key=lambda i: -np.nan_to_num(each[i].value, nan=-np.inf))
    pairs = list(combinations(order, 2))
    beats = lower > 0
    return ModelTiers(
        metric=chosen,
        names=tuple(names[i] for i in order),
        estimate=Estimate.of(
            np.array([each[i].value for i in order]),
            np.array([each[i].lower for i in order]),
            np.array([each[i].upper for i in order]),
            level,
            "exact" if all(own.method == "clopper-pearson" for own in each) else "approximate",
        ),
        tiers=_tiers(beats[np.ix_(order, order)]),
        pairs=tuple(
            MetricGap(
                metric=chosen,
                first=names[u],
                second=names[v],
                estimate=_apart(each[u].value - each[v].value, lower[u, v], upper[u, v], level),
                pairs=len(pairs),
            )
            for u, v in pairs
        ),
        n=items.n,
    )


def _apart(value: Any, lower: Any, upper: Any, level: float) -> Estimate[float]:
    """Return a difference with its limits, which hold as the number of items grows."""
    return Estimate.of(float(value), float(lower), float(upper), level, "approximate")


def _differences(
    metric: Metric, items: _Items, level: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of row model minus column model, which hold for all pairs together."""
    worth, exact = _worth(metric, items.tables / items.n)
    models = items.models
    parts = np.stack([own[items.true, m] for own, m in zip(worth, models, strict=True)], axis=1)
    most = np.ptp(np.where(np.isfinite(worth), worth, 0.0), axis=(0, 2)).max()
    flips = enough_draws(1 - level, width=len(models), shared=1.0)
    _, low, high = flip_limits(
        parts,
        1 - level,
        number=items.number,
        flips=flips,
        extra=1.0 if exact else 2.0,
        most=float(most),
        rng=rng,
    )
    widest = np.ptp(metric.value_range)
    return np.clip(low, -widest, widest), np.clip(high, -widest, widest)


def _worth(metric: Metric, tables: FloatArray) -> tuple[FloatArray, bool]:
    """Return what an item of each cell adds to the metric of each model, and if that is exact.

    The mean over the items is the metric, up to a number that all models have in common. A ratio is
    taken apart at the value that all models have together, any other metric by its slope at the
    table of each model; NaN where that is undefined.
    """
    if isinstance(metric, LinearMetric):
        return np.broadcast_to(metric.weights, tables.shape), True
    if isinstance(metric, LinearFractionalMetric):
        bottom = metric.denominator + metric.constant
        above, below = (np.sum(tables * part, axis=(1, 2)) for part in (metric.numerator, bottom))
        some = below > 0
        pooled = above[some].sum() / below[some].sum() if some.any() else np.nan
        scale = np.where(some, below, np.nan)
        return (metric.numerator - pooled * bottom) / scale[:, None, None], True
    values = np.array([table_value(metric, table) for table in tables])
    with np.errstate(all="ignore"):
        slopes = np.asarray(metric._gradients(tables))
        start = values - np.sum(np.where(tables > 0, slopes * tables, 0.0), axis=(1, 2))
    return slopes + start[:, None, None], False


def _tiers(beats: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]") -> tuple[int, ...]:
    """Return the tier of each: one more than the worst tier of those that beat it."""
    tiers: list[int] = []
    for at in range(len(beats)):
        above = [tiers[i] for i in range(at) if beats[i, at]]
        tiers.append(1 + max(above, default=0))
    return tuple(tiers)


class _Other(NamedTuple):
    """Another metric, the order of the classes that it is of, and its positive class."""

    metric: Metric
    order: list[int]
    positive: Any = None


def _other_metrics(by: Metric, classes: list[Any], pos_label: Any) -> list[_Other]:
    """Return the usual metrics but ``by``; of each class F1 alone where none is called positive."""
    k = len(classes)
    own = list(range(k))
    names = ["accuracy", "balanced_accuracy", "mcc", *(["macro_f1"] if k > 2 else [])]
    others = [_Other(metric, own) for metric in _metrics(names)]
    if k == 2:
        named: tuple[str, ...] = ("f1", "recall", "precision")
        orders = [own if pos_label in (None, classes[1]) else own[::-1]]
        if pos_label is None and by.n_classes != 2:
            named, orders = ("f1",), [own, own[::-1]]
        others += [
            _Other(metric, order, classes[order[1]])
            for order in orders
            for metric in _metrics(named)
        ]
    return [o for o in others if o.metric.title != by.title or o.order != own]


def _metrics(names: Sequence[str]) -> list[Metric]:
    found = [as_metric(name) for name in names]
    return [metric for metric in found if isinstance(metric, Metric)]


def _reversed_by(
    tiers: ModelTiers,
    names: list[Any],
    items: _Items,
    classes: list[Any],
    pos_label: Any,
    rng: np.random.Generator,
) -> tuple[MetricGap, ...]:
    """Return the lead of another model over the first, by each metric that gives it one."""
    k, first, level = len(classes), names.index(tiers.names[0]), tiers.confidence
    gaps = []
    for other in _other_metrics(tiers.metric, classes, pos_label):
        metric = other.metric.for_classes(k)
        place = np.argsort(other.order)
        own = items._replace(true=place[items.true], models=[place[m] for m in items.models])
        values = table_values(metric, own.tables / own.n)
        if np.isnan(values[first]) or not np.nanmax(values) > values[first]:
            continue
        ahead = int(np.nanargmax(values))
        two = own._replace(models=[own.models[ahead], own.models[first]])
        lower, upper = _differences(metric, two, level, rng)
        gaps.append(
            MetricGap(
                metric=other.metric,
                first=names[ahead],
                second=names[first],
                estimate=_apart(values[ahead] - values[first], lower[0, 1], upper[0, 1], level),
                pairs=1,
                pos_label=other.positive,
            )
        )
    return tuple(gaps)
