"""The expectation of any function g of item and truth: exact, smoothed and cross-fitted duals.

Every function here returns one value per item, whose mean bounds E g from above.
"""

import warnings

import numpy as np

from karat._callers import caller_level
from karat._typing import FloatArray, IntArray
from karat.bounds.inputs import Inputs, features
from karat.bounds.transport import worst_mean
from karat.exceptions import KaratWarning

__all__ = ["crossfit_values", "exact_values", "smoothed_values"]

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
        loss, np.zeros(p.size), jac=True, method="L-BFGS-B",
        options={"maxiter": _MAX_ITER, "ftol": 1e-12, "gtol": 1e-7, "maxfun": 4 * _MAX_ITER},
    )  # fmt: skip
    if not done.success:
        warnings.warn(
            f"the smoothed bound stopped after {done.nit} steps without converging; use "
            "method='exact', or a larger epsilon",
            KaratWarning,
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
