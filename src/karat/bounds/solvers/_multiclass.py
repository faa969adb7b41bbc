"""Bounds of metrics of several classes: tangents of concave metrics, and a search for others."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from karat._callers import caller_level
from karat._sentences import Option, Remedy
from karat._typing import FloatArray, IntArray
from karat.bounds._problem import Bound, BoundPair, Limit, Problem
from karat.bounds.frechet import best_duals, best_matches, best_plans, dual_values, worst_mean
from karat.bounds.inputs import Inputs, features
from karat.bounds.solvers._binary import ROUNDING, binary_bound, binary_bounds, check_defined
from karat.bounds.solvers._ratio import ratio_bounds
from karat.decisions.solvers import Columns, Oracle, solution_of
from karat.exceptions import KaratWarning, MetricError
from karat.metrics import GroupMetric, LinearFractionalMetric, PowerMeanMetric, recall
from karat.metrics.base import Metric
from karat.metrics.families import power_mean, power_mean_slopes
from karat.metrics.named import MCC, BalancedAccuracy, CohenKappa, GMean, Macro
from karat.metrics.rates import with_zero_diagonal

# --- The expectation of any function g of item and truth: exact, smoothed and cross-fitted duals.
#
# Every function here returns one value per item, whose mean bounds E g from above.

_FOLDS = 5
_LP_ROWS = 60_000  # inequalities of one linear program; more than that takes too much memory
_MAX_ITER = 500
_RIDGE = 1e-4  # keeps the linear dual finite where votes never vary


def exact_values(g: FloatArray, inputs: Inputs, weight: FloatArray, slack: float) -> FloatArray:
    """Return item values from the best dual of each pattern, taking its items for its law."""
    ids, p = inputs.votes.ids, inputs.p
    alpha = _exact_duals(g, ids, p, weight, slack)
    return _item_values(g, alpha[ids], p[ids], slack)


def _item_values(g: FloatArray, alpha: FloatArray, p: FloatArray, slack: float) -> FloatArray:
    """Return each item's value ``max_y (g_y − α_y) + Σ_y p_y α_y``, whose mean bounds E g."""
    return np.asarray((g - alpha).max(axis=1) + worst_mean(alpha, p, slack))


