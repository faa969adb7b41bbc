"""Maps from probabilities to calibrated ones, and their convex mixture.

`fit_parts` fits five maps: one factor of all logits (temperature), a logistic regression of each
label on its own logit (Platt) or on all of them (stack), and a copula on top of the first two.
`fit_mixture` weighs them by their log-loss on rows that they were not fitted to.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.calibration.models import Model, WeightedFit, folds_of

_FOLDS = 5
_MIXTURE_STEPS = 500
_MIXTURE_TOLERANCE = 1e-7


class MixtureMap:
    """``Σ_m weight_m · map_m(h)``: between 0 and 1, and rows sum to 1 where those of the maps do.

    Attributes
    ----------
    weights : array
        Of the maps, in the order of `PARTS`; they sum to 1.
    """

    def __init__(self, maps: list[Map], weights: FloatArray) -> None:
        self.maps, self.weights = maps, weights

    def __call__(self, h: FloatArray) -> FloatArray:
        return np.asarray(sum(w * m(h) for w, m in zip(self.weights, self.maps, strict=True)))


def fit_mixture(rows: Rows, copula: WeightedFit, rng: np.random.Generator) -> MixtureMap:
    """Fit the maps to all rows, with weights from maps of four fifths on the fifth they lack."""
    fold = folds_of(len(rows.y), _FOLDS, rng)
    likely = np.empty((len(PARTS), *rows.y.shape))
    for k in range(_FOLDS):
        here = fold == k
        for m, part in enumerate(fit_parts(rows.taken(~here), copula)):
            likely[m, here] = part(rows.h[here])
    if rows.exclusive:
        right = (likely * rows.y).sum(axis=2)
        weights = mixture_weights(right, rows.weight)
    else:
        right = np.where(rows.y == 1, likely, 1 - likely).reshape(len(PARTS), -1)
        weights = mixture_weights(right, np.repeat(rows.weight, rows.y.shape[1]))
    return MixtureMap(fit_parts(rows, copula), weights)


def mixture_weights(right: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the weights of a mixture with the greatest likelihood, by EM.

    ``right[m, i]`` is the probability that map m gave to what happened. Each map counts one
    observation more than it earned, so that none is given up for good on few rows.
    """
    total = weight.sum() + len(right)
    found = np.full(len(right), 1 / len(right))
    for _ in range(_MIXTURE_STEPS):
        mixed = np.maximum(found @ right, 1e-300)
        then = (1 + found * (right @ (weight / mixed))) / total
        moved = float(np.abs(then - found).max())
        found = then / then.sum()
        if moved < _MIXTURE_TOLERANCE:
            break
    return found


# --- The maps that a calibrator mixes, each fitted to labels, probabilities and weights of rows.

PARTS = ("temperature", "Platt", "stack", "copula on temperature", "copula on Platt")
_PLATT, _STACK = 10.0, 0.1  # how much a row counts beside a ridge of 1 on the slopes
_HOT, _COLD = -3.0, 3.0  # logarithms of the least and the greatest factor of the logits


class Map(Protocol):
    """A map of probabilities (n, K) to probabilities (n, K)."""

    def __call__(self, h: FloatArray) -> FloatArray: ...


class Rows(NamedTuple):
    """Labels and probabilities to fit to.

    Attributes
    ----------
    y, h : array (n, K)
        Labels and probabilities.
    weight : array (n,)
        How many rows a row stands for.
    exclusive : bool
        Whether exactly one label of a row is 1, so that its probabilities sum to 1.
    """

    y: FloatArray
    h: FloatArray
    weight: FloatArray
    exclusive: bool

    def taken(self, keep: BoolArray) -> Rows:
        """Return some of the rows."""
        return Rows(self.y[keep], self.h[keep], self.weight[keep], self.exclusive)


class Temperature(NamedTuple):
    """One factor of all logits; of the logarithms, where one label of a row is right."""

    factor: float
    exclusive: bool

    def __call__(self, h: FloatArray) -> FloatArray:
        from scipy.special import expit, softmax

        if self.exclusive:
            return np.asarray(softmax(self.factor * np.log(np.maximum(h, 1e-6)), axis=1))
        return np.asarray(expit(self.factor * logits(h)))


class Logistic(NamedTuple):
    """``σ(a_j + b_jᵀ logits)`` with a slope on a label's own logit (K,), or on all (K, K)."""

    intercept: FloatArray
    slope: FloatArray
    exclusive: bool

    def __call__(self, h: FloatArray) -> FloatArray:
        from scipy.special import expit

        at = logits(h)
        at = at * self.slope if self.slope.ndim == 1 else at @ self.slope.T
        return _summing(np.asarray(expit(self.intercept + at)), self.exclusive)


class OnTop(NamedTuple):
    """A copula of the probabilities of another map, kept ``edge`` away from 0 and 1."""

    first: Map
    model: Model
    edge: float
    exclusive: bool

    def __call__(self, h: FloatArray) -> FloatArray:
        p = np.clip(self.model(self.first(h)), self.edge, 1 - self.edge)
        return _summing(p, self.exclusive)


