"""Bounds on any metric of a classifier without labels, from rows or from counts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat._result import keeps_kind
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import check_rng, check_same_length, encode_groups
from karat.bounds._gold import metric_limits, read_sample
from karat.bounds.inputs import (
    NO_VOTES,
    build_problem,
    check_groups,
    check_limit,
    check_method,
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
    warn_if_sparse,
)
from karat.bounds.result import CheckByGroup, DeferredCheck, PerformanceBounds, undefined_bounds
from karat.bounds.solvers._solve import solved_performance
from karat.exceptions import DataError, UndefinedHereError
from karat.metrics import GroupMetric, as_metric
from karat.metrics.base import MetricBase
from karat.statistics import PatternCounts
from karat.statistics.patterns import Patterns


@keeps_kind
def performance_bounds(
    y_pred: Column | Frame | PatternCounts,
    weak_labels: Frame | Patterns | None = None,
    label_model: Any = None,
    *,
    metric: str | MetricBase,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "skew",
    classes: Column | None = None,
    pos_label: Any = None,
    class_prior: Column | None = None,
    groups: Column | None = None,
    clusters: Column | None = None,
    sample_weight: Column | None = None,
    label_model_draws: Sequence[Any] | FloatArray | None = None,
    robustness: float = 0.0,
    y_true: Column | None = None,
    null: str | None = None,
    rng: int | np.random.Generator | None = None,
) -> PerformanceBounds:
    """Bound a classifier's performance from weak labels alone.

    Over every joint law of prediction Ŷ, truth Y and weak labels Z that has the observed (Ŷ, Z)
    and the label model's P(Y | Z), the metric lies between ``lower`` and ``upper`` (Maia Polo et
    al. 2023, eq. 1.1). Given z this is a transport problem between P(Ŷ | z) and P(Y | z), solved
    exactly.

    Parameters
    ----------
    y_pred : column (n,), matrix (n, k) or PatternCounts
        Predicted labels, or class probabilities of a randomised classifier; or counts of
        predictions by pattern of weak labels, from `karat.statistics.pattern_counts`, a
        `karat.sources.Source`, or a sum of several.
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 where a labeler abstained, null where it was
        not asked. P(Y | Z) may differ between the two. For votes in a long table, pass
        `karat.votes.read_patterns` of it, and predictions in the sorted order of its items.
    label_model : label model or array (n, k), optional
        Anything with ``predict_proba(weak_labels)`` and ``classes_``, or P(Y | Z) itself, columns
        in the order of ``classes``; by default a `karat.weak.DetectorLabelModel` fitted to these
        votes, with ``class_prior`` if it is passed. The columns of a frame are matched by name
        with those that the model was fitted with. For a metric that compares groups the array may
        be P(Y | Z, group), which differs between groups for the same votes.
    metric : str or Metric
        A metric of `karat.metrics`, or its name: ``accuracy``, ``precision``, ``recall``, ``f1``,
        ``balanced_accuracy``, ``macro_f1`` and so on. One that compares groups, such as
        `karat.metrics.FairMetric`, needs ``groups``.
    method : {"crossfit", "plugin"}
        ``crossfit`` learns from other folds which bound to use in each pattern and evaluates it
        on held-out items: valid whatever was learned. ``plugin`` is the method of Maia
        Polo et al. (2023), which is too narrow where patterns are sparse.
    confidence : float
        Of each one-sided limit of the bounds, and of both limits together with true labels.
    limit : {"skew", "normal", "bernstein"}
        How far the limits of the bounds are from the bounds. ``skew`` draws the items anew, with
        half an item of the worst kind added, and holds where few items or rare positives make the
        values skewed; ``normal`` is the delta method; ``bernstein`` holds for every n, for linear
        and linear-fractional metrics. Metrics that compare groups have ``normal`` limits in place
        of ``skew``.
    classes, pos_label
        The order in which class probabilities and priors are passed (default sorted), and the
        positive class of a metric for two classes. By default that is the last class that the
        metric names, the last of ``classes``, or the one that the labels tell: 1 of 0 and 1, True,
        or a word such as "yes", "spam" or "fraud". Where nothing tells it, a metric that needs it
        is refused. The rows and columns of a 2×2 metric are the negative and the positive class.
    class_prior : column (k,) or mapping, optional
        P(Y), where it is known better than the mean of the label model; all of it above 0.
    groups : column (n,), optional
        One result per group, in ``.groups``. A group's bounds hold if P(Y | Z) is right within
        the group too; true labels passed as ``y_true`` test it there. ``class_prior`` is that of
        all items, and is not used within groups. For a metric that compares groups, these groups
        in sorted order; the result is then one for all of them.
    clusters : column (n,), optional
        Items of one cluster (a patient, a user) are dependent: folds and errors are by cluster.
    sample_weight : column (n,), optional
        Weights of at least 0.
    label_model_draws : sequence, optional
        Draws of the label model (each like ``label_model``), whose spread enters the limits.
    robustness : float
        Total variation by which P(Y | z) may be off in every pattern; the bounds then hold for
        the worst case.
    y_true : column (n,), optional
        True labels of some items drawn at random, missing where unknown. They test the label
        model, and the recommended limits rest on them, with the label model as a control: with
        P(Y | Z) of models that have each not seen one fold of the labels. The default label model
        and one that was fitted with true labels are fitted again for it; an array, a model fitted
        without labels and one that cannot be fitted again are taken not to have seen them. Labels
        of all items also give ``truth``.
    null : {"not asked", "abstain"}, optional
        What a null in ``weak_labels`` is; by default what it was when the label model was fitted,
        and not asked where that is not known. -1 is always an abstention.
    rng : int or Generator, optional
        For the folds.

    Returns
    -------
    PerformanceBounds

    Notes
    -----
    The numbers from counts are those of the rows. Leave out ``weak_labels`` and whatever needs the
    rows: ``classes``, ``groups``, ``clusters``, ``sample_weight``, ``y_true`` and ``null``. An
    array as ``label_model`` has then one row for each of ``counts.patterns``; counts by group serve
    as ``groups``, and folds by which the items were counted are used for cross-fitting.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.weak import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2000)
    >>> votes = np.where(rng.random((2000, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> predicted = np.where(rng.random(2000) < 0.9, truth, 1 - truth)
    >>> model = DawidSkene(rng=0).fit(votes)
    >>> b = performance_bounds(predicted, votes, model, metric="accuracy", rng=0)
    >>> bool(b.lower_limit < 0.9 < b.upper_limit)
    True

    From counts, which can be added:

    >>> from karat.statistics import pattern_counts
    >>> counts = pattern_counts(predicted, votes)
    >>> performance_bounds(counts, label_model=model, metric="accuracy", rng=0).n
    2000
    """
    if isinstance(y_pred, PatternCounts):
        refuse_with_counts(
            weak_labels=weak_labels,
            classes=classes,
            groups=groups,
            clusters=clusters,
            sample_weight=sample_weight,
            y_true=y_true,
            null=null,
        )
        return _of_counts(
            y_pred,
            label_model,
            metric=metric,
            method=method,
            confidence=confidence,
            limit=limit,
            pos_label=pos_label,
            class_prior=class_prior,
            label_model_draws=label_model_draws,
            robustness=robustness,
            rng=rng,
        )
    if weak_labels is None:
        raise DataError(NO_VOTES)
    chosen = as_metric(metric)
    group_codes, group_names = encode_groups(groups)
    compares = isinstance(chosen, GroupMetric)
    if isinstance(chosen, GroupMetric):
        place = check_groups(chosen, group_names)
        if group_codes is not None and group_names is not None:
            group_codes, group_names = np.argsort(place)[group_codes], group_names[place]
    class_prior = named_prior(class_prior, classes)
    inputs = read_inputs(
        {"y_pred": y_pred},
        weak_labels,
        label_model,
        classes=classes,
        pos_label=pos_label,
        metric=chosen,
        sample_weight=sample_weight,
        clusters=clusters,
        split_by=group_codes if compares else None,
        null=null,
        class_prior=class_prior,
        y_true=y_true,
    )
    chosen.for_classes(len(inputs.classes))
    predicted = read_predictions(y_pred, inputs)
    weighted = not (inputs.weight is None and inputs.cluster is None and predicted.proba is None)
    rule = check_limit(limit, confidence, weighted=weighted)
    way, slack, prior = (
        check_method(method),
        check_robustness(robustness),
        check_prior(class_prior, inputs),
    )
    draws = [inputs.proba_of(draw) for draw in _each(label_model_draws)]
    gold = read_gold(y_true, inputs.classes, inputs.n)
    check_same_length(weak_labels=inputs.votes.ids, groups=group_codes)
    generator = check_rng(rng)
    sample = (
        None if gold is None else read_sample(inputs, label_model, gold, class_prior, generator)
    )

    def bound(rows: BoolArray | None, group: Any = None) -> PerformanceBounds:
        problem = build_problem(
            inputs,
            predicted,
            n_outcomes=len(inputs.classes),
            method=way,
            rng=generator,
            rows=rows,
            slack=slack,
            prior=prior if rows is None else None,
        )
        labelled = (
            None
            if sample is None
            else metric_limits(
                chosen,
                inputs,
                predicted,
                sample,
                problem.pooled,
                confidence=rule.confidence,
                rng=generator,
                rows=rows,
                groups=group_codes if compares else None,
            )
        )
        known = None if sample is None or not len(sample.of(rows)) else sample.of(rows)
        return solved_performance(
            problem,
            chosen,
            rule,
            method=way,
            draws=draws,
            group=group,
            gold=labelled,
            n=inputs.n if rows is None else int(rows.sum()),
            check=DeferredCheck.of(inputs, label_model, prior, known)
            if group_names is None or not compares
            else CheckByGroup(inputs, label_model, sample, group_names),
            truth=true_value(
                chosen, inputs, predicted, gold, rows, group_codes if compares else None
            ),
        )

    whole = replace(bound(None), pos_label=inputs.positive_of(chosen))
    if way == "plugin":
        warn_if_sparse(inputs.votes.counts, "method='plugin'")
    if compares or group_codes is None or group_names is None:
        return whole
    return replace(whole, groups=_by_group(bound, whole, group_codes, group_names))


def _by_group(
    bound: Callable[[BoolArray, Any], PerformanceBounds],
    whole: PerformanceBounds,
    codes: IntArray,
    names: AnyArray,
) -> dict[Any, PerformanceBounds]:
    """Return the bounds of each group by its name, without numbers where the metric has none."""
    found = {}
    for code, name in enumerate(names.tolist()):
        rows = codes == code
        try:
            found[name] = bound(rows, name)
        except UndefinedHereError as error:
            found[name] = undefined_bounds(whole, name, int(rows.sum()), error.sentence)
    return found


def _each(draws: Any) -> list[Any]:
    if draws is None:
        return []
    if hasattr(draws, "predict_proba"):
        raise DataError("label_model_draws is one label model; pass a list of several draws of it")
    shape = np.shape(draws) if hasattr(draws, "shape") or _is_matrix_of_numbers(draws) else ()
    if len(shape) == 2:
        raise DataError(
            f"label_model_draws is one array of shape {shape}, that is a single draw of P(Y | Z); "
            "pass several draws, a list of such arrays or an array (draws, n, k)"
        )
    return list(draws)


def _is_matrix_of_numbers(draws: Any) -> bool:
    """Return whether lists hold numbers two levels down, and not label models or arrays."""
    try:
        return not hasattr(draws[0], "shape") and np.isscalar(draws[0][0])
    except (TypeError, IndexError, KeyError):
        return False


# --- Bounds of a classifier's performance from counts alone.


def _of_counts(
    counts: PatternCounts,
    label_model: Any,
    *,
    metric: str | MetricBase,
    method: str,
    confidence: float,
    limit: str,
    rng: int | np.random.Generator | None,
    **options: Any,
) -> PerformanceBounds:
    """Bound the performance of the classifier whose predictions were counted by pattern."""
    pos_label, class_prior = options["pos_label"], options["class_prior"]
    refuse_weighted_counts(counts)
    chosen = as_metric(metric)
    compares = isinstance(chosen, GroupMetric)
    if isinstance(chosen, GroupMetric):
        counts = _with_groups(counts, check_groups(chosen, counts.groups))
    inputs, cells = read_counted(
        counts,
        label_model,
        metric=chosen,
        pos_label=pos_label,
        class_prior=class_prior,
        compares=compares,
    )
    chosen.for_classes(len(inputs.classes))
    rule = check_limit(limit, confidence, weighted=False)
    way, slack = check_method(method), check_robustness(options["robustness"])
    prior = check_prior(class_prior, inputs)
    draws = [inputs.proba_of(draw) for draw in options["label_model_draws"] or ()]
    generator = check_rng(rng)

    def bound(own: AnyArray, group: Any = None) -> PerformanceBounds:
        problem = counted_problem(
            inputs,
            own,
            method=way,
            rng=generator,
            slack=slack,
            prior=prior if group is None else None,
        )
        check: DeferredCheck
        if compares and counts.groups is not None:
            check = CheckByGroup(inputs, label_model, None, counts.groups)
        else:
            check = DeferredCheck.of(inputs, label_model, prior)
        return solved_performance(
            problem,
            chosen,
            rule,
            method=way,
            draws=draws,
            group=group,
            n=int(own.sum()),
            check=check,
        )

    apart = counts.groups is not None and not compares
    whole = bound(cells.sum(axis=1) if apart else cells)
    whole = replace(whole, pos_label=inputs.positive_of(chosen))
    if way == "plugin":
        warn_if_sparse(inputs.votes.counts, "method='plugin'")
    if not apart or counts.groups is None:
        return whole
    return replace(whole, groups=_by_group_of_counts(bound, whole, cells, counts.groups))


def _with_groups(counts: PatternCounts, place: IntArray) -> PatternCounts:
    """Return counts with the groups in another order."""
    assert counts.groups is not None
    by_fold = None if counts.by_fold is None else counts.by_fold[:, place]
    return replace(
        counts, groups=counts.groups[place], counts=counts.counts[place], by_fold=by_fold
    )


def _by_group_of_counts(
    bound: Any, whole: PerformanceBounds, cells: AnyArray, names: AnyArray
) -> Any:
    """Return the bounds of each group by its name, without numbers where the metric has none."""
    found = {}
    for g, name in enumerate(names.tolist()):
        try:
            found[name] = bound(cells[:, g], name)
        except UndefinedHereError as error:
            found[name] = undefined_bounds(whole, name, int(cells[:, g].sum()), error.sentence)
    return found
