"""The law of people, ``z_i ~ N(μ, τ²)`` with one τ for each part, and draws of μ and τ."""

import numpy as np

from karat._typing import FloatArray
from karat.elicit.people._chart import Chart
from karat.elicit.people.loops import LawArrays

__all__ = ["Law"]

# log τ is normal around log ½, in units of the part: the factor between people is 1.1 to 11 in
# 95 % of groups. A prior that reaches 0, where all are equal, has a funnel that chains get lost in.
_MIDDLE, _WIDTH = np.log(0.5), 0.8


class Law:
    """Densities and draws, for arrays whose first axis is the chains."""

    def __init__(self, chart: Chart, people: int, rng: np.random.Generator) -> None:
        self.chart, self.people, self.rng = chart, people, rng
        self.sizes = np.array([part.size for part in chart.parts])
        self._starts = np.cumsum([0, *self.sizes[:-1]])

    @property
    def arrays(self) -> LawArrays:
        """The parts and the prior, for compiled loops."""
        chart = self.chart
        return LawArrays(
            chart.of, self.sizes, chart.center_scale, chart.spread_scale, float(_MIDDLE), _WIDTH
        )

    def draw(self, chains: int) -> tuple[FloatArray, FloatArray]:
        """Draw μ (chains, dim) and τ (chains, parts) from their prior."""
        center = self.rng.normal(size=(chains, self.chart.dim)) * self.chart.center_scale
        wide = self.rng.normal(size=(chains, len(self.sizes)))
        return center, self.chart.spread_scale * np.exp(_MIDDLE + _WIDTH * wide)

    def log_prior(self, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the log-density (chains,) of μ and log τ a priori."""
        shared = np.sum((center / self.chart.center_scale) ** 2, axis=1)
        return np.asarray(-0.5 * shared + self._log_spread(spread).sum(axis=1))

    def _log_spread(self, spread: FloatArray) -> FloatArray:
        return np.asarray(
            -0.5 * ((np.log(spread / self.chart.spread_scale) - _MIDDLE) / _WIDTH) ** 2
        )

    def log_density(self, z: FloatArray, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the log-density (chains, ..) of coordinates (chains, .., dim) under μ and τ."""
        between = tuple(range(1, z.ndim - 1))
        scale = spread[:, self.chart.of]
        away = z / np.expand_dims(scale, between) - np.expand_dims(center / scale, between)
        added = np.expand_dims(np.log(spread) @ self.sizes, between)
        return np.asarray(-0.5 * np.einsum("...d,...d->...", away, away) - added)

    def draw_center(self, z: FloatArray, spread: FloatArray) -> FloatArray:
        """Draw μ (chains, dim) given people and τ."""
        variance = spread[:, self.chart.of] ** 2
        precision = self.people / variance + self.chart.center_scale**-2.0
        mean = z.sum(axis=1) / variance / precision
        return np.asarray(mean + self.rng.normal(size=mean.shape) / np.sqrt(precision))

    def draw_spread(self, z: FloatArray, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Draw τ given people and μ as if log τ were flat, and take it as its prior asks."""
        squares = ((z - center[:, None]) ** 2).sum(axis=1)
        away = np.add.reduceat(squares, self._starts, axis=1)
        shape = self.people * self.sizes / 2.0
        proposed = np.sqrt(0.5 * away / self.rng.gamma(shape, size=away.shape))
        change = self._log_spread(proposed) - self._log_spread(spread)
        return np.where(np.log(self.rng.random(change.shape)) < change, proposed, spread)

    def steps(
        self, center: FloatArray, spread: FloatArray, root: FloatArray, reach: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return μ and τ after a step of one part or of all, as probable as the step back.

        ``root`` is that of the covariance of (μ, log τ).
        """
        (chains, dim), n = center.shape, len(self.sizes)
        part = self.rng.integers(0, n + 1, size=(chains, 1))  # n for all of them
        chosen = (part == n) | (np.arange(n) == part)
        moved = np.concatenate([chosen[:, self.chart.of], chosen], axis=1)
        length = reach * self.rng.choice([0.3, 1.0, 2.0], size=(chains, 1))
        step = length * (self.rng.normal(size=(chains, dim + n)) @ root)
        step = np.where(moved, step / np.sqrt(moved.sum(axis=1, keepdims=True)), 0.0)
        return center + step[:, :dim], spread * np.exp(step[:, dim:])
