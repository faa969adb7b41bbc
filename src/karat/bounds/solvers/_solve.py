"""The solver of a metric's bounds, chosen by its form, for one classifier, two, or groups."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations, product
from math import factorial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._sentences import Argument, Option, Remedy
from karat._typing import FloatArray, IntArray
from karat._validate import refuse_option
from karat.bounds._problem import Bound, BoundPair, Limit, Problem, Sample, linear_bounds
from karat.bounds.inputs import sparse_share
from karat.bounds.result import DeferredCheck, PerformanceBounds, with_gold
from karat.bounds.solvers._binary import (
    PREDICTED,
    ROUNDING,
    TRUTH,
    binary_bounds,
    check_defined,
    confusion_at,
    slope_at,
)
from karat.bounds.solvers._multiclass import (
    Tangent,
    TangentBound,
    best_tangent,
    extreme_confusions,
    group_truth,
    multiclass_bounds,
    tangent_at,
    tangent_bound,
    tangent_of_pairs,
)
from karat.bounds.solvers._ratio import ratio_bounds
from karat.exceptions import (
    DataError,
    MetricError,
    SmallSampleWarning,
    UndefinedHereError,
    UndefinedMetricWarning,
)
from karat.limits.result import PredictionPoweredLimits
from karat.metrics import GroupMetric, LinearFractionalMetric, LinearMetric
from karat.metrics.base import Metric, MetricBase
from karat.metrics.rates import with_zero_diagonal


def difference_bound_pair(joint: Problem, metric: Metric, limit: Limit) -> BoundPair:
    """Bound metric(a) − metric(b), where the predictions of ``joint`` are the codes a·k + b."""
    k = joint.p.shape[1]
    if isinstance(metric, LinearMetric):
        gain = metric.weights[:, :, None] - metric.weights[:, None, :]
        return linear_bounds(joint, gain.reshape(k, k * k), limit)
    alone = [_alone(joint, k, which) for which in (0, 1)]
    if k == 2 and limit.kind != "bernstein" and joint.slack == 0:
        slopes = [s for one in alone if (s := _slope_in_tp(one, metric)) is not None]
        if len(slopes) == 2:
            return _margin_linear_bounds(joint, alone, metric, slopes, limit)
    if limit.kind == "bernstein":  # two limits share the error
        limit = Limit(limit.kind, (1 + limit.confidence) / 2)
    first, second = (solve(one, metric, limit) for one in alone)
    return BoundPair(
        Bound(first.lower.value - second.upper.value, first.lower.limit - second.upper.limit),
        Bound(first.upper.value - second.lower.value, first.upper.limit - second.lower.limit),
        sharp=False,
    )


def _alone(joint: Problem, k: int, which: int) -> Problem:
    """Return the problem of one of the two classifiers."""

    def fold(a: FloatArray) -> FloatArray:
        return np.asarray(a.reshape(*a.shape[:-1], k, k).sum(axis=-1 if which == 0 else -2))

    rows = joint.sample.rows
    if rows is not None:
        codes = rows.predicted // k if which == 0 else rows.predicted % k
        rows = replace(rows, predicted=codes)
    sample = Sample(fold(joint.sample.counts), fold(joint.sample.squares), rows)
    return Problem(sample, joint.p, fold(joint.q), joint.slack, joint.prior)


def _slope_in_tp(problem: Problem, metric: Metric) -> float | None:
    """Return the slope of the metric in TP if it is a straight line given the margins, or None."""
    truth, predicted = float(problem.truth[1]), float(problem.predicted[1])
    check_defined(metric, truth, predicted)
    least, most = max(0.0, truth + predicted - 1), min(truth, predicted)
    tps = np.linspace(least, most, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = np.asarray(metric(confusion_at(truth, predicted, tps)))
    steps = np.diff(values)
    if np.ptp(steps) > 1e-9 or most <= least:
        return None
    return float(steps.sum() / (most - least))


def _margin_linear_bounds(
    joint: Problem, alone: list[Problem], metric: Metric, slopes: list[float], limit: Limit
) -> BoundPair:
    """Bound a metric that is a line in TP given the margins.

    Then the difference is a linear gain of (Y, a, b), plus terms of the margins alone.
    """
    gain = np.zeros((2, 4))
    gain[1] = [slopes[0] * a - slopes[1] * b for a in (0, 1) for b in (0, 1)]
    positive = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])  # a, and b, of each pair
    pair = []
    for side in (-1, 1):
        values = joint.values(gain, side)
        total, influence = 0.0, values.copy()
        for one, own, slope, sign in zip(alone, positive, slopes, (1, -1), strict=True):
            tp = _tp_at_optimum(joint, gain, own, side, values)
            truth, predicted = float(one.truth[1]), float(one.predicted[1])
            tp = float(np.clip(tp, max(0.0, truth + predicted - 1), min(truth, predicted)))
            table = confusion_at(truth, predicted, tp)
            gradient = slope_at(metric, table)
            by_truth, by_predicted = (float(np.sum(gradient * at)) for at in (TRUTH, PREDICTED))
            total += sign * (float(metric(table)) - slope * tp)
            influence += sign * (by_truth * one.truth_values()[..., 1] + by_predicted * own)
        mean = total + joint.sample.mean(values)
        distance = limit.approximate(joint.sample, influence, side)
        pair.append(Bound(mean, mean + side * distance))
    return BoundPair(pair[0], pair[1])


def _tp_at_optimum(
    joint: Problem, gain: FloatArray, own: FloatArray, side: int, values: FloatArray
) -> float:
    """Return one classifier's TP at the optimum: the value's slope in the gain of its TP."""
    step = 1e-6  # small enough to stay on one linear piece, large enough for rounding errors
    more = gain + step * np.stack([np.zeros(4), own])
    return joint.sample.mean(joint.values(more, side) - values) / step


class SolvedDifference(NamedTuple):
    """Bounds of a difference with their limits, a guess, and whether they are sharp."""

    lower: float
    upper: float
    limits: tuple[float, float]
    estimate: float
    sharp: bool


def solved_difference(
    joint: Problem, metric: Metric, rule: Limit, reach: float
) -> SolvedDifference:
    """Return the bounds of a difference that is at most ``reach``, in order."""
    pair = difference_bound_pair(joint, metric, rule)
    lower, upper, lower_limit, upper_limit = np.clip(
        [pair.lower.value, pair.upper.value, pair.lower.limit, pair.upper.limit], -reach, reach
    ).tolist()
    return SolvedDifference(
        lower,
        max(upper, lower),
        (min(lower_limit, lower), max(upper_limit, upper, lower)),
        _guess(joint, metric),
        pair.sharp,
    )


def _guess(joint: Problem, metric: Metric) -> float:
    """Return the difference if predictions and truth were independent given the weak labels."""
    k = joint.p.shape[1]
    counts = joint.sample.counts.sum(axis=0)
    cube = (joint.p.T @ counts / counts.sum()).reshape(k, k, k)  # truth, first, second
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(metric(cube.sum(axis=2))) - float(metric(cube.sum(axis=1)))


# --- Bounds of a metric as a result: limits, the entropy limit of the width, a point estimate.

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
    gold: PredictionPoweredLimits | None = None,
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
        **with_gold(
            pair.lower.value,
            max(pair.upper.value, pair.lower.value),
            (least, most),
            limit.confidence,
            gold,
        ),
        metric=metric,
        method=method,
        n=n,
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


# --- Uncertainty of the label model: bounds for each draw of it, combined.


def combine_draws(
    problem: Problem, metric: MetricBase, limit: Limit, draws: Sequence[FloatArray], pair: BoundPair
) -> BoundPair:
    """Return the mean bounds over draws of P(Y | pattern), with limits that hold for their mixture.

    ``pair`` are the bounds without draws, whose limits stay where they are infinite. q̂ stays as it
    is: any q̂ gives valid bounds, so only the duals follow the draw.
    """
    per_draw = [solve(replace(problem, p=p), metric, limit) for p in draws]
    quantile = limit.quantile(problem.sample.effective)
    if not np.isfinite(quantile):
        return pair
    lower = _mixture([one.lower for one in per_draw], limit, quantile, -1)
    upper = _mixture([one.upper for one in per_draw], limit, quantile, 1)
    return pair._replace(lower=lower, upper=upper)


def _mixture(bounds: Sequence[Bound], limit: Limit, quantile: float, side: int) -> Bound:
    """Return mean and one-sided quantile of a mixture of normal laws, one per draw."""
    values, limits = np.array([b.value for b in bounds]), np.array([b.limit for b in bounds])
    if quantile == 0:  # a confidence of a half or less shows no errors: the outermost draw holds
        return Bound(float(values.mean()), side * float((side * limits).max()))
    errors = np.maximum(np.abs(limits - values) / quantile, 1e-12)
    normal = NormalDist()
    scale = normal.inv_cdf(limit.confidence) / quantile
    # Eight standard errors on either side hold every quantile that can be asked for.
    low = float((side * values - 8 * errors).min())
    high = float((side * values + 8 * errors).max())
    for _ in range(80):  # bisection down to rounding error
        middle = (low + high) / 2
        # Errors were scaled by Student's quantile; scale back to the normal law of the mixture.
        below = np.mean([normal.cdf(z) for z in scale * (middle - side * values) / errors])
        low, high = (middle, high) if below < limit.confidence else (low, middle)
    return Bound(float(values.mean()), side * (low + high) / 2)


# --- Choose how to bound a metric, and keep the answer within what the metric can be.


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
            Argument("class_prior"),
            f" cannot be used for {metric.title} here (with robustness, ",
            Option("limit", "bernstein"),
            ", or a ratio of more than two classes): P(Y) is then the label model's",
            Remedy(
                "Leave it out, and fit the label model with ",
                Option("class_prior"),
                " instead",
                after=". ",
            ),
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
        raise DataError(Argument("class_prior"), f" cannot be used {why}; leave it out")
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
    least, most = metric.value_range
    lower, upper = (
        Bound(float(np.clip(e.value, least, most)), float(np.clip(e.limit, least, most)))
        for e in (pair.lower, pair.upper)
    )
    return pair._replace(lower=lower, upper=upper)


# --- Metrics that compare groups: both bounds are bounds of tangents.
#
# The greatest value is the least upper bound of a tangent, by the minimax theorem. The least value
# of a concave function is at a corner of the attainable set, so it is the least lower bound over
# the tangents at all corners.

_MOST_CORNERS = 64  # tangents to try for the lower bound; each is a bound of its own to solve


def is_enumerable(metric: GroupMetric) -> bool:
    """Whether the corners are few enough to try them all."""
    m = metric.n_groups
    if metric.n_classes == 2:
        return bool(2**m <= _MOST_CORNERS)
    return metric.form == "gaps" and factorial(m) ** len(_priced(metric)) <= _MOST_CORNERS


def group_bounds(problem: Problem, metric: GroupMetric, limit: Limit) -> BoundPair:
    """Bound a metric of groups; limits are by the delta method, or influences drawn anew."""
    folds = range(len(problem.sample.counts))
    quantile = limit.quantile(_least_effective(problem))

    def distance(bound: TangentBound, side: int) -> float:
        if not np.isfinite(quantile):
            return np.inf
        plain = quantile * problem.sample.moments(bound.influence).error
        if limit.kind != "skew":
            return plain
        # Drawing items anew knows nothing of how few the smallest group has: Student's law does.
        return max(plain, limit.approximate(problem.sample, bound.influence, side))

    best = [best_tangent(problem, metric, fold) for fold in folds]
    top = tangent_bound(problem, [tangent for tangent, _ in best], 1)
    sharp = is_enumerable(metric)
    low = (
        [
            tangent_bound(problem, [corner for _ in folds], -1)
            for corner in _corners(problem, metric)
        ]
        if sharp
        else [_outer_bound(problem, metric)]
    )
    # Each corner's limit holds for that corner, so the least of them holds for the worst one.
    lower = Bound(min(one.value for one in low), min(one.value - distance(one, -1) for one in low))
    upper = Bound(top.value, top.value + distance(top, 1))
    return BoundPair(lower, upper, sharp=sharp, gap=max(gap for _, gap in best))


def _least_effective(problem: Problem) -> float:
    """Return the effective number of items of the smallest group: the degrees of freedom."""
    sample, group = problem.sample, np.asarray(problem.group)
    numbers = []
    for g in range(group.max() + 1):
        own = group == g
        kish = Sample(sample.counts[:, own], sample.squares[:, own]).effective
        if sample.rows is not None:
            within = group[sample.rows.ids] == g
            kish = min(kish, float(len(np.unique(sample.rows.cluster[within]))))
        numbers.append(kish)
    return min(numbers)


def _corners(problem: Problem, metric: GroupMetric) -> list[Tangent]:
    """Return a tangent for every corner at which the metric could be least."""
    if metric.n_classes == 2:  # each group is at one end of its interval
        shares = problem.sample.counts.sum(axis=(1, 2)) / problem.sample.total
        sides = sum(w * extreme_confusions(problem, fold) for fold, w in enumerate(shares))
        found = [
            tangent_at(metric, np.stack([np.asarray(sides)[g, e] for g, e in enumerate(which)]))
            for which in product((0, 1), repeat=metric.n_groups)
        ]
    else:  # for each kind of error the groups have some order
        price = metric.tradeoff * metric.violation
        found = []
        for orders in product(_orders(metric.n_groups), repeat=len(_priced(metric))):
            slopes = np.zeros(price.shape)
            for kind, signs in zip(_priced(metric), orders, strict=True):
                slopes[:, kind] = -price[:, kind] * signs
            found.append(tangent_of_pairs(metric, slopes))
    distinct = {tangent.own.round(12).tobytes(): tangent for tangent in found}
    return list(distinct.values())


def _priced(metric: GroupMetric) -> IntArray:
    """Return the kinds of error of which a difference between groups costs something."""
    return np.flatnonzero((metric.tradeoff * metric.violation).any(axis=0))


def _orders(m: int) -> list[IntArray]:
    """Return the signs of the gaps of all pairs, u before v, for each order of m groups."""
    return [
        np.array([1 if rank[u] > rank[v] else -1 for u, v in combinations(range(m), 2)])
        for rank in permutations(range(m))
    ]


def _outer_bound(problem: Problem, metric: GroupMetric) -> TangentBound:
    """Bound a FairMetric from below by the sum of the worst cost and the widest gaps.

    Conservative: the worst cases of cost and gaps need not occur together.
    """
    folds = range(len(problem.sample.counts))
    alone = tangent_of_pairs(metric, np.zeros(metric.violation.shape))
    value, influence = tangent_bound(problem, [alone for _ in folds], -1)
    m, q = metric.n_groups, len(metric.cost)
    price = metric.tradeoff * metric.violation
    for kind in _priced(metric):
        rates = [
            [_rate_bound(problem, m, g, np.eye(q)[kind], s) for s in (-1, 1)] for g in range(m)
        ]
        for pair, (u, v) in enumerate(combinations(range(m), 2)):
            ways = [(rates[a][1], rates[b][0]) for a, b in ((u, v), (v, u))]
            above, below = max(ways, key=lambda way: way[0].value - way[1].value)
            value -= price[pair, kind] * (above.value - below.value)
            influence = influence - price[pair, kind] * (above.influence - below.influence)
    return TangentBound(value, influence)


def _rate_bound(problem: Problem, m: int, g: int, error: FloatArray, side: int) -> TangentBound:
    """Return the least or greatest rate of one error in one group."""
    own = np.zeros((m, len(error)))
    own[g] = error
    one = Tangent(with_zero_diagonal(np.zeros(len(error))), with_zero_diagonal(own))
    return tangent_bound(problem, [one for _ in problem.sample.counts], side)
