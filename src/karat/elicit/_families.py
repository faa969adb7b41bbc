"""Families of metrics as a prior: what an unknown metric may be, and whom it prefers.

Parameters are vectors in which each entry is half-normal (or normal, where it may be negative),
independently; a family reads a metric from them. Directions are then uniform over the sphere, or
its positive orthant.
"""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Protocol

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.elicit._space import Space
from karat.metrics import MetricBase

__all__ = ["Arena", "Elasticity", "Family", "Linear", "Ratio", "unit"]


NAME = "elicited metric"
TINY = 1e-100  # added to what may be 0 before `unit`: its square is still above 0


class Arena(Protocol):
    """Where questions are asked: confusions, of groups perhaps, and the coordinates of each."""

    @property
    def dim(self) -> int:
        """Number of coordinates."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each coordinate is, in words."""

    @property
    def guess(self) -> FloatArray:
        """The confusion of guessing each class with equal probability."""

    def coordinates(self, confusions: FloatArray) -> FloatArray:
        """Return the coordinates (..., dim) of confusions."""

    def sample(self, n: int, *, rng: int | np.random.Generator | None = None) -> FloatArray:
        """Draw confusions of classifiers that are best for random linear metrics."""


class Family(Protocol):
    """A family of metrics over the coordinates of a space."""

    @property
    def space(self) -> Arena:
        """Where its metrics have values."""

    @property
    def size(self) -> int:
        """Number of parameters."""

    @property
    def signed(self) -> BoolArray:
        """Which parameters may be negative; they are normal, the others half-normal."""

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        """Return the utility of each point for each metric: (n, points)."""

    def weights(self, parameters: FloatArray) -> FloatArray:
        """Return the weights that are reported: (n, w)."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each weight is, in words."""

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the parameters of the metric in the middle of weighted ones."""

    def metric(self, parameters: FloatArray) -> MetricBase:
        """Return the metric of one vector of parameters."""


def unit(vectors: FloatArray) -> FloatArray:
    """Scale vectors (..., q) to length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def _middle(directions: FloatArray, shares: FloatArray) -> FloatArray:
    return unit(shares @ unit(directions))


class _Unsigned(ABC):
    """Families in which no parameter is negative."""

    @property
    @abstractmethod
    def size(self) -> int: ...

    @property
    def signed(self) -> BoolArray:
        return np.zeros(self.size, dtype=bool)


class Linear(_Unsigned):
    """``±⟨a, c⟩``: every coordinate has a gain (or a cost), of any size but of the known sign.

    ``flipped`` turns the metric round (Appendix A.4): the answers are then swapped before they
    reach the family, so that only what is reported changes.
    """

    def __init__(self, space: Space, *, norm: int = 2, flipped: bool = False) -> None:
        self.space = space
        self.norm = norm
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return self.space.dim

    @property
    def names(self) -> tuple[str, ...]:
        return self.space.names

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        return np.asarray(self.space.sign * (unit(parameters) @ points.T))

    def weights(self, parameters: FloatArray) -> FloatArray:
        scale = np.linalg.norm(parameters, ord=self.norm, axis=-1, keepdims=True)
        return np.asarray(self.turn * parameters / scale)

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        return _middle(parameters, shares)

    def metric(self, parameters: FloatArray) -> MetricBase:
        return self.space.linear_metric(self.weights(parameters), NAME)


class Ratio(_Unsigned):
    """``N / (N + M)`` with ``N = ⟨p, c⟩`` and ``M = ⟨u, top − c⟩``, p and u at least 0.

    With ``q = p − u`` these are the linear-fractional metrics of Assumptions 3.2, 4.3 and 4.4, but
    for the scale of u against p, which changes no preference.
    """

    def __init__(self, space: Space, *, flipped: bool = False) -> None:
        self.space = space
        self.turn = -1.0 if flipped else 1.0

    @property
    def size(self) -> int:
        return 2 * self.space.dim

    @property
    def names(self) -> tuple[str, ...]:
        parts = ("above", "below") if self.space.sign > 0 else ("error", "avoided")
        return tuple(f"{name} ({part})" for part in parts for name in self.space.names)

    def _parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        dim = self.space.dim
        return unit(parameters[..., :dim]), unit(parameters[..., dim:])

    def values(self, parameters: FloatArray, points: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        above = good @ points.T
        below = bad @ (self.space.top - points).T
        return np.asarray(self.space.sign * above / (above + below + 1e-300))

    def weights(self, parameters: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        total = good.sum(axis=-1, keepdims=True)
        below = bad / bad.sum(axis=-1, keepdims=True)
        return np.concatenate([good / total, below], axis=-1)

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        good, bad = self._parts(parameters)
        return np.concatenate([unit(shares @ good), unit(shares @ bad)])

    def metric(self, parameters: FloatArray) -> MetricBase:
        good, bad = self._parts(parameters)
        return self.space.ratio_metric(good, bad, NAME, turned=self.turn < 0)


class Elasticity(_Unsigned):
    """Weighted power means of the recalls: ``(Σ a_i r_i^ρ)^(1/ρ)``, monotone and quasiconcave.

    ρ = 1 is weighted accuracy, ρ → 0 a weighted geometric mean, ρ → −∞ the worst class. What is
    reported is the linear metric that agrees with it at its own optimum (section 4.4.3).
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
        power = np.where(np.abs(power) < 1e-3, 1e-3, power)[:, None, None]
        recall = np.log(np.clip(points / self.space.top, 1e-4, None))
        scaled = power * recall[None] + np.log(weight + 1e-300)[:, None, :]
        top = scaled.max(axis=-1, keepdims=True)
        total = top[..., 0] + np.log(np.exp(scaled - top).sum(axis=-1))
        return np.asarray(total / power[..., 0])

    def slope(self, parameters: FloatArray, point: FloatArray) -> FloatArray:
        """Return the gradient of each metric at a point of its own, summing to 1."""
        weight, power = self._parts(parameters)
        recall = np.clip(point / self.space.top, 1e-4, None)
        slope = weight * recall ** (power[:, None] - 1.0) / self.space.top
        return np.asarray(slope / slope.sum(axis=1, keepdims=True))

    def weights(self, parameters: FloatArray) -> FloatArray:
        return self.turn * self._optimal_slopes(np.atleast_2d(parameters)).reshape(
            *parameters.shape[:-1], self.space.dim
        )

    @cached_property
    def _optimal_points(self) -> FloatArray:
        """Points of the upper boundary, dense enough to find an optimum on."""
        confusions = self.space.sample(4000, rng=np.random.default_rng(0))
        return np.unique(np.round(self.space.coordinates(confusions), 12), axis=0)

    def _optimal_slopes(self, parameters: FloatArray, steps: int = 200) -> FloatArray:
        """Return each metric's gradient at its own optimum, found by Frank–Wolfe steps."""
        vertices = self._optimal_points
        point = np.repeat(self.space.center[None], len(parameters), axis=0)
        slope = self.slope(parameters, point)
        for step in range(steps):
            best = vertices[np.argmax(slope @ vertices.T, axis=1)]
            point = point + (best - point) * 2.0 / (step + 2.0)
            slope = self.slope(parameters, point)
        return slope

    def mean(self, parameters: FloatArray, shares: FloatArray) -> FloatArray:
        dim = self.space.dim
        return np.append(_middle(parameters[:, :dim], shares), shares @ parameters[:, dim])

    def metric(self, parameters: FloatArray) -> MetricBase:
        return self.space.linear_metric(self.weights(parameters), NAME)
