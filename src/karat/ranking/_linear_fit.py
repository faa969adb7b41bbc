"""Fitting a linear scorer to a surrogate, on checked arrays."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from karat._typing import BoolArray, FloatArray
from karat.ranking._surrogate import surrogate
from karat.ranking._weight import Weight

__all__ = ["LinearFit", "best_threshold", "fit_linear", "scales"]

_MEMORY = 20  # corrections kept by L-BFGS; more of them help on corners, and cost little


class LinearFit(NamedTuple):
    """Coefficients, the objective there, and how the search ended."""

    coef: FloatArray
    objective: float
    n_iter: int
    capped: bool


def fit_linear(
    x: FloatArray,
    positive: BoolArray,
    mass: FloatArray,
    start: FloatArray,
    weight: Weight,
    *,
    loss: str,
    c: float,
    max_iter: int,
    tol: float,
) -> LinearFit:
    """Minimise the surrogate of ``x @ w`` plus ``‖w‖² / (2·C·n)`` by L-BFGS, from ``start``."""
    ones, zeros = x[positive], x[~positive]
    masses = {"mass_positive": mass[positive], "mass_negative": mass[~positive]}
    penalty = 1.0 / (c * mass.sum())

    def objective(w: FloatArray) -> tuple[float, FloatArray]:
        found = surrogate(ones @ w, zeros @ w, weight, loss=loss, **masses)
        gradient = found.positive @ ones + found.negative @ zeros + penalty * w
        return found.value + penalty * float(w @ w) / 2, gradient

    options: dict[str, float] = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": _MEMORY}
    # A corner, where two negatives change ranks, can have a descent but no small gradient; the
    # second criterion ends the search there.
    options |= {"gtol": tol, "ftol": tol**2}
    end = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return LinearFit(end.x, float(end.fun), int(end.nit), end.status == 1)


def scales(x: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of each column, 1 for a constant one."""
    share = mass / mass.sum()
    mean = share @ x
    deviation = np.sqrt(share @ (x - mean) ** 2)
    # A mean has a rounding error, which must not be taken for a deviation.
    constant = deviation <= 10 * np.finfo(float).eps * np.abs(mean)
    return mean, np.where(constant | (deviation == 0), 1.0, deviation)


def best_threshold(scores: FloatArray, positive: BoolArray, mass: FloatArray) -> float:
    """Return the threshold above which calling rows positive is right most often.

    It lies half-way between two scores; of equally good ones it is the lowest.
    """
    values, group = np.unique(scores, return_inverse=True)
    gained = np.bincount(group, np.where(positive, -mass, mass))
    right = np.concatenate([[0.0], np.cumsum(gained)])  # as the lowest scores turn negative
    cut = int(np.argmax(right))
    if cut in (0, len(values)):
        return float(values[0] - 1.0 if cut == 0 else values[-1] + 1.0)
    return float(values[cut - 1] + values[cut]) / 2
