"""Decisions by limits that hold at every look: pass, fail, or how many more labels.

`sample_bets` are the bets on labelled rows in their order, `check_order` refuses rows that are
sorted, on which bets would mean nothing, `decide` compares limits with what is asked for, and
`labels_ahead` foretells how many more labels would decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from karat._result import Estimate, Guarantee, keeps_kind
from karat._typing import Column, FloatArray, IntArray
from karat._validate import (
    check_confidence,
    check_flag,
    check_number,
    check_rng,
    refuse_lazy,
    refuse_option,
)
from karat.audit._design import ratios_of
from karat.audit.result import GateResult
from karat.exceptions import AuditError, MetricError
from karat.limits.anytime import Steps, anytime_path, holding, labels_until, ratio_steps, value_grid
from karat.metrics import as_metric
from karat.metrics.base import Metric, MetricBase
from karat.metrics.estimates import (
    count_items,
    refuse_rows,
    table_value,
)
from karat.statistics import Confusion


def assert_at_least(
    y_true: Column,
    y_pred: Column,
    at_least: float,
    *,
    metric: MetricBase | str,
    classes: Column | None = None,
    pos_label: Any = None,
    shuffle: bool = False,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> None:
    """Raise an AssertionError unless the metric is at least so great at ``confidence``.

    Parameters
    ----------
    y_true, y_pred, at_least, metric, classes, pos_label, shuffle, confidence, rng
        As of `gate`, which says FAIL and INCONCLUSIVE apart; here both raise, with the reason.

    Examples
    --------
    >>> assert_at_least([0, 1] * 40, [0, 1] * 40, 0.8, metric="accuracy")
    >>> assert_at_least([0, 1, 1], [0, 1, 1], 0.8, metric="accuracy")
    Traceback (most recent call last):
    AssertionError: INCONCLUSIVE: accuracy is 1.000, between ... labels like these would decide it
    """
    found = gate(
        y_true,
        y_pred,
        at_least,
        metric=metric,
        classes=classes,
        pos_label=pos_label,
        shuffle=shuffle,
        confidence=confidence,
        rng=rng,
    )
    if found.status != "PASS":
        raise AssertionError(found.summary())


@keeps_kind
def gate(
    y_true: Column | Confusion,
    y_pred: Column | None,
    at_least: float,
    *,
    metric: MetricBase | str,
    classes: Column | None = None,
    pos_label: Any = None,
    shuffle: bool = False,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> GateResult:
    """Decide whether a metric is at least so great, by limits that hold at every look.

    A pipeline looks again and again, and stops when it likes what it sees: ordinary limits would
    then hold far less often than they say. These bet on each row, in the order in which rows were
    labelled, and hold after every one of them together.

    Parameters
    ----------
    y_true : column (n,) or Confusion
        True labels of a random sample, in the order in which they came; new ones at the end. Or,
        with None for ``y_pred``, how often which label and prediction came together: these keep no
        order to bet along, so the limits are those of ``metric.estimate`` and hold at one look.
    y_pred : column (n,) or None
        Predictions of the same items.
    at_least : float
        What the metric has to reach.
    metric : Metric or str
        A linear metric, a ratio, or an average of ratios.
    classes : column (k,), optional
        The classes; by default those found, sorted.
    pos_label : label, optional
        The positive class of a metric for two classes. By default the last class that the metric
        names, else the one that the labels tell: 1 of 0 and 1, True, or a word such as "yes",
        "spam" or "fraud". Where nothing tells it, a metric that needs it is refused.
    shuffle : bool, default False
        Whether to put the rows in a random order first, for a sample that is sorted. The limits
        then hold at one look.
    confidence : float, default 0.95
        Probability that the verdict is right.
    rng : int or generator, optional
        Source of randomness of ``shuffle``, and of the limits of a confusion.

    Returns
    -------
    GateResult

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 300)
    >>> called = np.where(rng.random(300) < 0.95, truth, 1 - truth)
    >>> gate(truth, called, 0.8, metric="f1").status
    'PASS'

    From counts:

    >>> from karat.statistics import confusion
    >>> gate(confusion(truth, called), None, 0.8, metric="f1", rng=0).status
    'PASS'
    """
    refuse_lazy(y_true=y_true, y_pred=y_pred)
    chosen = as_metric(metric)
    if not isinstance(chosen, Metric):
        raise MetricError(f"{chosen.title} compares groups; a gate is for one population")
    level, generator = check_confidence(confidence), check_rng(rng)
    mixed = check_flag(shuffle, "shuffle")
    if isinstance(y_true, Confusion):
        refuse_rows(y_pred=y_pred)
        about = {"classes": classes, "pos_label": pos_label}
        return _of_counts(chosen, y_true, at_least, **about, confidence=level, rng=generator)
    items = count_items(
        chosen,
        y_true,
        y_pred,
        groups=None,
        clusters=None,
        sample_weight=None,
        classes=classes,
        pos_label=pos_label,
    )
    k = items.size
    fixed = chosen.for_classes(k)
    wanted = check_at_least(at_least, fixed.value_range)
    true, called = items.cell // k, items.cell % k
    if mixed:
        order = generator.permutation(len(true))
        true, called = true[order], called[order]
    check_order(true, called)
    bets = sample_bets(fixed, true, called, k, 1 - level)
    estimate = table_value(fixed, items.table(k * k).reshape(k, k) / len(true))
    low, high = map(float, holding(estimate, *sample_limits(bets)))

    def ahead(limit: float) -> int | None:
        return labels_ahead(bets, 0.0, at_least=wanted, estimate=estimate, limit=limit)

    return decide(
        chosen,
        wanted,
        value=estimate,
        lower=low,
        upper=high,
        confidence=level,
        n_labels=len(true),
        ahead=ahead,
        pos_label=items.classes[1].item() if chosen.n_classes == 2 else None,
        every_look=not mixed,
    )


def _of_counts(
    metric: Metric,
    table: Confusion,
    at_least: float,
    *,
    classes: Column | None,
    pos_label: Any,
    confidence: float,
    rng: np.random.Generator,
) -> GateResult:
    """Decide by the limits of counts, which keep no order to bet along: they hold at one look."""
    wanted = check_at_least(at_least, metric.for_classes(len(table.classes)).value_range)
    found = metric.estimate(
        table.pooled(), classes=classes, pos_label=pos_label, confidence=confidence, rng=rng
    )

    def ahead(limit: float) -> int | None:
        far, gap = abs(found.value - limit), abs(found.value - wanted)
        # Limits come nearer as the root of the number of labels.
        return None if gap < _NEAR else math.ceil(found.n * ((far / gap) ** 2 - 1))

    return decide(
        metric,
        wanted,
        value=found.value,
        lower=found.lower,
        upper=found.upper,
        confidence=confidence,
        n_labels=int(found.n),
        ahead=ahead,
        pos_label=found.pos_label,
        every_look=False,
        guarantee=found.guarantee,
    )


# --- Limits compared with what is asked for.

_NEAR = 1e-4  # an estimate so near to what is asked for foretells no number of labels


def check_at_least(at_least: Any, span: tuple[float, float]) -> float:
    """Return what a metric has to reach, or refuse what it can never be."""
    wanted = check_number(at_least, "at_least")
    if not span[0] <= wanted <= span[1]:
        refuse_option(at_least, "at_least", f"a number between {span[0]:g} and {span[1]:g}")
    return wanted


def decide(
    metric: Metric,
    at_least: float,
    *,
    value: float,
    lower: float,
    upper: float,
    confidence: float,
    n_labels: int,
    pos_label: Any,
    ahead: Callable[[float], int | None],
    difference: bool = False,
    every_look: bool = True,
    guarantee: Guarantee = "finite-sample",
) -> GateResult:
    """Return the status, and about how many more labels would decide an open one.

    ``ahead`` foretells them, given the limit that has to pass ``at_least``.
    """
    status = "PASS" if lower >= at_least else "FAIL" if upper < at_least else "INCONCLUSIVE"
    more = None
    if status == "INCONCLUSIVE" and n_labels and value == value:
        more = ahead(lower if value > at_least else upper)
    return GateResult(
        status=status,
        metric=metric,
        difference=difference,
        at_least=at_least,
        estimate=Estimate.of(value, lower, upper, confidence, guarantee),
        n_labels=n_labels,
        more=more,
        pos_label=pos_label,
        every_look=every_look,
    )


# --- Limits at every look from labelled rows, in the order in which they came.

_SORTED = 1 / 30_000  # probability of so few runs in a random order


def check_order(true: IntArray, called: IntArray) -> None:
    """Refuse rows that are sorted by their label, or by whether the prediction is right.

    Under a random order the number of runs of the rarer values has a hypergeometric law (Stevens
    1939); one random order in 30,000 looks so sorted.
    """
    for what, values in (("label", true), ("whether the prediction is right", true == called)):
        rare = values != np.bincount(values.astype(int)).argmax()
        b = int(rare.sum())
        if b < 2:
            continue
        a = len(rare) - b
        runs = int(rare[0]) + int(np.sum(rare[1:] & ~rare[:-1]))
        if _chance_of_runs(runs, a, b) < _SORTED:
            raise AuditError(
                f"the rows look sorted by {what}: {b} rows that differ from the most frequent "
                f"stand in {runs} runs where {b * (a + 1) / (a + b):.0f} are expected. Limits at "
                "every look bet on the rows in the order in which they were labelled; pass them "
                "in that order, or in a random order (shuffle=True)"
            )


def _chance_of_runs(runs: int, a: int, b: int) -> float:
    """Return the probability that b values among a others stand in so few runs, or in fewer."""
    from scipy.special import gammaln

    def ways(n: FloatArray | float, k: FloatArray) -> FloatArray:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    k = np.arange(1.0, min(runs, a + 1) + 1)
    logs = ways(a + 1.0, k) + ways(b - 1.0, k - 1) - ways(float(a + b), np.array(float(b)))
    return float(np.exp(logs).sum())


def sample_bets(
    metric: Metric, true: IntArray, called: IntArray, n_classes: int, delta: float
) -> list[Bets]:
    """Return the bets on each ratio of the metric of the law that the rows come from."""
    parts = ratios_of(metric, n_classes)
    if parts is None:
        raise MetricError(
            f"{metric.title} has no limits at every look; use accuracy, a cost matrix, precision, "
            "recall, F1, balanced accuracy or a macro average of these"
        )
    found = []
    for factor, top, bottom, span in parts:
        a, b = top[true, called], bottom[true, called]
        kinds = np.unique(np.stack([top.ravel(), bottom.ravel()], axis=1), axis=0)
        steps, grid = ratio_steps(a, b, np.ones(len(a)), kinds, 1.0), value_grid(span)
        own = delta / len(parts)
        lows, highs = anytime_path(steps, grid, delta=own)
        found.append(Bets(steps, grid, factor, float(lows[-1]), float(highs[-1]), own))
    return found


def sample_limits(bets: list[Bets]) -> tuple[float, float]:
    """Return limits of the metric at every look, from those of its ratios."""
    ends = [(b.scale * b.low, b.scale * b.high) for b in bets]
    return sum(min(pair) for pair in ends), sum(max(pair) for pair in ends)


# --- About how many more labels would decide an open gate.

_MOST = 1_000_000  # more labels than that are not foretold


class Bets(NamedTuple):
    """The bets on one ratio of a metric, which is ``offset`` plus ``scale`` times each ratio.

    ``low`` and ``high`` are the ratio's limits so far.
    """

    steps: Steps
    grid: FloatArray
    scale: float
    low: float
    high: float
    delta: float
    most_lost: float = 0.75


def labels_ahead(
    parts: list[Bets], offset: float, *, at_least: float, estimate: float, limit: float
) -> int | None:
    """Return about how many labels like those so far would decide; None if no number is foretold.

    ``limit`` is the limit of the metric that has to pass ``at_least``: the lower one if the
    estimate is above it, else the upper one. Of several ratios each has to come nearer to its own
    estimate by the same share of the way.
    """
    if not parts or math.isnan(estimate) or estimate == at_least or limit == estimate:
        return None
    above = estimate > at_least
    way = (estimate - at_least) / (estimate - limit)
    worst = 0.0
    for part in parts:
        lower = above == (part.scale > 0)
        if len(parts) == 1:
            target = (at_least - offset) / part.scale
        else:
            own = float(part.steps.top.sum() / max(part.steps.bottom.sum(), 1e-12))
            target = own + way * ((part.low if lower else part.high) - own)
        # Limits lie on the grid, beyond the values that are left.
        inside = part.grid[part.grid >= target] if lower else part.grid[part.grid < target][::-1]
        if not len(inside):
            return None
        until = labels_until(
            part.steps, float(inside[0]), delta=part.delta, most=_MOST, most_lost=part.most_lost
        )
        worst = max(worst, until)
    return max(1, math.ceil(worst)) if np.isfinite(worst) else None
