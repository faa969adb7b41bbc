"""The maps that a calibrator mixes, each fitted to labels, probabilities and weights of rows."""

from typing import NamedTuple, Protocol

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.calibration.maps._logistic import logistic_weights, logits
from karat.calibration.models import Model, WeightedFit

__all__ = ["PARTS", "Map", "Rows", "fit_parts", "fit_platt", "fit_stack", "fit_temperature"]

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

    def taken(self, keep: BoolArray) -> "Rows":
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
