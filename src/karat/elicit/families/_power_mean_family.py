"""Power means of the recalls, and the linear metrics that agree with them at their optimum."""

from functools import cached_property

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families._family import NAME, UnsignedFamily, mean_direction
from karat.elicit.spaces import Space
from karat.metrics import MetricBase

__all__ = ["PowerMeanFamily"]

_LEAST_POWER = 1e-3  # of ρ: the power mean is continuous at 0, its formula is not
_LEAST_RECALL = 1e-4  # a class that is never recognised has a finite logarithm
_VERTICES = 4000  # extreme points that the optimum is searched on
_STEPS = 200  # Frank–Wolfe steps to the optimum


class PowerMeanFamily(UnsignedFamily):
    """Weighted power means of the recalls: ``(Σ a_i r_i^ρ)^(1/ρ)``, monotone and quasiconcave.

    ρ = 1 is weighted accuracy, ρ → 0 a weighted geometric mean, ρ → −∞ the worst class. What is
    reported is the linear metric that agrees with it at its own optimum (Hiranandani 2021, section
    4.4.3).
    """

    def __init__(self, space: Space, *, flipped: bool = False) -> None:
        self.space = space
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return self.space.dim + 1

    @property
    def names(self) -> tuple[str, ...]:
        return self.space.names

    def _parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        dim = self.space.dim
        weight = parameters[..., :dim] / parameters[..., :dim].sum(axis=-1, keepdims=True)
        return weight, 1.0 - 1.5 * parameters[..., dim]  # ρ at most 1, with median 0

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        weight, power = self._parts(parameters)
        power = np.where(np.abs(power) < _LEAST_POWER, _LEAST_POWER, power)[:, None, None]
        recall = np.log(np.clip(points / self.space.top, _LEAST_RECALL, None))
        scaled = power * recall[None] + np.log(weight + 1e-300)[:, None, :]
        top = scaled.max(axis=-1, keepdims=True)
        total = top[..., 0] + np.log(np.exp(scaled - top).sum(axis=-1))
        return np.asarray(total / power[..., 0])

    def slope(self, parameters: FloatArray, point: FloatArray) -> FloatArray:
        """Return the gradient of each metric at a point of its own, summing to 1."""
        weight, power = self._parts(parameters)
        recall = np.clip(point / self.space.top, _LEAST_RECALL, None)
        slope = weight * recall ** (power[:, None] - 1.0) / self.space.top
        return np.asarray(slope / slope.sum(axis=1, keepdims=True))

    def weights(self, parameters: FloatArray) -> FloatArray:
        return self.turn * self._optimal_slopes(np.atleast_2d(parameters)).reshape(
            *parameters.shape[:-1], self.space.dim
        )

    @cached_property
    def _optimal_points(self) -> FloatArray:
        """Points of the upper boundary, dense enough to find an optimum on."""
        confusions = self.space.sample(_VERTICES, rng=np.random.default_rng(0))
        return np.unique(np.round(self.space.coordinates(confusions), 12), axis=0)

    def _optimal_slopes(self, parameters: FloatArray) -> FloatArray:
        """Return each metric's gradient at its own optimum, found by Frank–Wolfe steps."""
        vertices = self._optimal_points
        point = np.repeat(self.space.center[None], len(parameters), axis=0)
        slope = self.slope(parameters, point)
        for step in range(_STEPS):
            best = vertices[np.argmax(slope @ vertices.T, axis=1)]
            point = point + (best - point) * 2.0 / (step + 2.0)
            slope = self.slope(parameters, point)
        return slope

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        dim = self.space.dim
        return np.append(mean_direction(parameters[:, :dim], shares), shares @ parameters[:, dim])

    def metric(self, parameters: FloatArray) -> MetricBase:
        return self.space.linear_metric(self.weights(parameters), NAME)
