"""Choose how to bound a metric, and keep the answer within what the metric can be."""

import numpy as np

from karat._validate import refuse_option
from karat.bounds.problem import Bound, BoundPair, Limit, Problem
from karat.bounds.solvers._binary import ROUNDING, binary_bounds, check_defined
from karat.bounds.solvers._groups import group_bounds, is_enumerable
from karat.bounds.solvers._multiclass import linear_bounds, multiclass_bounds
from karat.bounds.solvers._ratio import ratio_bounds
from karat.bounds.solvers._tangents import group_truth
from karat.exceptions import DataError, MetricError, UndefinedHereError
from karat.metrics import (
    GroupMetric,
    LinearFractionalMetric,
    LinearMetric,
    Metric,
    MetricBase,
)
from karat.metrics.estimates import metric_range

__all__ = ["solve"]


def solve(problem: Problem, metric: MetricBase, limit: Limit) -> BoundPair:
    """Return both bounds of the metric, with their confidence limits."""
    k = problem.p.shape[1]
    fixed = metric.for_classes(k)
    if isinstance(fixed, GroupMetric):
        _check_groups(problem, fixed, limit)
        return _within(group_bounds(problem, fixed, limit), fixed)
    assert isinstance(fixed, Metric)
    if problem.prior is not None and _needs_margins_of_model(fixed, problem, limit):
        raise DataError(
            f"class_prior cannot be used for {metric.title} here (with robustness, "
            "limit='bernstein', or a ratio of more than two classes): P(Y) is then the label "
            "model's. Leave it out, and fit the label model with class_prior= instead"
        )
    if isinstance(fixed, LinearMetric):
        pair = linear_bounds(problem, fixed.weights, limit)
    elif isinstance(fixed, LinearFractionalMetric) and (
        k > 2 or problem.slack > 0 or limit.kind == "bernstein"
    ):
        if k == 2:
            check_defined(fixed, float(problem.truth[1]), float(problem.predicted[1]))
        pair = ratio_bounds(problem, fixed, limit)
    elif limit.kind == "bernstein":
        refuse_option(
            limit.kind,
            "limit",
            f"'skew' or 'normal', because {metric.title} is neither linear nor linear-fractional",
        )
    elif k == 2:
        pair = binary_bounds(problem, fixed, limit)
    else:
        pair = multiclass_bounds(problem, fixed, limit)
    return _within(pair, fixed)


def _check_groups(problem: Problem, metric: GroupMetric, limit: Limit) -> None:
    """Refuse options, metrics and groups for which a metric of groups has no bounds."""
    why = f"with {metric.title}, which divides by P(Y | group) of the label model"
    if problem.prior is not None:
        raise DataError(f"class_prior cannot be used {why}; leave it out")
    if problem.slack > 0:
        refuse_option(problem.slack, "robustness", f"0 {why}")
    if limit.kind == "bernstein":
        refuse_option(limit.kind, "limit", f"'skew' or 'normal' {why}")
    if metric.form != "gaps" and not is_enumerable(metric):
        raise MetricError(
            f"{metric.title} is for {metric.n_classes} classes and {metric.n_groups} groups; a "
            "metric of squared differences is bounded for two classes and up to six groups. Use a "
            "FairMetric, which is bounded for any number"
        )
    truth = group_truth(problem)
    if truth.min() <= ROUNDING:
        g, i = np.unravel_index(int(truth.argmin()), truth.shape)
        raise UndefinedHereError(
            f"{metric.title} is undefined here: group {g} (in sorted order) has no weight, or the "
            f"label model expects none of its items in class {i}. Merge the group with another, or "
            "leave it out"
        )


def _needs_margins_of_model(metric: Metric, problem: Problem, limit: Limit) -> bool:
    """Whether P(Y) comes from the coupling itself, where a given prior has no place."""
    if isinstance(metric, LinearMetric):
        return False
    ratio = isinstance(metric, LinearFractionalMetric)
    return problem.slack > 0 or limit.kind == "bernstein" or (ratio and problem.p.shape[1] > 2)


def _within(pair: BoundPair, metric: MetricBase) -> BoundPair:
    """Clip bounds and limits to the range of the metric."""
    least, most = metric_range(metric)
    lower, upper = (
        Bound(float(np.clip(e.value, least, most)), float(np.clip(e.limit, least, most)))
        for e in (pair.lower, pair.upper)
    )
    return pair._replace(lower=lower, upper=upper)