def _exact_duals(
    g: FloatArray, ids: IntArray, p: FloatArray, weight: FloatArray, slack: float
) -> FloatArray:
    """Return the best α of each pattern: by sorting for two classes, else by linear programs."""
    if g.shape[1] == 2 and slack == 0:
        return _sorted_duals(g, ids, p, weight)
    order = np.argsort(ids, kind="stable")
    edges = np.searchsorted(ids[order], np.arange(len(p) + 1))
    alpha = np.zeros(p.shape)
    first = 0
    while first < len(p):
        # As many whole patterns as one sparse program can hold.
        last = int(np.searchsorted(edges, edges[first] + _LP_ROWS // g.shape[1], side="right")) - 1
        last = min(max(last, first + 1), len(p))
        rows = order[edges[first] : edges[last]]
        alpha[first:last] = _linear_program(
            g[rows], ids[rows] - first, p[first:last], weight[rows], slack
        )
        first = last
    return alpha


def _sorted_duals(g: FloatArray, ids: IntArray, p: FloatArray, weight: FloatArray) -> FloatArray:
    """Two classes: class 1 goes to the items that gain most by it, until its share is used up."""
    gain = g[:, 1] - g[:, 0]
    order = np.lexsort((-gain, ids))
    cumulative = np.cumsum(weight[order])
    edges = np.searchsorted(ids[order], np.arange(len(p) + 1))
    start = np.concatenate([[0.0], cumulative])[edges[:-1]]
    total = np.concatenate([[0.0], cumulative])[edges[1:]] - start
    last = np.searchsorted(cumulative, start + p[:, 1] * total - 1e-12 * total)
    last = np.minimum(np.maximum(last, edges[:-1]), np.maximum(edges[1:] - 1, edges[:-1]))
    cut = gain[order[np.minimum(last, len(order) - 1)]]
    return np.column_stack([np.zeros(len(p)), np.where(total > 0, cut, 0.0)])


def _linear_program(
    g: FloatArray, ids: IntArray, p: FloatArray, weight: FloatArray, slack: float
) -> FloatArray:
    """Minimise ``Σ w·t + total·(p·α + slack·range α)`` subject to ``t ≥ g_y − α_y``."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n, k = g.shape
    patterns = len(p)
    total = np.bincount(ids, weights=weight, minlength=patterns)
    robust = slack > 0
    size = n + patterns * k + (2 * patterns if robust else 0)
    item, label = np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
    rows = np.arange(n * k)
    entries = [(rows, item, -1.0), (rows, n + ids[item] * k + label, -1.0)]
    bound = [-g.ravel()]
    if robust:
        cell = np.arange(patterns * k)
        low, high = (
            n + patterns * k + np.arange(patterns),
            n + patterns * (k + 1) + np.arange(patterns),
        )
        at = n * k + cell
        entries += [(at, n + cell, 1.0), (at, np.repeat(high, k), -1.0)]
        entries += [(at + len(cell), n + cell, -1.0), (at + len(cell), np.repeat(low, k), 1.0)]
        bound.append(np.zeros(2 * len(cell)))
    cost = np.concatenate([weight, (total[:, None] * p).ravel()])
    if robust:
        cost = np.concatenate([cost, -slack * total, slack * total])
    matrix = coo_array(
        (
            np.concatenate([np.full(len(r), v) for r, _, v in entries]),
            (
                np.concatenate([r for r, _, _ in entries]),
                np.concatenate([c for _, c, _ in entries]),
            ),
        ),
        shape=(sum(len(b) for b in bound), size),
    ).tocsr()
    # α is free up to a constant: its first entry is fixed.
    limits = np.full((size, 2), [-np.inf, np.inf])
    limits[n + np.arange(patterns) * k] = 0.0
    done = linprog(cost, A_ub=matrix, b_ub=np.concatenate(bound), bounds=limits, method="highs")
    return np.asarray(done.x[n : n + patterns * k].reshape(patterns, k))


def smoothed_values(
    g: FloatArray, inputs: Inputs, weight: FloatArray, epsilon: float
) -> tuple[FloatArray, int, bool]:
    """Solve the smoothed dual; return item values, number of steps, and whether it converged.

    Equations 2.5 and 2.6 of Maia Polo et al. (2023). The soft maximum is ε·log of the *mean* of
    exp(·/ε), so the result lies inside the sharp bound by at most ε·log k. The penalty (Σ_y a)²
    makes the solution unique, as in the paper.
    """
    from scipy.optimize import minimize

    ids, p = inputs.votes.ids, inputs.p
    k = p.shape[1]
    total = weight.sum()
    share = np.bincount(ids, weights=weight, minlength=len(p)) / total

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        a = flat.reshape(p.shape)
        soft, chosen = _soft(g + a[ids], epsilon)
        sums = a.sum(axis=1, keepdims=True)
        slope = -share[:, None] * p + 2 * sums / len(p)
        for y in range(k):
            slope[:, y] += np.bincount(ids, weights=weight * chosen[:, y], minlength=len(p)) / total
        value = weight @ soft / total - share @ np.sum(p * a, axis=1) + np.sum(sums**2) / len(p)
        return float(value), slope.ravel()

    done = minimize(
        loss,
        np.zeros(p.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITER, "ftol": 1e-12, "gtol": 1e-7, "maxfun": 4 * _MAX_ITER},
    )
    if not done.success:
        warnings.warn(
            KaratWarning(
                f"the smoothed bound stopped after {done.nit} steps without converging",
                Remedy("use ", Option("method", "exact"), ", or a larger epsilon"),
            ),
            stacklevel=caller_level(),
        )
    alpha = -done.x.reshape(p.shape)
    soft, _ = _soft(g - alpha[ids], epsilon)
    return soft + worst_mean(alpha, p, 0.0)[ids], int(done.nit), bool(done.success)


def _soft(values: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Return ε·log mean exp(values/ε) of each row, and the weights it gives the columns."""
    top = values.max(axis=1, keepdims=True)
    scaled = np.exp((values - top) / epsilon)
    norm = scaled.sum(axis=1, keepdims=True)
    soft = top[:, 0] + epsilon * np.log(norm[:, 0] / values.shape[1])
    return np.asarray(soft), np.asarray(scaled / norm)


def crossfit_values(
    g: FloatArray,
    inputs: Inputs,
    weight: FloatArray,
    epsilon: float,
    slack: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Return held-out item values from duals α(z), linear in the votes and learned elsewhere.

    Each fold's α comes from the other folds, so the mean bounds E g whatever was learned.
    """
    x = features(inputs.votes.patterns, inputs.p, inputs.p.shape[1])
    fold = rng.permutation(np.arange(inputs.n) % _FOLDS)
    own = np.empty(inputs.n)
    for f in range(_FOLDS):
        held = fold == f
        alpha = x @ _linear_dual(g[~held], inputs, ~held, weight[~held], x, epsilon)
        ids = inputs.votes.ids[held]
        own[held] = _item_values(g[held], alpha[ids], inputs.p[ids], slack)
    return own


def _linear_dual(
    g: FloatArray,
    inputs: Inputs,
    rows: FloatArray,
    weight: FloatArray,
    x: FloatArray,
    epsilon: float,
) -> FloatArray:
    from scipy.optimize import minimize

    ids, p = inputs.votes.ids[rows], inputs.p
    d, k = x.shape[1], p.shape[1]
    total = weight.sum()
    share = np.bincount(ids, weights=weight, minlength=len(p)) / total
    target = x.T @ (share[:, None] * p)

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        w = flat.reshape(d, k)
        alpha = x @ w
        soft, chosen = _soft(g - alpha[ids], epsilon)
        by_pattern = np.stack(
            [np.bincount(ids, weights=weight * c, minlength=len(p)) for c in chosen.T], axis=1
        )
        slope = target - x.T @ by_pattern / total + _RIDGE * w
        value = weight @ soft / total + np.sum(w * target) + _RIDGE / 2 * np.sum(w**2)
        return float(value), slope.ravel()

    done = minimize(loss, np.zeros(d * k), jac=True, method="L-BFGS-B", options={"maxiter": 150})
    return np.asarray(done.x.reshape(d, k))


# --- More than two classes: sharp where the metric is linear given the margins, outer elsewhere.


def multiclass_bounds(problem: Problem, metric: Metric, limit: Limit) -> BoundPair:
    """Bound the other metrics of more than two classes."""
    robust = problem.slack > 0
    if isinstance(metric, MCC | CohenKappa) and not robust:
        return _chance_corrected_bounds(problem, metric, limit)
    if isinstance(metric, PowerMeanMetric) and metric.decreasing:
        return _negated(
            multiclass_bounds(problem, PowerMeanMetric(metric.weights, metric.power), limit)
        )
    means = isinstance(metric, BalancedAccuracy | PowerMeanMetric)
    if means and metric.form == "linear" and not robust:
        return _mean_recall_bounds(problem, metric, limit)
    if isinstance(metric, Macro | GMean | BalancedAccuracy | PowerMeanMetric):
        return _per_class_bounds(problem, metric, limit)
    if isinstance(metric, MCC | CohenKappa):
        raise MetricError(
            f"{metric.title} of more than two classes cannot be bounded with robustness, which "
            "moves its margins; use accuracy, macro or micro of a binary metric, or balanced "
            "accuracy"
        )
    raise MetricError(
        f"{metric.title} cannot be bounded for {problem.p.shape[1]} classes; use a linear or "
        "linear-fractional metric, macro or micro of a binary one, balanced accuracy, G-mean, a "
        "power mean of recalls, MCC or Cohen's kappa"
    )


def _negated(pair: BoundPair) -> BoundPair:
    """Return the bounds of minus the metric."""
    lower, upper = (Bound(-b.value, -b.limit) for b in (pair.upper, pair.lower))
    return pair._replace(lower=lower, upper=upper)


def _bound(problem: Problem, value: float, influence: FloatArray, side: int, limit: Limit) -> Bound:
    return Bound(value, value + side * limit.approximate(problem.sample, influence, side))


def _chance_corrected_bounds(problem: Problem, metric: Metric, limit: Limit) -> BoundPair:
    """MCC and Cohen's kappa are linear in the accuracy once the margins t and p are fixed."""
    k = problem.p.shape[1]
    t, p = problem.truth, problem.predicted
    correlation = isinstance(metric, MCC)
    spread = float(np.sqrt((1 - p @ p) * (1 - t @ t))) if correlation else float(1 - t @ p)
    if spread**2 <= ROUNDING:
        raise MetricError(
            f"{metric.title} is undefined here: one class takes all predictions, or all truth"
        )
    pair = []
    for side in (-1, 1):
        values = problem.values(np.eye(k), side)
        value = (problem.sample.mean(values) - t @ p) / spread
        if correlation:
            by_t = -p / spread + value * t / (1 - t @ t)
            by_p = -t / spread + value * p / (1 - p @ p)
        else:
            by_t, by_p = (value - 1) * p / spread, (value - 1) * t / spread
        influence = values / spread + problem.truth_values() @ by_t + by_p
        pair.append(_bound(problem, float(value), influence, side, limit))
    return BoundPair(pair[0], pair[1])


def _mean_recall_bounds(problem: Problem, metric: Metric, limit: Limit) -> BoundPair:
    """Balanced accuracy, or a weighted mean of recalls, is linear once the priors are fixed."""
    k = problem.p.shape[1]
    weights = metric.weights if isinstance(metric, PowerMeanMetric) else np.full(k, 1.0 / k)
    truth = np.where(weights > 0, problem.truth, 1.0)
    if truth.min() <= ROUNDING:
        raise MetricError(
            f"{metric.title} is undefined here: class {int(truth.argmin())} has prior 0"
        )
    gain = np.diag(weights / truth)
    pair = []
    for side in (-1, 1):
        values = problem.values(gain, side)
        right = _right_at_optimum(problem, gain, side)
        influence = values + problem.truth_values() @ (-right * weights / truth**2)
        pair.append(_bound(problem, problem.sample.mean(values), influence, side, limit))
    return BoundPair(pair[0], pair[1])


def _right_at_optimum(problem: Problem, gain: FloatArray, side: int) -> FloatArray:
    """Return P(Y=i, Ŷ=i) at the optimum, as if q̂ of the first fold were the truth."""
    return problem.patterns @ best_matches(side * gain, problem.q[0], problem.p)


def _per_class_bounds(
    problem: Problem, metric: Macro | GMean | BalancedAccuracy | PowerMeanMetric, limit: Limit
) -> BoundPair:
    """Bound each class against the rest and average the bounds.

    Conservative, so not sharp: the worst cases of all classes cannot occur together.
    """
    k = problem.p.shape[1]
    inner = metric.metric.for_classes(2) if isinstance(metric, Macro) else recall
    parts = [problem.one_vs_rest(c) for c in range(k)]
    for part in parts:
        check_defined(inner, float(part.truth[1]), float(part.predicted[1]))
    if problem.slack > 0:
        return _per_class_robust(parts, metric, inner, limit)
    pair = []
    for side in (-1, 1):
        per_class, influences = [], []
        for c, part in enumerate(parts):
            value, influence, _ = binary_bound(part, inner, side)
            per_class.append(value)
            # The binary influence of (not c, c) is that of each prediction that is not c, or c.
            influences.append(influence[..., [1 if j == c else 0 for j in range(k)]])
        total, slopes = _combined(np.array(per_class), metric)
        influence = np.tensordot(slopes, np.stack(influences), axes=1)
        pair.append(_bound(problem, total, influence, side, limit))
    return BoundPair(pair[0], pair[1], sharp=False)


def _combined(values: FloatArray, metric: Metric) -> tuple[float, FloatArray]:
    """Return the mean of the metric's kind, and its slope in each class.

    A class that is never found has no finite slope; its recall cannot fall any further.
    """
    k = len(values)
    if not isinstance(metric, GMean | PowerMeanMetric):
        return float(np.mean(values)), np.full(k, 1.0 / k)
    even, power = np.full(k, 1.0 / k), 0.0
    weights, rho = (even, power) if isinstance(metric, GMean) else (metric.weights, metric.power)
    found = np.maximum(values, 0.0)
    slopes = power_mean_slopes(found, weights, rho)
    return float(power_mean(found, weights, rho)), np.where(np.isfinite(slopes), slopes, 0.0)


def _per_class_robust(
    parts: list[Problem], metric: Metric, inner: Metric, limit: Limit
) -> BoundPair:
    """Bound each class with its own worst label model within the slack, and average the limits."""
    each = [
        ratio_bounds(part, inner, limit)
        if isinstance(inner, LinearFractionalMetric)
        else binary_bounds(part, inner, limit)
        for part in parts
    ]
    lows, highs = (np.array([getattr(e, end) for e in each]).T for end in ("lower", "upper"))
    low, high = (Bound(*(_combined(v, metric)[0] for v in part)) for part in (lows, highs))
    return BoundPair(low, high, sharp=False)


# --- Linear functions of the error rates of groups that are nowhere below a metric of groups.
#
# The metric is concave in the rates, so with the slopes of any such tangent
#
#     metric ≤ ⟨overall, r⟩ + Σ_g ⟨own[g], r^g⟩ + constant,
#
# and since ``r^g[i, j] = C^g[i, j] / P(G=g, Y=i)`` the right side is a linear gain of each group's
# confusion, which is bounded as every linear gain is.

_TOLERANCE = 1e-9  # of the greatest attainable value; far below any confidence limit


class Tangent(NamedTuple):
    """Slopes in the rates of all (k, k) and of each group (m, k, k), 0 on the diagonals."""

    overall: FloatArray
    own: FloatArray
    constant: float = 0.0

    def gains(self, truth: FloatArray) -> FloatArray:
        """Return the gain of each group, (m, k, k), where ``truth[g, i] = P(G=g, Y=i)``."""
        return np.asarray(self.overall / truth.sum(axis=0)[:, None] + self.own / truth[:, :, None])


class TangentBound(NamedTuple):
    """A bound of a tangent, and the influence of each (fold, pattern, prediction) on it."""

    value: float
    influence: FloatArray


def tangent_of_pairs(metric: GroupMetric, slopes: FloatArray, constant: float = 0.0) -> Tangent:
    """Return the tangent with these slopes (pairs, q) in the gaps between pairs of groups."""
    own = np.zeros((metric.n_groups, len(metric.cost)))
    for (u, v), slope in zip(metric._pairs(), slopes, strict=True):
        own[u] += slope
        own[v] -= slope
    overall = with_zero_diagonal(-(1 - metric.tradeoff) * metric.cost)
    return Tangent(overall, with_zero_diagonal(own), constant)


def tangent_at(metric: GroupMetric, confusions: FloatArray) -> Tangent:
    """Return the tangent at the confusions of the groups, (m, k, k)."""
    gaps = metric._parts(confusions[None])[2]
    slopes = metric._violation_slopes(gaps)
    rise = float(np.sum(slopes * gaps) - metric._violations(gaps)[0])
    return tangent_of_pairs(metric, -metric.tradeoff * slopes[0], metric.tradeoff * rise)


def group_truth(problem: Problem) -> FloatArray:
    """Return P(G=g, Y=i) by the label model, (m, k)."""
    group = np.asarray(problem.group)
    own = problem.patterns[:, None] * problem.p
    return np.stack([own[group == g].sum(axis=0) for g in range(group.max() + 1)])


def _group_plan(
    problem: Problem, gains: FloatArray, folds: IntArray, weight: FloatArray
) -> FloatArray:
    """Return the confusions of greatest gain if q̂ of some folds were true, (m, k, k).

    ``weight`` is the share of each pattern in each of the folds.
    """
    tables, k = np.zeros(gains.shape), problem.p.shape[1]
    for g, gain in enumerate(gains):
        own = np.flatnonzero(problem.group == g)
        q = problem.q[np.ix_(folds, own)].reshape(-1, k)
        plans = best_plans(gain, q, np.tile(problem.p[own], (len(folds), 1)))
        tables[g] = np.tensordot(weight[:, own].ravel(), plans, axes=1)
    return tables


def tangent_bound(problem: Problem, tangents: Sequence[Tangent], side: int) -> TangentBound:
    """Return the upper (1) or lower (−1) bound of a tangent; ``tangents`` holds one per fold.

    P(G=g, Y=i) stands in the denominators of the rates, so the influence includes its error.
    """
    group, truth = np.asarray(problem.group), group_truth(problem)
    total = truth.sum(axis=0)
    values = np.zeros(problem.sample.counts.shape)
    by_total, by_own = np.zeros(total.shape), np.zeros(truth.shape)
    for folds, tangent in _batches(tangents):
        gains = tangent.gains(truth)
        for g, gain in enumerate(gains):
            if gain.any():
                own = np.flatnonzero(group == g)
                at, p = np.ix_(folds, own), problem.p[own]
                alpha = best_duals(side * gain, problem.q[at], p)
                values[at] = side * dual_values(side * gain, alpha, p, 0.0)
        values[folds] += tangent.constant
        weight = problem.sample.counts[folds].sum(axis=2) / problem.sample.total
        tables = _group_plan(problem, side * gains, folds, weight)
        by_total += np.sum(tangent.overall * tables.sum(axis=0), axis=1) / total**2
        by_own += np.sum(tangent.own * tables, axis=2) / truth**2
    drift = np.sum(problem.p * (by_total + by_own[group]), axis=1)
    return TangentBound(problem.sample.mean(values), values - drift[None, :, None])


def _batches(tangents: Sequence[Tangent]) -> list[tuple[IntArray, Tangent]]:
    """Return the folds of each tangent; if all folds have the same one, it is solved once."""
    if all(tangent is tangents[0] for tangent in tangents):
        return [(np.arange(len(tangents)), tangents[0])]
    return [(np.array([fold]), tangent) for fold, tangent in enumerate(tangents)]


def best_tangent(problem: Problem, metric: GroupMetric, fold: int) -> tuple[Tangent, float]:
    """Return the tangent with the least upper bound if q̂ of a fold were true, and its gap.

    It touches the metric at its greatest attainable value. Any tangent gives a valid bound, so an
    error of q̂ costs width and never validity. The attainable confusions of each group are a convex
    set, and the metric is maximised over the sum of these sets.
    """
    k, m = metric.n_classes, metric.n_groups
    first = np.stack([side * np.tile(np.eye(k), (m, 1, 1)) for side in (1.0, -1.0)])
    columns = Columns(_plans(problem, fold, (m, k, k)), first.reshape(2, -1))
    found = solution_of(metric, columns, tol=_TOLERANCE)
    if metric.form != "gaps":
        return tangent_at(metric, found.point.reshape(m, k, k)), found.gap
    price = metric.tradeoff * metric.violation
    if found.prices is None:  # no linear program was needed: gaps cost nothing
        return tangent_of_pairs(metric, np.zeros(price.shape)), found.gap
    above, below = found.prices.reshape(2, *price.shape)
    return tangent_of_pairs(metric, np.clip(below - above, -price, price)), found.gap


def _plans(problem: Problem, fold: int, shape: tuple[int, ...]) -> Oracle:
    """Return the oracle of the attainable confusions of each group: couplings of greatest gain."""

    def best(directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        points = np.zeros((len(directions), shape[0], *shape))
        for point, direction in zip(points, directions, strict=True):
            plans = _group_plan(
                problem, direction.reshape(shape), np.array([fold]), problem.patterns[None]
            )
            point[np.arange(shape[0]), np.arange(shape[0])] = plans
        flat = points.reshape(len(directions), shape[0], -1)
        return flat, flat

    return best


def extreme_confusions(problem: Problem, fold: int) -> FloatArray:
    """Return the confusions of each group of greatest and least accuracy, (m, 2, k, k)."""
    truth = group_truth(problem)
    eye = np.broadcast_to(np.eye(truth.shape[1]), (len(truth), *[truth.shape[1]] * 2))
    pair = [
        _group_plan(problem, side * eye, np.array([fold]), problem.patterns[None])
        for side in (1, -1)
    ]
    return np.stack(pair, axis=1)
