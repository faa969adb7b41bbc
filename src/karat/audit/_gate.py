"""Pass, fail or inconclusive: a metric against what it has to reach."""

from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column
from karat._validate import (
    check_confidence,
    check_flag,
    check_rng,
    refuse_lazy,
)
from karat.audit.decision_result import GateResult
from karat.audit.gating import (
    check_at_least,
    check_order,
    decide,
    labels_ahead,
    sample_bets,
    sample_limits,
)
from karat.exceptions import MetricError
from karat.limits.kernels import holding
from karat.metrics import Metric, MetricBase, as_metric
from karat.metrics.estimates import count_items, metric_range, table_values

__all__ = ["gate"]


@keeps_kind
def gate(
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
) -> GateResult:
    """Decide whether a metric is at least so great, by limits that hold at every look.

    A pipeline looks again and again, and stops when it likes what it sees: ordinary limits would
    then hold far less often than they say. These bet on each row, in the order in which rows were
    labelled, and hold after every one of them together.

    Parameters
    ----------
    y_true : column (n,)
        True labels of a random sample, in the order in which they came; new ones at the end.
    y_pred : column (n,)
        Predictions of the same items.
    at_least : float
        What the metric has to reach.
    metric : Metric or str
        A linear metric, a ratio, or an average of ratios.
    classes : column (k,), optional
        The classes; by default those found, sorted.
    pos_label : label, optional
        The positive class; by default the larger label.
    shuffle : bool, default False
        Whether to put the rows in a random order first, for a sample that is sorted. The limits
        then hold at one look.
    confidence : float, default 0.95
        Probability that the verdict is right.
    rng : int or generator, optional
        Source of randomness of ``shuffle``.

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
    """
    refuse_lazy(y_true=y_true, y_pred=y_pred)
    chosen = as_metric(metric)
    if not isinstance(chosen, Metric):
        raise MetricError(f"{chosen.title} compares groups; a gate is for one population")
    level, generator = check_confidence(confidence), check_rng(rng)
    mixed = check_flag(shuffle, "shuffle")
    items = count_items(
        chosen, y_true, y_pred, groups=None, clusters=None, sample_weight=None, classes=classes,
        pos_label=pos_label,
    )  # fmt: skip
    k = items.size
    fixed = chosen.for_classes(k)
    wanted = check_at_least(at_least, metric_range(fixed))
    true, called = items.cell // k, items.cell % k
    if mixed:
        order = generator.permutation(len(true))
        true, called = true[order], called[order]
    check_order(true, called)
    bets = sample_bets(fixed, true, called, k, 1 - level)
    table = items.table(k * k).reshape(1, k, k)
    estimate = float(table_values(fixed, table / len(true))[0])
    low, high = map(float, holding(estimate, *sample_limits(bets)))

    def ahead(limit: float) -> int | None:
        return labels_ahead(bets, 0.0, at_least=wanted, estimate=estimate, limit=limit)

    return decide(
        chosen, wanted, estimate=estimate, lower=low, upper=high, confidence=level,
        n_labels=len(true), ahead=ahead,
        pos_label=items.classes[1].item() if chosen.n_classes == 2 else None,
    )  # fmt: skip
