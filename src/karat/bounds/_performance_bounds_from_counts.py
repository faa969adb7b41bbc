"""Bounds of a classifier's performance from counts alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import AnyArray, Column, FloatArray
from karat._validate import check_rng
from karat.bounds.checks import CheckByGroup, DeferredCheck
from karat.bounds.inputs import (
    check_groups,
    check_limit,
    check_method,
    check_prior,
    check_robustness,
    counted_problem,
    read_counted,
    refuse_weighted_counts,
    warn_if_sparse,
)
from karat.bounds.result import PerformanceBounds, undefined_bounds
from karat.bounds.solvers import solved_performance
from karat.exceptions import DataError, UndefinedHereError
from karat.metrics import GroupMetric, MetricBase, as_metric
from karat.statistics import PatternCounts

__all__ = ["performance_bounds_from_counts"]


@keeps_kind
def performance_bounds_from_counts(
    counts: PatternCounts,
    label_model: Any = None,
    *,
    metric: str | MetricBase,
    method: str = "crossfit",
    confidence: float = 0.95,
    limit: str = "skew",
    pos_label: Any = None,
    class_prior: Column | None = None,
    label_model_draws: Sequence[Any] | FloatArray | None = None,
    robustness: float = 0.0,
    rng: int | np.random.Generator | None = None,
) -> PerformanceBounds:
    """Bound a classifier's performance from counts of prediction by pattern of weak labels.

    The numbers are those of `performance_bounds` on the rows; no row is needed. Counts of parts of
    a dataset can be added, and those of a table of any size come from one scan of it
    (`karat.sources.Source.pattern_counts`).

    Parameters
    ----------
    counts : PatternCounts
        From `karat.statistics.pattern_counts`, a `karat.sources.Source`, or a sum of several. Where
        items were counted by fold, by a hash of their identifiers, these folds are used; otherwise
        the counts are split at random, which is as good for items that are independent.
    label_model : label model or array (patterns, k), optional
        Anything with ``predict_proba`` and ``classes_``, or P(Y | Z) of each of
        ``counts.patterns``, columns in the order of ``counts.classes``; by default a
        `karat.weak.DetectorLabelModel` fitted to these counts.
    metric, method, confidence, limit, pos_label, class_prior, label_model_draws, robustness
        As in `performance_bounds`. Counts by group give one result per group in ``.groups``, or
        serve a metric that compares groups.
    rng : int or Generator, optional
        For the folds, where the counts have none.

    Returns
    -------
    PerformanceBounds

    Notes
    -----
    True labels, clusters and weights need the rows: pass them to `performance_bounds`.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.statistics import pattern_counts
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 2000)
    >>> votes = np.where(rng.random((2000, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    >>> predicted = np.where(rng.random(2000) < 0.9, truth, 1 - truth)
    >>> counts = pattern_counts(predicted, votes)
    >>> b = performance_bounds_from_counts(counts, metric="accuracy", rng=0)
    >>> bool(b.lower_limit < 0.9 < b.upper_limit)
    True
    """
    if not isinstance(counts, PatternCounts):
        raise DataError(
            f"counts is a {type(counts).__name__}; expected karat.statistics.pattern_counts, or "
            "the pattern_counts() of a karat.scan"
        )
    refuse_weighted_counts(counts)
    chosen = as_metric(metric)
    compares = isinstance(chosen, GroupMetric)
    if isinstance(chosen, GroupMetric):
        check_groups(chosen, counts.groups)
    inputs, cells = read_counted(
        counts, label_model, pos_label=pos_label, class_prior=class_prior, compares=compares
    )
    chosen.for_classes(len(inputs.classes))
    rule = check_limit(limit, confidence, weighted=False)
    way, slack = check_method(method), check_robustness(robustness)
    prior = check_prior(class_prior, inputs)
    draws = [inputs.proba_of(draw) for draw in label_model_draws or ()]
    generator = check_rng(rng)

    def bound(own: AnyArray, group: Any = None) -> PerformanceBounds:
        problem = counted_problem(
            inputs, own, method=way, rng=generator, slack=slack,
            prior=prior if group is None else None,
        )  # fmt: skip
        check: DeferredCheck
        if compares and counts.groups is not None:
            check = CheckByGroup(inputs, label_model, None, counts.groups)
        else:
            check = DeferredCheck.of(inputs, label_model, prior)
        return solved_performance(
            problem, chosen, rule, method=way, draws=draws, group=group, n=int(own.sum()),
            check=check,
        )  # fmt: skip

    apart = counts.groups is not None and not compares
    whole = bound(cells.sum(axis=1) if apart else cells)
    if way == "plugin":
        warn_if_sparse(inputs.votes.counts, "method='plugin'")
    if not apart or counts.groups is None:
        return whole
    return replace(whole, groups=_by_group(bound, whole, cells, counts.groups))


def _by_group(bound: Any, whole: PerformanceBounds, cells: AnyArray, names: AnyArray) -> Any:
    """Return the bounds of each group by its name, without numbers where the metric has none."""
    found = {}
    for g, name in enumerate(names.tolist()):
        try:
            found[name] = bound(cells[:, g], name)
        except UndefinedHereError as error:
            found[name] = undefined_bounds(whole, name, int(cells[:, g].sum()), str(error))
    return found
