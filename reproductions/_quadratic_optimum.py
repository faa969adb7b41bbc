"""The best rates of a quadratic metric: Hiranandani 2021, Corollary D.2."""

from itertools import product

import numpy as np
from _drawn_metrics import Array

from karat.metrics import QuadraticMetric

__all__ = ["best_rates", "regret", "regret_bound"]

_STARTS = 300
_STEPS = 200


def best_rates(metric: QuadraticMetric, k: int) -> Array:
    """Return the rates (q,) of greatest value that are found.

    What is attained is a product of k simplices: the rates of each true class sum to 1 at most. A
    quadratic may have many maxima among neighbours, so Frank–Wolfe starts from corners all over.
    """
    q = k * k - k
    corners = np.array(list(product(range(k), repeat=k)))
    rng = np.random.default_rng(0)
    corners = corners[rng.permutation(len(corners))[:_STARTS]]
    rates = np.vstack([_corner(corners, k), np.full((1, q), 1.0 / k), rng.dirichlet(
        np.ones(k), size=(_STARTS // 4, k))[..., 1:].reshape(-1, q)])  # fmt: skip
    for _ in range(_STEPS):
        slope = (metric.linear + rates @ metric.quadratic).reshape(len(rates), k, k - 1)
        # Of each true class the error that gains most, or none.
        chosen = np.where(slope.max(axis=2) > 0, slope.argmax(axis=2) + 1, 0)
        way = _corner(chosen, k) - rates
        rise = (slope.reshape(rates.shape) * way).sum(axis=1)
        bend = (way @ metric.quadratic * way).sum(axis=1)
        step = np.where(bend < 0, np.minimum(1.0, rise / np.maximum(-bend, 1e-300)), 1.0)
        rates = rates + step[:, None] * way
    return np.asarray(rates[int(np.argmax(_values(metric, rates)))])


def regret(found: QuadraticMetric, truth: QuadraticMetric, k: int) -> float:
    """Return by how much the truth falls short where an elicited metric is greatest."""
    ours, best = (best_rates(metric, k) for metric in (found, truth))
    values = _values(truth, np.stack([ours, best]))
    return float(values.max() - values[0])


def regret_bound(found: QuadraticMetric, truth: QuadraticMetric) -> float:
    """Return 2(‖a − â‖√q + ½‖B − B̂‖q), the bound of equations D.33 and D.34."""
    q = len(truth.linear)
    linear = np.linalg.norm(found.linear - truth.linear)
    bend = np.linalg.norm(found.quadratic - truth.quadratic)
    return float(2 * (linear * np.sqrt(q) + bend * q / 2))


def _corner(chosen: Array, k: int) -> Array:
    """Return the rates (n, q) of predicting class j for each true class i: chosen (n, k).

    0 is to be right, 1 to k − 1 are the errors in their order.
    """
    table = np.eye(k)[chosen]  # (n, k, k)
    return table[:, :, 1:].reshape(len(chosen), -1)


def _values(metric: QuadraticMetric, rates: Array) -> Array:
    return np.asarray(rates @ metric.linear + (rates @ metric.quadratic * rates).sum(axis=1) / 2)
