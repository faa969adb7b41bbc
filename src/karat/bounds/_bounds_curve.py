"""Bounds at every threshold of a score, in one pass."""

import warnings
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, FloatArray, Frame, IntArray
from karat._validate import check_rng, check_same_length, check_scores
from karat.bounds.checks import DeferredCheck
from karat.bounds.collection_result import BoundsCurve
from karat.bounds.gold import read_sample
from karat.bounds.inputs import (
    check_limit,
    check_method,
    check_metric,
    check_prior,
    read_gold,
    read_inputs,
)
from karat.bounds.solvers import threshold_bounds
from karat.exceptions import DataError, LabelError, UndefinedMetricWarning
from karat.metrics import Metric
from karat.statistics import Patterns, roc_counts

__all__ = ["bounds_curve"]


@keeps_kind
def bounds_curve(
    y_score: Column,
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    metric: str | Metric,
    thresholds: Column | None = None,
    method: str = "crossfit",
    confidence: float = 0.95,
    classes: Column | None = None,
    pos_label: Any = None,
    class_prior: Column | None = None,
    y_true: Column | None = None,
    null: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> BoundsCurve:
    """Bound a binary metric at every threshold (Maia Polo et al. 2023, Figure 1).

    Parameters
    ----------
    y_score : column (n,)
        Scores; an item is predicted positive when its score is at least the threshold.
    weak_labels, label_model, metric, method, confidence, classes, pos_label, class_prior
        As in `performance_bounds`; there must be two classes.
    y_true : column (n,), optional
        True labels, missing where unknown: some test the label model, all of them give ``truth``.
        The limits are those of the bounds, by the delta method, with and without true labels.
    null, rng
        As in `performance_bounds`.
    thresholds : column (t,), optional
        By default the percentiles of the scores.

    Returns
    -------
    BoundsCurve

    Notes
    -----
    In a pass from the highest threshold to the lowest, each item enters the counts once. The
    distribution of the prediction given the votes comes from one regression of the scores' normal
    ranks on the votes, evaluated at every threshold, to which each pattern's own counts in the
    other fold are added.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2000)
    >>> votes = np.where(rng.random((2000, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> score = truth + rng.normal(size=2000)
    >>> curve = bounds_curve(score, votes, DawidSkene(rng=0).fit(votes), metric="f1", rng=0)
    >>> bool((curve.lower <= curve.upper).all())
    True
    """
    chosen = check_metric(metric)
    inputs = read_inputs(
        {}, weak_labels, label_model, classes=classes, pos_label=pos_label, null=null,
        class_prior=class_prior, y_true=y_true,
    )  # fmt: skip
    if len(inputs.classes) != 2:
        raise LabelError(
            f"bounds_curve is for two classes and there are {len(inputs.classes)}; bound the "
            "predictions at one threshold with performance_bounds"
        )
    fixed = chosen.for_classes(2)
    score = check_scores(y_score)
    check_same_length(weak_labels=inputs.votes.ids, y_score=score)
    cuts = _cuts(score, thresholds)
    rule = check_limit("normal", confidence, weighted=False)
    way = check_method(method)
    prior = check_prior(class_prior, inputs)
    gold = read_gold(y_true, inputs.classes, inputs.n)
    generator = check_rng(rng)
    found = threshold_bounds(
        fixed, inputs, score, cuts, method=way, limit=rule, prior=prior, rng=generator
    )
    sample = read_sample(inputs, label_model, gold, class_prior, generator)
    return BoundsCurve(
        thresholds=cuts,
        **found,
        metric=chosen,
        method=way,
        n=inputs.n,
        confidence=rule.confidence,
        truth=None if gold is None or not gold[1].all() else _truth(fixed, gold[0], score, cuts),
        deferred_check=DeferredCheck.of(inputs, label_model, prior, sample),
    )


def _cuts(score: FloatArray, thresholds: Column | None) -> FloatArray:
    if thresholds is None:
        return np.unique(np.quantile(score, np.linspace(0.01, 0.99, 99)))
    cuts = np.unique(check_scores(thresholds, "thresholds"))
    if not len(cuts):
        raise DataError("thresholds is empty; pass at least one")
    return cuts


def _truth(metric: Metric, y: IntArray, score: FloatArray, cuts: FloatArray) -> FloatArray:
    counts = roc_counts(y, score, classes=[0, 1])
    at = np.searchsorted(counts.scores, cuts, side="left")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return np.asarray(metric(counts.confusions()[at]))
