"""Fitting a linear scorer to a surrogate, on checked arrays."""

from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.ranking.learning._surrogate import surrogate
from karat.ranking.weights import Weight

__all__ = ["Goal", "LinearFit", "best_threshold", "fit_linear", "likelihood_share", "scales"]

_RATIO = 1.0 / 3.0  # of the ranking to the log-loss, where there are rows enough for a ranking
_ROWS_PER_COLUMN = 10.0  # that are enough; see `likelihood_share`
_MEMORY = 20  # corrections kept by L-BFGS; more of them help on corners, and cost little


class LinearFit(NamedTuple):
    """Coefficients, the objective there, and how the search ended."""

    coef: FloatArray
    objective: float
    n_iter: int
    capped: bool


class Goal(NamedTuple):
    """What a linear scorer is fitted to."""

    weight: Weight
    loss: str
    margin: float
    likelihood: float
    c: float


def fit_linear(
    x: FloatArray,
    positive: BoolArray,
    mass: FloatArray,
    start: FloatArray,
    goal: Goal,
    *,
    max_iter: int,
    tol: float,
) -> LinearFit:
    """Minimise ``(1 − λ)·surrogate + λ·log-loss + ‖w‖² / (2·C·n)`` over (w, b) by L-BFGS."""
    from scipy.optimize import minimize

    order = np.argsort(~positive, kind="stable")  # positives first
    rows, n1 = x[order], int(positive.sum())
    masses = mass[order]
    penalty = 1.0 / (goal.c * mass.sum())

    def objective(wb: FloatArray) -> tuple[float, FloatArray]:
        w, scores = wb[:-1], rows @ wb[:-1]
        ranked, by_score = _ranking_part(scores, n1, masses, goal)
        loss, slope = _log_loss(scores + wb[-1], n1, masses)
        pull = (1 - goal.likelihood) * by_score + goal.likelihood * slope
        gradient = np.append(pull @ rows + penalty * w, goal.likelihood * slope.sum())
        value = (1 - goal.likelihood) * ranked + goal.likelihood * loss
        return value + penalty * float(w @ w) / 2, gradient

    options: dict[str, float] = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": _MEMORY}
    # A corner, where two negatives change ranks, can have a descent but no small gradient; the
    # second criterion ends the search there.
    options |= {"gtol": tol, "ftol": tol**2}
    end = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return LinearFit(end.x[:-1], float(end.fun), int(end.nit), end.status == 1)


def _ranking_part(
    scores: FloatArray, n1: int, mass: FloatArray, goal: Goal
) -> tuple[float, FloatArray]:
    s = scores / goal.margin
    found = surrogate(
        s[:n1],
        s[n1:],
        goal.weight,
        loss=goal.loss,
        mass_positive=mass[:n1],
        mass_negative=mass[n1:],
    )
    return found.value, np.concatenate([found.positive, found.negative]) / goal.margin


def _log_loss(logits: FloatArray, n1: int, mass: FloatArray) -> tuple[float, FloatArray]:
    from scipy.special import expit

    sign = np.where(np.arange(len(logits)) < n1, -1.0, 1.0)
    share = mass / mass.sum()
    return float(share @ np.logaddexp(0.0, sign * logits)), share * sign * expit(sign * logits)


def likelihood_share(
    positive: BoolArray, mass: FloatArray, weight: Weight, n_columns: int
) -> float:
    """Return λ: 3/4, and nearer to 1 where the weight looks at few rows for each column.

    The rows it looks at are the fewer of the positives and of the negatives under the weight,
    ``n₀·‖W‖₁/‖W‖_∞``; ten for each column are enough (the rule of thumb for regressions on events:
    P. Peduzzi and others, Journal of Clinical Epidemiology 49, 1996).
    """
    seen = min(mass[positive].sum(), mass[~positive].sum() * weight.area / weight.sup)
    enough = min(1.0, float(seen) / (_ROWS_PER_COLUMN * n_columns))
    return 1.0 / (1.0 + _RATIO * enough)


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
