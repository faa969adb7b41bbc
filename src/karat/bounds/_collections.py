"""Many bounds at once: along a threshold, by model, by robustness, without each labeler."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from karat._result import keeps_kind
from karat._sentences import Argument, Expected, Remedy
from karat._typing import Column, FloatArray, Frame, IntArray
from karat._validate import check_choice, check_number, check_rng, check_same_length, check_scores
from karat.bounds._difference import difference_bounds
from karat.bounds._gold import read_sample
from karat.bounds._performance import performance_bounds
from karat.bounds._problem import Limit, Problem
from karat.bounds.inputs import (
    Inputs,
    build_problem,
    check_limit,
    check_method,
    check_metric,
    check_prior,
    check_robustness,
    named_prior,
    read_gold,
    read_inputs,
    read_predictions,
)
from karat.bounds.result import (
    BoundsCurve,
    DeferredCheck,
    ModelRanking,
    PerformanceBounds,
    RobustnessCurve,
    WeakLabelValue,
    bounds_and_limits,
)
from karat.bounds.solvers._binary import threshold_bounds
from karat.bounds.solvers._solve import solve, solved_performance
from karat.exceptions import DataError, LabelError, UndefinedMetricWarning
from karat.metrics.base import Metric
from karat.statistics import roc_counts
from karat.statistics.patterns import Patterns, distinct_votes


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
        True labels, missing where unknown: some test the label model, all of them give ``value``.
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
    class_prior = named_prior(class_prior, classes)
    inputs = read_inputs(
        {},
        weak_labels,
        label_model,
        classes=classes,
        pos_label=pos_label,
        metric=chosen,
        null=null,
        class_prior=class_prior,
        y_true=y_true,
    )
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
    sample = (
        None if gold is None else read_sample(inputs, label_model, gold, class_prior, generator)
    )
    known = None if gold is None or not gold[1].all() else _truth(fixed, gold[0], score, cuts)
    return BoundsCurve(
        thresholds=cuts,
        **bounds_and_limits(*found, rule.confidence, value=known),
        metric=chosen,
        method=way,
        n=inputs.n,
        deferred_check=DeferredCheck.of(inputs, label_model, prior, sample),
    )


def _cuts(score: FloatArray, thresholds: Column | None) -> FloatArray:
    if thresholds is None:
        return np.unique(np.quantile(score, np.linspace(0.01, 0.99, 99)))
    cuts = np.unique(check_scores(thresholds, "thresholds"))
    if not len(cuts):
        raise DataError(
            Argument("thresholds"),
            " is empty",
            Remedy("pass at least one"),
        )
    return cuts


def _truth(metric: Metric, y: IntArray, score: FloatArray, cuts: FloatArray) -> FloatArray:
    counts = roc_counts(y, score, classes=[0, 1])
    at = np.searchsorted(counts.scores, cuts, side="left")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return np.asarray(metric(counts.confusions()[at]))


# --- Which of several classifiers is best, with no labels.

_DRAWS = "label_model_draws"
_NOT_FOR_PAIRS = ("groups", _DRAWS)
_SCORES: dict[str, Callable[[PerformanceBounds], float]] = {
    "lower": lambda b: b.lower,
    "upper": lambda b: b.upper,
    "average": lambda b: (b.lower + b.upper) / 2,
    "label_model": lambda b: b.label_model_estimate,
}


@keeps_kind
def rank_models(
    predictions: Mapping[str, Column],
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    metric: str | Metric,
    by: str = "average",
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
    **options: Any,
) -> ModelRanking:
    """Rank classifiers by their bounds (Maia Polo et al. 2023, section A.4).

    Parameters
    ----------
    predictions : mapping of name to column (n,)
        Predicted labels of each classifier.
    weak_labels, label_model, metric, confidence, rng
        As in `performance_bounds`.
    by : {"average", "lower", "upper", "label_model"}
        ``lower`` is the best worst case, ``upper`` the best best case, ``average`` their middle,
        ``label_model`` the value if prediction and truth were independent given the weak labels.
    **options
        Passed on to `performance_bounds`, such as ``method``, ``classes``, ``null`` or
        ``robustness``.

    Returns
    -------
    ModelRanking
        Best first; ``certain`` if the first is better than each other one at the confidence
        limits of the paired differences, shared out over the comparisons, and the check of the
        label model does not contradict it. With draws of the label model, which the differences
        do not use, it is False.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 1000)
    >>> votes = np.where(rng.random((1000, 7)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> models = {name: np.where(rng.random(1000) < right, truth, 1 - truth)
    ...           for name, right in (("good", 0.95), ("poor", 0.6))}
    >>> rank_models(models, votes, DawidSkene(rng=0).fit(votes), metric="accuracy", rng=0).names
    ('good', 'poor')
    """
    check_choice(by, "by", tuple(_SCORES))
    if not isinstance(predictions, Mapping) or len(predictions) < 2:
        raise DataError(
            Argument("predictions"),
            " holds fewer than two classifiers",
            Remedy("pass {name: y_pred, ...}"),
        )
    generator = check_rng(rng)
    shared: dict[str, Any] = {"metric": metric, "rng": generator, **options}
    bounds: dict[str, PerformanceBounds] = {
        name: performance_bounds(y, weak_labels, label_model, confidence=confidence, **shared)
        for name, y in predictions.items()
    }
    names = sorted(bounds, key=lambda name: -_SCORES[by](bounds[name]))
    paired = {k: v for k, v in shared.items() if k not in _NOT_FOR_PAIRS}
    paired["confidence"] = 1 - (1 - confidence) / (len(names) - 1)
    first = predictions[names[0]]
    leads = [
        difference_bounds(first, predictions[other], weak_labels, label_model, **paired).lower_limit
        for other in names[1:]
    ]
    return ModelRanking(
        names=tuple(names),
        bounds=tuple(bounds[name] for name in names),
        by=by,
        certain=min(leads) > 0 and _trusted(bounds[names[0]]) and _DRAWS not in options,
    )


def _trusted(b: PerformanceBounds) -> bool:
    return b.gold is not None or b.check is None or not b.check.contradicted


# --- How wrong the label model may be before a claim falls.


@keeps_kind
def robustness_curve(
    y_pred: Column | Frame,
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    metric: str | Metric,
    deltas: Column | None = None,
    claim: float | None = None,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "skew",
    classes: Column | None = None,
    pos_label: Any = None,
    null: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> RobustnessCurve:
    """Bound the metric for every label model within δ of the given one, over several δ.

    Parameters
    ----------
    y_pred, weak_labels, label_model, metric, method, confidence, limit, classes, pos_label
        As in `performance_bounds`.
    null, rng
        As in `performance_bounds`.
    deltas : column (d,), optional
        Total variations by which P(Y | z) may be off in every pattern; by default 0 to 0.3.
    claim : float, optional
        A value that the metric is claimed to have at least; ``breaks_at`` is the δ at which the
        lower limit falls below it.

    Returns
    -------
    RobustnessCurve

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 1000)
    >>> votes = np.where(rng.random((1000, 7)) < 0.9, truth[:, None], 1 - truth[:, None])
    >>> curve = robustness_curve(truth, votes, DawidSkene(rng=0).fit(votes), metric="accuracy",
    ...                          claim=0.8, rng=0)
    >>> curve.breaks_at > 0.05
    True
    """
    chosen = check_metric(metric)
    inputs = read_inputs(
        {"y_pred": y_pred},
        weak_labels,
        label_model,
        classes=classes,
        pos_label=pos_label,
        metric=chosen,
        null=null,
    )
    predicted = read_predictions(y_pred, inputs)
    rule = check_limit(limit, confidence, weighted=predicted.proba is not None)
    grid = np.linspace(0, 0.3, 13) if deltas is None else np.sort(check_scores(deltas, "deltas"))
    for delta in (grid[0], grid[-1]):
        check_robustness(float(delta), "deltas")
    wanted = None if claim is None else check_number(claim, "claim")
    way = check_method(method)
    problem = build_problem(
        inputs,
        predicted,
        n_outcomes=len(inputs.classes),
        method=way,
        rng=check_rng(rng),
    )
    pairs = [solve(replace(problem, slack=float(delta)), chosen, rule) for delta in grid]
    return RobustnessCurve(
        deltas=grid,
        **bounds_and_limits(
            np.array([pair.lower.value for pair in pairs]),
            np.array([pair.upper.value for pair in pairs]),
            (
                np.array([pair.lower.limit for pair in pairs]),
                np.array([pair.upper.limit for pair in pairs]),
            ),
            rule.confidence,
        ),
        metric=chosen,
        method=way,
        n=inputs.n,
        claim=wanted,
        deferred_check=DeferredCheck.of(inputs, label_model),
        breaks_at=None
        if wanted is None
        else _break(problem, chosen, rule, wanted, float(grid[-1])),
    )


def _break(
    problem: Problem, metric: Metric, limit: Limit, claim: float, most: float
) -> float | None:
    """Return the least δ whose lower limit is below the claim, by bisection."""

    def falls(delta: float) -> bool:
        return solve(replace(problem, slack=delta), metric, limit).lower.limit < claim

    if not falls(most):
        return None
    low, high = 0.0, most
    if falls(low):
        return 0.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if falls(middle) else (middle, high)
    return high


# --- What each weak labeler adds to the bounds.


@keeps_kind
def weak_label_value(
    y_pred: Column | Frame,
    weak_labels: Frame | Patterns,
    label_model: Any = None,
    *,
    metric: str | Metric,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "skew",
    classes: Column | None = None,
    pos_label: Any = None,
    robustness: float = 0.0,
    null: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> WeakLabelValue:
    """Bound the metric with all labelers and without each of them.

    Section 4.2 of Maia Polo et al. (2023). Without labeler j, ``P(Y | z₋ⱼ) = E[P(Y | Z) | z₋ⱼ]``:
    the label model is averaged, not fitted again, so it is the same law of (Y, Z), seen through
    fewer votes.

    Parameters
    ----------
    y_pred, weak_labels, label_model, metric, method, confidence, limit, classes, pos_label
        As in `performance_bounds`.
    robustness, null, rng
        As in `performance_bounds`.

    Returns
    -------
    WeakLabelValue
        The labelers, the one that tightens the bounds most first.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import OracleLabelModel
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 4000)
    >>> right = rng.random((4000, 3)) < [0.95, 0.7, 0.5]
    >>> votes = np.where(right, truth[:, None], 1 - truth[:, None])
    >>> model = OracleLabelModel().fit(votes, truth)
    >>> weak_label_value(truth, votes, model, metric="accuracy", rng=0).names[0]
    '0'
    """
    chosen = check_metric(metric)
    inputs = read_inputs(
        {"y_pred": y_pred},
        weak_labels,
        label_model,
        classes=classes,
        pos_label=pos_label,
        metric=chosen,
        null=null,
    )
    if inputs.votes.patterns.shape[1] < 2:
        raise DataError(
            Argument("weak_labels"),
            " has one labeler; expected ",
            Expected("two or more to compare"),
        )
    predicted = read_predictions(y_pred, inputs)
    rule = check_limit(limit, confidence, weighted=predicted.proba is not None)
    way, slack = check_method(method), check_robustness(robustness)
    generator = check_rng(rng)

    def bound(some: Inputs) -> PerformanceBounds:
        problem = build_problem(
            some, predicted, n_outcomes=len(some.classes), method=way, rng=generator, slack=slack
        )
        check = DeferredCheck.of(inputs, label_model) if some is inputs else None
        return solved_performance(problem, chosen, rule, method=way, n=inputs.n, check=check)

    full = bound(inputs)
    without = [bound(_without(inputs, j)) for j in range(len(inputs.votes.names))]
    narrowing = np.array([b.width - full.width for b in without])
    order = np.argsort(-narrowing, kind="stable")
    return WeakLabelValue(
        names=tuple(inputs.votes.names[j] for j in order),
        narrowing=narrowing[order],
        full=full,
        without=tuple(without[j] for j in order),
    )


def _without(inputs: Inputs, labeler: int) -> Inputs:
    """Return the same items without the votes of one labeler."""
    votes = inputs.votes
    kept = np.delete(votes.patterns, labeler, axis=1)
    new, first = distinct_votes(kept, len(inputs.classes))
    share = np.bincount(new, weights=votes.counts, minlength=len(first))
    p = np.zeros((len(first), inputs.p.shape[1]))
    np.add.at(p, new, inputs.p * votes.counts[:, None])
    p /= np.maximum(share, 1e-300)[:, None]
    names = votes.names[:labeler] + votes.names[labeler + 1 :]
    fewer = replace(votes, patterns=kept[first], counts=share, ids=new[votes.ids], names=names)
    return replace(inputs, votes=fewer, p=p)
