"""Bounds of a metric as a result: limits, the entropy limit of the width, a point estimate."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._typing import FloatArray
from karat.bounds.checks import DeferredCheck
from karat.bounds.inputs import sparse_share
from karat.bounds.problem import Limit, Problem
from karat.bounds.result import PerformanceBounds
from karat.bounds.solvers._draws import combine_draws
from karat.bounds.solvers._solve import solve
from karat.exceptions import SmallSampleWarning, UndefinedMetricWarning
from karat.limits import PoweredLimits
from karat.metrics import GroupMetric, LinearMetric, MetricBase

__all__ = ["solved_performance"]

_RARE = 10  # expected items of a class below which the limits of a ratio are rough


def solved_performance(
    problem: Problem,
    metric: MetricBase,
    limit: Limit,
    *,
    method: str,
    n: int,
    check: DeferredCheck | None = None,
    truth: float | None = None,
    draws: Sequence[FloatArray] = (),
    group: Any = None,
    gold: PoweredLimits | None = None,
) -> PerformanceBounds:
    """Solve a problem and wrap the answer in a `PerformanceBounds`.

    Rounding can put the two bounds, or a bound and its limit, in the wrong order by a hair: each
    is moved out to the one that it must contain.
    """
    pair = solve(problem, metric, limit)
    _warn_if_rare(problem, metric, group)
    if draws:
        pair = combine_draws(problem, metric, limit, draws, pair)
    counts = problem.sample.counts.sum(axis=(0, 2))
    least = min(pair.lower.limit, pair.lower.value)
    most = max(pair.upper.limit, pair.upper.value, pair.lower.value)
    return PerformanceBounds(
        metric=metric,
        lower=pair.lower.value,
        upper=max(pair.upper.value, pair.lower.value),
        lower_limit=least if gold is None else gold.lower,
        upper_limit=most if gold is None else gold.upper,
        bounds_lower_limit=least,
        bounds_upper_limit=most,
        gold=gold,
        method=method,
        n=n,
        confidence=limit.confidence,
        sharp=pair.sharp,
        robustness=problem.slack,
        sparse=sparse_share(counts),
        width_limit=_width_limit(problem, metric),
        label_model_estimate=_estimate(problem, metric),
        iterations=pair.iterations,
        gap=pair.gap,
        deferred_check=check,
        truth=truth,
        group=group,
    )


def _warn_if_rare(problem: Problem, metric: MetricBase, group: Any) -> None:
    """Warn where the metric divides by a class of which few items are expected."""
    fixed = metric.for_classes(problem.p.shape[1])
    if isinstance(fixed, LinearMetric | GroupMetric):
        return
    expected = problem.truth * problem.sample.effective
    counted = expected[-1:] if len(expected) == 2 else expected
    if 0 < counted.min() < _RARE:
        who = "" if group is None else f" in group {group}"
        warnings.warn(
            f"about {counted.min():.2g} items of the rarest class that {metric.title} looks at are "
            f"expected{who}, fewer than {_RARE}: the limits are rough. Take more items",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )


def _width_limit(problem: Problem, metric: MetricBase) -> float | None:
    """Return a limit of the width: √(2·min(H(Ŷ | Z), H(Y | Z))) times the range of the metric.

    Theorem A.1 of Maia Polo et al. (2023). H(Ŷ | Z) is the cross-entropy of q̂ on held-out items;
    the plug-in estimate is far too small.
    """
    fixed = metric.for_classes(problem.p.shape[1])
    if not isinstance(fixed, LinearMetric) or problem.slack > 0:
        return None
    of_prediction = -problem.sample.mean(np.log(np.clip(problem.q, 1e-12, None)))
    of_truth = -float(problem.patterns @ np.sum(_xlogx(problem.p), axis=1))
    return float(np.ptp(fixed.weights) * np.sqrt(2.0 * max(min(of_prediction, of_truth), 0.0)))


def _xlogx(p: FloatArray) -> FloatArray:
    return p * np.log(np.clip(p, 1e-300, None))


def _estimate(problem: Problem, metric: MetricBase) -> float:
    """Return the metric if Y and Ŷ were independent given Z."""
    counts = problem.sample.counts.sum(axis=0)
    apart = np.zeros(len(counts), dtype=int) if problem.group is None else problem.group
    own = [apart == g for g in range(apart.max() + 1)]
    stack = np.stack([problem.p[at].T @ counts[at] for at in own])
    table = stack[0] if problem.group is None else stack
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(metric(table / table.sum()))
