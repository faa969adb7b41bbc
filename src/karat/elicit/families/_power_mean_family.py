"""Power means of the recalls, and the linear metrics that agree with them at their optimum."""

import numpy as np
from scipy.special import ndtri

from karat._typing import FloatArray
from karat.decisions import Attainable, maximise
from karat.elicit.families._family import NAME, UnsignedFamily, mean_direction
from karat.elicit.spaces import Space
from karat.metrics import LinearMetric, PowerMeanMetric
from karat.metrics.families import power_mean, power_mean_slopes
from karat.metrics.wording import class_name

__all__ = ["PowerMeanFamily"]

# ρ by a half-normal number: 1 for a fifth of all people and 0 for a quarter, the means that have a
# name; a fifth in between, and the others below 0.
_PLACES = np.append(ndtri(0.5 + np.array([0.2, 0.4, 0.65]) / 2), 10.0)
_POWERS = np.array([1.0, 0.0, 0.0, -1.5 * (10.0 - _PLACES[2])])
_LEAST_RECALL = 1e-9  # a class that is never recognised at the optimum has a finite slope
_TOL = 1e-6  # the gap to which the optimum is found


class PowerMeanFamily(UnsignedFamily):
    """Weighted power means of the recalls: ``(Σ a_i r_i^ρ)^(1/ρ)``, monotone and quasiconcave.

    ρ = 1 is a weighted mean, ρ = 0 a weighted geometric mean, ρ → −∞ the worst class. A priori the
    direction of the weights is uniform, and a fifth of all people have ρ = 1, a quarter ρ = 0.
    """

    def __init__(self, space: Space, *, flipped: bool = False) -> None:
        self.space = space
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return self.space.dim + 1

    @property
    def names(self) -> tuple[str, ...]:
        found = (f"finding {class_name(c)}" for c in self.space.classes.tolist())
        return (*found, "power of the mean (1 arithmetic, 0 geometric, −1 harmonic)")

    def _parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        dim = self.space.dim
        weight = parameters[..., :dim] / parameters[..., :dim].sum(axis=-1, keepdims=True)
        return weight, self.powers(parameters[..., dim])

    def powers(self, numbers: FloatArray) -> FloatArray:
        """Return the powers ρ that half-normal numbers stand for."""
        return np.asarray(np.interp(numbers, _PLACES, _POWERS))

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        weight, power = self._parts(parameters)
        recall = np.clip(points / self.space.top, 0.0, 1.0)
        return power_mean(recall[None], weight[:, None], power[:, None])

    def weights(self, parameters: FloatArray) -> FloatArray:
        weight, power = self._parts(parameters)
        return np.concatenate([self.turn * weight, power[..., None]], axis=-1)

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        dim = self.space.dim
        return np.append(mean_direction(parameters[:, :dim], shares), shares @ parameters[:, dim])

    def metric(self, parameters: FloatArray) -> PowerMeanMetric:
        weight, power = self._parts(parameters)
        return PowerMeanMetric(weight, float(power), decreasing=self.turn < 0, name=NAME)

    def tangent(self, parameters: FloatArray) -> LinearMetric:
        """Return the linear metric with the slope of a power mean at its best classifier."""
        weight, power = self._parts(parameters)
        upward = PowerMeanMetric(weight, float(power))
        best = maximise(upward, Attainable([self.space.population]), tol=_TOL).confusion
        recall = np.clip(self.space.coordinates(best) / self.space.top, _LEAST_RECALL, 1.0)
        slope = power_mean_slopes(recall, weight, float(power)) / self.space.top
        return self.space.linear_metric(self.turn * slope / slope.sum(), NAME)