def fit_parts(rows: Rows, copula: WeightedFit) -> list[Map]:
    """Fit every map; the order is that of `PARTS`."""
    temperature, platt = fit_temperature(rows), fit_platt(rows)
    return [
        temperature,
        platt,
        fit_stack(rows),
        _on_top(temperature, rows, copula),
        _on_top(platt, rows, copula),
    ]


def fit_temperature(rows: Rows) -> Temperature:
    """Fit the factor with the least log-loss."""
    from scipy.optimize import minimize_scalar

    def loss(log_factor: float) -> float:
        p = np.clip(
            Temperature(float(np.exp(log_factor)), rows.exclusive)(rows.h), 1e-12, 1 - 1e-12
        )
        each = rows.y * np.log(p)
        if not rows.exclusive:
            each += (1 - rows.y) * np.log1p(-p)
        return -float(rows.weight @ each.sum(axis=1))

    best = minimize_scalar(loss, bounds=(_HOT, _COLD), method="bounded", options={"xatol": 1e-6})
    return Temperature(float(np.exp(best.x)), rows.exclusive)


def fit_platt(rows: Rows) -> Logistic:
    """Fit a logistic regression of each label on its own logit."""
    at = logits(rows.h)
    found = [
        logistic_weights(at[:, [j]], label, rows.weight, _PLATT) for j, label in enumerate(rows.y.T)
    ]
    beta = np.array(found)
    return Logistic(beta[:, 0], beta[:, 1], rows.exclusive)


def fit_stack(rows: Rows) -> Logistic:
    """Fit a logistic regression of each label on the logits of all."""
    at = logits(rows.h)
    beta = np.array([logistic_weights(at, label, rows.weight, _STACK) for label in rows.y.T])
    return Logistic(beta[:, 0], beta[:, 1:], rows.exclusive)


def _on_top(first: Map, rows: Rows, copula: WeightedFit) -> OnTop:
    # A map by moments may reach 0 or 1, which so many rows cannot prove.
    edge = 0.5 / (float(rows.weight.sum()) + 1)
    return OnTop(first, copula(rows.y, first(rows.h), rows.weight), edge, rows.exclusive)


def _summing(p: FloatArray, exclusive: bool) -> FloatArray:
    """Return rows that sum to 1, where one label of a row is right."""
    return np.asarray(p / p.sum(axis=1, keepdims=True)) if exclusive else p


# --- Logistic regressions of labels on the logits of probabilities.

_EDGE = 1e-6  # nearer to 0 or 1 a probability is taken as this far
_STEPS = 50
_TOLERANCE = 1e-8


def logits(h: FloatArray) -> FloatArray:
    """Return ``log(h / (1 − h))``, finite."""
    from scipy.special import logit

    return np.asarray(logit(np.clip(h, _EDGE, 1 - _EDGE)))


def logistic_weights(x: FloatArray, y: FloatArray, weight: FloatArray, c: float) -> FloatArray:
    """Return intercept and slopes of a logistic regression, by Newton's method.

    They minimise ``‖slopes‖²/2 + c·Σ weight·log-loss``, which is scikit-learn's
    ``LogisticRegression(C=c)``. A label of one value alone has no finite intercept; it is given the
    frequency that half a row of the other value would leave.
    """
    share = float(weight @ y / weight.sum())
    beta = np.zeros(1 + x.shape[1])
    half = 0.5 / (weight.sum() + 1)
    beta[0] = np.log(max(share, half) / max(1 - share, half))
    if share in (0.0, 1.0):
        return beta
    design = np.column_stack([np.ones(len(x)), x])
    penalty = np.append(0.0, np.full(x.shape[1], 1 / c))
    now = _objective(design, y, weight, penalty, beta)
    for _ in range(_STEPS):
        step = _newton_step(design, y, weight, penalty, beta)
        size = 1.0
        while (then := _objective(design, y, weight, penalty, beta + size * step)) > now + 1e-12:
            size /= 2
            if size < 1e-6:
                return beta
        beta, now = beta + size * step, then
        if np.abs(step).max() < _TOLERANCE:
            break
    return beta


def _objective(
    x: FloatArray, y: FloatArray, weight: FloatArray, penalty: FloatArray, beta: FloatArray
) -> float:
    at = x @ beta
    return float(weight @ (np.logaddexp(0.0, at) - y * at) + penalty @ beta**2 / 2)


def _newton_step(
    x: FloatArray, y: FloatArray, weight: FloatArray, penalty: FloatArray, beta: FloatArray
) -> FloatArray:
    from scipy.special import expit

    p = expit(x @ beta)
    slope = x.T @ (weight * (y - p)) - penalty * beta
    curve = (x * (weight * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
    curve[0, 0] += 1e-10  # where every probability is 0 or 1
    return np.asarray(np.linalg.solve(curve, slope))
