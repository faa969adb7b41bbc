"""Fréchet bounds of an accuracy, or of any expected gain, as formulas on arrays.

Given a pattern of votes z, the prediction has the distribution q and the truth the distribution p,
and every coupling of the two is possible: a small transport problem. `best_duals` and `dual_values`
give its dual, which bounds the gain whatever q was guessed; `best_plans` gives the couplings
themselves, `best_matches` their diagonals; `match_bounds` and `cell_bounds` are closed forms. Two
classes, accuracy and weighted matches such as balanced accuracy are solved by formulas, anything
else by compiled loops, which `warm` compiles ahead of time.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from karat._typing import FloatArray

# --- Bounds as formulas, on arrays that are already checked.
#
# Throughout, ``p[z, i] = P(Y=i | z)`` and ``q[z, j] = P(Ŷ=j | z)``. An *upper* bound on the
# expected gain ``E G[Y, Ŷ]`` comes from any dual α(z) by weak duality,
#
#     E G[Y, Ŷ] ≤ E[ Σ_i p_i(Z) α_i(Z) + max_i (G[i, Ŷ] − α_i(Z)) ],
#
# and a lower bound is minus the upper bound of −G.


def match_bounds(joint: FloatArray, p: FloatArray) -> tuple[float, float]:
    """Least and greatest P(Y = Ŷ) when joint[z, j] = P(Z=z, Ŷ=j) and p[z, i] = P(Y=i | z)."""
    cell = joint.sum(axis=1, keepdims=True)
    lower = np.maximum((joint + cell * p).max(axis=1) - cell[:, 0], 0.0).sum()
    upper = np.minimum(joint, cell * p).sum()
    return float(lower), float(upper)


def cell_bounds(joint: FloatArray, p: FloatArray, i: int, j: int) -> tuple[float, float]:
    """Least and greatest P(Y=i, Ŷ=j)."""
    cell = joint.sum(axis=1)
    lower = np.maximum(joint[:, j] + cell * p[:, i] - cell, 0.0).sum()
    upper = np.minimum(joint[:, j], cell * p[:, i]).sum()
    return float(lower), float(upper)


def worst_mean(alpha: FloatArray, p: FloatArray, slack: float) -> FloatArray:
    """Greatest Σ_i Q_i α_i over every Q within total variation ``slack`` of p (last axis)."""
    mean = np.sum(alpha * p, axis=-1)
    if slack <= 0:
        return np.asarray(mean)
    order = np.argsort(alpha, axis=-1)
    sorted_alpha = np.take_along_axis(alpha, order, axis=-1)
    mass = np.take_along_axis(np.broadcast_to(p, alpha.shape), order, axis=-1)
    before = np.cumsum(mass, axis=-1) - mass
    moved = np.clip(slack - before, 0.0, mass)  # mass leaves the lowest α for the highest
    gained = (sorted_alpha[..., -1:] - sorted_alpha) * moved
    return np.asarray(mean + gained.sum(axis=-1))


def dual_values(gain: FloatArray, alpha: FloatArray, p: FloatArray, slack: float) -> FloatArray:
    """Return the value of each (…, pattern, prediction): its mean is an upper bound of E G[Y, Ŷ].

    ``alpha`` is (…, pattern, truth) and the result (…, pattern, prediction).
    """
    best = np.full((*alpha.shape[:-1], gain.shape[1]), -np.inf)
    for i in range(gain.shape[0]):
        np.maximum(best, gain[i] - alpha[..., i, None], out=best)
    return np.asarray(best + worst_mean(alpha, p, slack)[..., None])


def _match_weights(gain: FloatArray, slack: float) -> FloatArray | None:
    """Return w if the gain is w_y·1[Y = Ŷ = y] with weights of one sign, or None.

    With a slack the closed forms need equal weights.
    """
    if gain.shape[0] != gain.shape[1]:
        return None
    weights = np.diag(gain)
    if not np.array_equal(gain, np.diag(weights)) or not weights.any():
        return None
    if (weights < 0).any() and (weights > 0).any():
        return None
    return None if slack > 0 and np.ptp(weights) > 0 else np.asarray(weights)


def best_duals(gain: FloatArray, q: FloatArray, p: FloatArray, slack: float = 0.0) -> FloatArray:
    """Return the α that gives the least upper bound if Ŷ given z has the distribution q.

    ``q`` is (…, pattern, prediction), p (pattern, truth); the result is (…, pattern, truth).
    """
    if gain.shape[0] == 2:
        return _binary_duals(gain, q, p, slack)
    if (weights := _match_weights(gain, slack)) is not None:
        matched = _match_duals if weights.max() > 0 else _mismatch_duals
        return np.asarray(np.abs(weights) * matched(q, p, slack))
    flat_q = q.reshape(-1, q.shape[-1])
    flat_p = np.broadcast_to(p, (*q.shape[:-1], p.shape[-1])).reshape(-1, p.shape[-1])
    alpha = _tightened(gain, transport_duals(gain, flat_q, flat_p, slack))
    return alpha.reshape(*q.shape[:-1], p.shape[-1])


def best_plans(gain: FloatArray, q: FloatArray, p: FloatArray) -> FloatArray:
    """Return the coupling of greatest gain for each pattern: (pattern, truth, prediction)."""
    if gain.shape != (2, 2):
        return transport_plans(gain, q, p)
    bend = gain[0, 0] - gain[0, 1] - gain[1, 0] + gain[1, 1]
    predicted, truth = q[:, 1], p[:, 1]
    both = np.minimum(predicted, truth) if bend > 0 else np.maximum(predicted + truth - 1.0, 0.0)
    rows = [[1.0 - predicted - truth + both, predicted - both], [truth - both, both]]
    return np.moveaxis(np.array(rows), -1, 0)


def _tightened(gain: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return ``max_j (gain[i, j] − β_j)`` with ``β_j = max_i (gain[i, j] − α_i)``.

    It is nowhere above α and has the same β, so no bound gets looser; and no two of its entries
    are further apart than two gains, so an item's value lies within twice the range of the gain.
    """
    beta = np.max(gain[None] - alpha[:, :, None], axis=1)
    return np.asarray(np.max(gain[None] - beta[:, None, :], axis=2))


