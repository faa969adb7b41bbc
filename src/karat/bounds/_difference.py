"""Bounds on the difference of two classifiers without labels, from rows or from counts."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._result import keeps_kind
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, Frame
from karat._validate import check_rng, named
from karat.bounds._gold import difference_limits, read_sample
from karat.bounds.inputs import (
    NO_VOTES,
    Inputs,
    Predictions,
    build_problem,
    check_limit,
    check_method,
    check_metric,
    check_prior,
    check_robustness,
    counted_problem,
    named_prior,
    read_counted,
    read_gold,
    read_inputs,
    read_predictions,
    refuse_weighted_counts,
    refuse_with_counts,
    true_value,
)
from karat.bounds.result import DeferredCheck, DifferenceBounds, with_gold
from karat.bounds.solvers._solve import solved_difference
from karat.exceptions import DataError
from karat.limits.result import PredictionPoweredLimits
from karat.metrics.base import Metric
from karat.statistics import PatternCounts
from karat.statistics.patterns import Patterns


@keeps_kind
def difference_bounds(
    y_pred_a: Column | PatternCounts,
    y_pred_b: Column | None = None,
    weak_labels: Frame | Patterns | None = None,
    label_model: Any = None,
    *,
    metric: str | Metric,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "skew",
    classes: Column | None = None,
    pos_label: Any = None,
    class_prior: Column | None = None,
    clusters: Column | None = None,
    sample_weight: Column | None = None,
    robustness: float = 0.0,
    y_true: Column | None = None,
    null: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> DifferenceBounds:
    """Bound the difference of a metric between two classifiers, from weak labels alone.

    Both classifiers predict the same items, and items on which they agree cancel, so the bounds
    are tighter than a difference of two separate bounds.

    The bounds are sharp for metrics that are linear given the margins (linear ones for any number
    of classes; precision, recall, F, balanced accuracy and MCC for two). For other metrics they are
    the differences of the separate bounds, marked as not sharp.

    Parameters
    ----------
    y_pred_a, y_pred_b : column (n,)
        Predicted labels of the two classifiers. Counts of both together may take the place of the
        rows, as ``y_pred_a``: ``pattern_counts(y_pred_a, weak_labels, y_pred_b)``, or of a table of
        any size ``karat.scan(table).roles(pred="a", group="b", weak="lf_*").pattern_counts()``.
    weak_labels, label_model, metric, method, confidence, limit, classes, pos_label, class_prior
        As in `performance_bounds`.
    clusters, sample_weight, robustness, y_true, null, rng
        As in `performance_bounds`.

    Returns
    -------
    DifferenceBounds

    Notes
    -----
    The numbers from counts are those of the rows. Leave out ``y_pred_b``, ``weak_labels`` and
    whatever needs the rows: ``classes``, ``clusters``, ``sample_weight``, ``y_true`` and ``null``.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2000)
    >>> votes = np.where(rng.random((2000, 9)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> a, b = (np.where(rng.random(2000) < right, truth, 1 - truth) for right in (0.95, 0.6))
    >>> d = difference_bounds(a, b, votes, DawidSkene(rng=0).fit(votes), metric="accuracy", rng=0)
    >>> bool(d.lower_limit > 0)
    True

    From counts of the predictions of the first, with those of the second as groups:

    >>> from karat.statistics import pattern_counts
    >>> d = difference_bounds(pattern_counts(a, votes, b), metric="accuracy", rng=0)
    >>> bool(d.lower_limit > 0)
    True
    """
    if isinstance(y_pred_a, PatternCounts):
        refuse_with_counts(
            y_pred_b=y_pred_b,
            weak_labels=weak_labels,
            classes=classes,
            clusters=clusters,
            sample_weight=sample_weight,
            y_true=y_true,
            null=null,
        )
        return _of_counts(
            y_pred_a,
            label_model,
            metric=metric,
            method=method,
            confidence=confidence,
            limit=limit,
            pos_label=pos_label,
            class_prior=class_prior,
            robustness=robustness,
            rng=rng,
        )
    if y_pred_b is None:
        raise DataError(
            Argument("y_pred_b"),
            " is missing",
            Remedy("pass the predictions of the second classifier"),
        )
    if weak_labels is None:
        raise DataError(NO_VOTES)
    chosen = check_metric(metric)
    class_prior = named_prior(class_prior, classes)
    inputs = read_inputs(
        {"y_pred_a": y_pred_a, "y_pred_b": y_pred_b},
        weak_labels,
        label_model,
        classes=classes,
        pos_label=pos_label,
        metric=chosen,
        sample_weight=sample_weight,
        clusters=clusters,
        null=null,
        class_prior=class_prior,
        y_true=y_true,
    )
    k = len(inputs.classes)
    both = [
        read_predictions(y_pred_a, inputs, "y_pred_a"),
        read_predictions(y_pred_b, inputs, "y_pred_b"),
    ]
    if any(one.codes is None for one in both):
        raise DataError(
            "difference_bounds compares predicted labels; pass labels, not probabilities"
        )
    rule = check_limit(
        limit, confidence, weighted=not (inputs.weight is None and inputs.cluster is None)
    )
    way, slack = check_method(method), check_robustness(robustness)
    prior = check_prior(class_prior, inputs)
    gold = read_gold(y_true, inputs.classes, inputs.n)
    generator = check_rng(rng)
    a, b = (np.asarray(one.codes) for one in both)
    joint = build_problem(
        inputs,
        Predictions(a * k + b),
        n_outcomes=k * k,
        method=way,
        rng=generator,
        slack=slack,
        prior=prior,
    )
    sample = (
        None if gold is None else read_sample(inputs, label_model, gold, class_prior, generator)
    )
    span = chosen.for_classes(k).value_range
    labelled = (
        None
        if sample is None
        else difference_limits(
            chosen,
            inputs,
            (both[0], both[1]),
            sample,
            confidence=rule.confidence,
            rng=generator,
        )
    )
    truths = [true_value(chosen, inputs, one, gold) for one in both]
    reach = 0.0 if (a == b).all() else span[1] - span[0]  # nothing apart, whatever the truth is
    labelled = _exactly_zero(labelled) if labelled is not None and reach == 0 else labelled
    solved = solved_difference(joint, chosen.for_classes(k), rule, reach)
    return DifferenceBounds(
        metric=chosen,
        pos_label=inputs.positive_of(chosen),
        **with_gold(solved.lower, solved.upper, solved.limits, rule.confidence, labelled),
        label_model_estimate=solved.estimate,
        silent=_silent(inputs, a != b),
        method=way,
        n=inputs.n,
        agree=float(np.average(a == b, weights=inputs.weight)),
        sharp=solved.sharp,
        truth=None if None in truths else float(truths[0] - truths[1]),  # type: ignore[operator]
        deferred_check=DeferredCheck.of(inputs, label_model, prior, sample),
    )


def _exactly_zero(found: PredictionPoweredLimits) -> PredictionPoweredLimits:
    """Return the limits of two classifiers that predict the same for every item."""
    zero = replace(found.estimate, value=0.0, lower=0.0, upper=0.0)
    alone = replace(found.labels.estimate, value=0.0, lower=0.0, upper=0.0)
    labels = replace(found.labels, estimate=alone)
    return replace(found, estimate=zero, labels=labels, certain=None)


def _silent(inputs: Inputs, apart: BoolArray) -> float:
    """Return the share of the items on which the two disagree where nobody votes."""
    nobody = np.asarray((inputs.votes.patterns < 0).all(axis=1))[inputs.votes.ids]
    return float(nobody[apart].mean()) if apart.any() else 0.0


# --- How much better one classifier can and must be than another, from counts alone.


def _of_counts(
    counts: PatternCounts,
    label_model: Any,
    *,
    metric: str | Metric,
    method: str,
    confidence: float,
    limit: str,
    rng: int | np.random.Generator | None,
    **options: Any,
) -> DifferenceBounds:
    """Bound the difference of the two classifiers whose predictions were counted together."""
    pos_label, class_prior = options["pos_label"], options["class_prior"]
    if counts.groups is None:
        raise DataError(
            "y_pred_a is counts without groups; expected karat.statistics.pattern_counts of one "
            "classifier with the predictions of the other as groups"
        )
    refuse_weighted_counts(counts)
    chosen = check_metric(metric)
    alone = replace(
        counts,
        counts=counts.counts.sum(axis=0),
        groups=None,
        by_fold=None if counts.by_fold is None else counts.by_fold.sum(axis=1),
    )
    inputs, _ = read_counted(
        alone,
        label_model,
        metric=chosen,
        pos_label=pos_label,
        class_prior=class_prior,
        compares=False,
    )
    rule = check_limit(limit, confidence, weighted=False)
    way, slack = check_method(method), check_robustness(options["robustness"])
    prior, generator = check_prior(class_prior, inputs), check_rng(rng)
    k = len(inputs.classes)
    cells = _both(counts, inputs)
    joint = counted_problem(
        inputs,
        cells.reshape(*cells.shape[:2], k * k),
        method=way,
        rng=generator,
        slack=slack,
        prior=prior,
    )
    pairs = cells.sum(axis=(0, 1))
    apart = pairs.sum() - np.trace(pairs)
    span = chosen.for_classes(k).value_range
    solved = solved_difference(
        joint, chosen.for_classes(k), rule, span[1] - span[0] if apart else 0.0
    )
    nobody = (counts.patterns < 0).all(axis=1)
    unheard = cells[:, nobody].sum(axis=(0, 1))
    return DifferenceBounds(
        metric=chosen,
        pos_label=inputs.positive_of(chosen),
        **with_gold(solved.lower, solved.upper, solved.limits, rule.confidence, None),
        label_model_estimate=solved.estimate,
        silent=float((unheard.sum() - np.trace(unheard)) / apart) if apart else 0.0,
        method=way,
        n=int(pairs.sum()),
        agree=float(np.trace(pairs) / pairs.sum()),
        sharp=solved.sharp,
        truth=None,
        deferred_check=DeferredCheck.of(inputs, label_model, prior),
    )


def _both(counts: PatternCounts, inputs: Inputs) -> AnyArray:
    """Return counts of (fold, pattern, first, second), the positive class last."""
    assert counts.groups is not None
    classes = counts.classes.tolist()
    strange = [name for name in counts.groups.tolist() if name not in classes]
    if strange:
        raise DataError(
            f"the groups hold {named(strange[:1])}, which is not among the classes "
            f"{named(classes)}; expected ",
            Expected(
                "the predictions of the second classifier as groups, counted with ",
                Option("classes"),
                " of both",
            ),
        )
    cells = counts.counts[None] if counts.by_fold is None else counts.by_fold
    second = [classes.index(name) for name in counts.groups.tolist()]
    whole = np.zeros((len(cells), *cells.shape[2:], len(classes)), dtype=cells.dtype)
    whole[..., second] = np.moveaxis(cells, 1, -1)
    keep = inputs.keep
    return np.asarray(whole[:, inputs.place][..., keep, :][..., keep])