def _binary_duals(gain: FloatArray, q: FloatArray, p: FloatArray, slack: float) -> FloatArray:
    """Two true classes: with α = (0, a) the bound is piecewise linear in a: a kink is best."""
    best = np.full(q.shape[:-1], np.inf)
    chosen = np.zeros(q.shape[:-1])
    kinks = gain[1] - gain[0] if slack <= 0 else np.append(gain[1] - gain[0], 0.0)
    for a in np.unique(kinks):
        by_truth = a * np.clip(p[:, 1] + (slack if a > 0 else -slack), 0.0, 1.0)
        by_prediction = q @ np.maximum(gain[0], gain[1] - a)
        better = by_truth + by_prediction < best
        best = np.where(better, by_truth + by_prediction, best)
        chosen = np.where(better, a, chosen)
    return np.stack([np.zeros_like(chosen), chosen], axis=-1)


def best_matches(gain: FloatArray, q: FloatArray, p: FloatArray) -> FloatArray:
    """Return P(Y = Ŷ = y | z) at the coupling of greatest gain: (pattern, class).

    All classes can match as often as their margins allow at once; and at most one has to match.
    """
    if (weights := _match_weights(gain, 0.0)) is None:
        plans = best_plans(gain, q, p)
        return np.asarray(np.diagonal(plans, axis1=1, axis2=2))
    if weights.max() > 0:
        return np.asarray(np.minimum(q, p))
    return np.asarray(np.maximum(q + p - 1.0, 0.0))


def _match_duals(q: FloatArray, p: FloatArray, slack: float) -> FloatArray:
    """Upper bound of P(Y = Ŷ): α is 0 on S = {y: q_y < p_y} and 1 elsewhere.

    With weights w_y both are multiplied by them.
    """
    outside = q >= p
    if slack > 0:
        useless = np.minimum(q, p).sum(axis=-1) + slack >= 1.0
        outside = outside & ~useless[..., None]
    return outside.astype(np.float64)


def _mismatch_duals(q: FloatArray, p: FloatArray, slack: float) -> FloatArray:
    """Lower bound of P(Y = Ŷ): α is −1 at y* = argmax(q + p) if q + p exceeds 1 there."""
    total = q + p
    best = total.argmax(axis=-1)
    use = total.max(axis=-1) > 1.0 + slack
    alpha = np.zeros(total.shape)
    np.put_along_axis(alpha, best[..., None], -1.0 * use[..., None], axis=-1)
    return alpha


def warm() -> None:
    """Solve one small transport problem each way."""
    even = np.full((1, 3), 1 / 3)
    transport_duals(np.eye(3), even, even, 0.0)
    transport_plans(np.eye(3), even, even)


# --- Small transport problems, many at a time: the dual that bounds an expected gain, the coupling.

_ROWS_PER_THREAD = 200  # about a millisecond of work, ten times what starting a thread takes


def transport_duals(
    gain: FloatArray, predicted: FloatArray, truth: FloatArray, slack: float
) -> FloatArray:
    """Return the dual α of ``max Σ gain[i, j]·π[i, j]`` for each row of margins.

    π couples a truth with distribution ``truth[r]``, or any within total variation ``slack`` of
    it, and a prediction with distribution ``predicted[r]``. Solved exactly by successive shortest
    paths on a graph of a few nodes.

    Parameters
    ----------
    gain : array (k, j)
    predicted : array (r, j)
    truth : array (r, k)
    slack : float
    """
    # Compiled on first use: numba is too heavy to import with the package.
    from karat.bounds._transport_loops import solve_transports

    g, q, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (gain, predicted, truth))
    duals = np.empty(p.shape)
    _in_threads(len(p), lambda at: solve_transports(g, q[at], p[at], float(slack), duals[at]))
    return duals


def transport_plans(gain: FloatArray, predicted: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the π of ``max Σ gain[i, j]·π[i, j]`` for each row of margins, (r, k, j)."""
    from karat.bounds._transport_loops import solve_plans

    g, q, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (gain, predicted, truth))
    plans = np.empty((len(p), *g.shape))
    _in_threads(len(p), lambda at: solve_plans(g, q[at], p[at], plans[at]))
    return plans


def _in_threads(rows: int, solve: Callable[[slice], None]) -> None:
    """Solve all rows, in as many threads as there are processors and work for them.

    The threads live as long as the call. Those of numba's own parallel loops outlive it, and a
    process forked after that waits for them forever.
    """
    threads = min(_processors(), rows // _ROWS_PER_THREAD)
    if threads < 2:
        solve(slice(0, rows))
        return
    edges = np.linspace(0, rows, threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(solve, map(slice, edges[:-1], edges[1:])))


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
