"""Several people: a sampler of the law they follow, and of the metric and noise of each.

Person i has the coordinates ``z_i ~ N(μ, τ²)``, with one τ for each part of the chart, and answers
with a noise of their own: slope, lapse rate and ties, as in the choice model. Each sweep moves

- every person by a step of the shape of what is known of them, or by a fresh draw from the law,
- μ and τ given the people, from their conditionals (the centred moves), and
- μ, τ and all people at once with ``(z − μ)/τ`` held (the non-centred moves),

so that neither well-known people nor unknown ones hold the law in place (Yu and Meng 2011). Steps
adapt before draws are kept, and are then left as they are.
"""

from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.elicit.people._chart import Chart
from karat.elicit.people._steps import Steps, people_shapes, root_of
from karat.elicit.posterior import N_NOISE, log_likelihood, read_noise

__all__ = ["PeopleChains", "PeopleDraws", "Person"]

_SEGMENTS = (0.15, 0.35, 0.6, 1.0)  # of the warm-up: after each, shapes are fitted anew
_FRESH = 0.3  # share of moves of the noise that draw it anew


class Person(NamedTuple):
    """Both sides (t, q) of every pair that someone answered, the signs of the answers, and the
    difference that metrics typically see between two classifiers.
    """

    first: FloatArray
    second: FloatArray
    signs: FloatArray  # 1 for the first, −1 for the second, 0 for a tie
    typical: float


class PeopleDraws(NamedTuple):
    """Draws of μ (chains, draws, dim), τ (chains, draws, parts) and z (.., people, dim)."""

    center: FloatArray
    spread: FloatArray
    each: FloatArray


class PeopleChains:
    """Metropolis within Gibbs, for all people and chains at once."""

    def __init__(
        self, chart: Chart, people: list[Person], rng: np.random.Generator, *, chains: int
    ) -> None:
        self.chart, self.rng = chart, rng
        self.points = [np.vstack([person.first, person.second]) for person in people]
        self.signs = np.full((len(people), max(len(p.signs) for p in people)), np.nan)
        for signs, person in zip(self.signs, people, strict=True):
            signs[: len(person.signs)] = person.signs
        self.typical = np.array([person.typical for person in people])
        shape = (chains, len(people), chart.dim)
        # Started wider apart than the prior's middle half: chains that agree have forgotten this.
        self.center = rng.normal(size=(chains, chart.dim)) * chart.center_scale
        size = (chains, len(chart.parts))
        self.spread = chart.spread_scale * np.exp(rng.normal(scale=0.7, size=size)) / 2
        self.z = self.center[:, None] + self._scale[:, None] * rng.normal(size=shape)
        self.noise = rng.random((*shape[:2], N_NOISE))
        self.steps = Steps.first(chart, len(people))
        self.current = self._likelihoods(self.z, self.noise)

    @property
    def _scale(self) -> FloatArray:
        """τ of every coordinate (chains, dim)."""
        return np.asarray(self.spread[:, self.chart.of])

    def _likelihoods(self, z: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the log-likelihood (chains, people) of each chain's version of each person."""
        chains, people = z.shape[:2]
        parameters = self.chart.parameters(z.reshape(chains * people, -1))
        parameters = parameters.reshape(chains, people, -1)
        margins = np.zeros((chains, *self.signs.shape))
        for i, points in enumerate(self.points):
            values, half = self.chart.family.values(parameters[:, i], points), len(points) // 2
            margins[:, i, :half] = values[:, :half] - values[:, half:]
        flat = margins.reshape(chains * people, -1)
        signs = np.broadcast_to(self.signs, margins.shape).reshape(flat.shape)
        read = read_noise(noise.reshape(-1, N_NOISE), np.tile(self.typical, chains))
        return log_likelihood(flat, read, signs).reshape(chains, people)

    def warm_up(self, sweeps: int) -> None:
        """Move without keeping anything, and fit the steps to where the chains have been."""
        begin = 0
        for end in (max(1, round(share * sweeps)) for share in _SEGMENTS):
            seen = []
            for at in range(begin, end):
                self._sweep(adapt=True)
                if at >= (begin + end) // 2:
                    hyper = np.concatenate([self.center, np.log(self.spread)], axis=1)
                    seen.append((hyper, self.z.copy(), self.noise.copy()))
            if len(seen) > 2:
                hyper, z, noise = (np.concatenate(part) for part in zip(*seen, strict=True))
                self.steps.people = people_shapes(z)
                self.steps.noise = noise.std(axis=0) + 0.02
                self.steps.hyper = root_of(hyper)
                if end < sweeps:
                    self.steps.restart()
            begin = end

    def run(self, draws: int, thin: int) -> PeopleDraws:
        """Return draws, one of every ``thin`` sweeps."""
        kept = []
        for sweep in range(draws * thin):
            self._sweep(adapt=False)
            if sweep % thin == thin - 1:
                kept.append((self.center.copy(), self.spread.copy(), self.z.copy()))
        return PeopleDraws(*(np.stack(part, axis=1) for part in zip(*kept, strict=True)))

    def _sweep(self, *, adapt: bool) -> None:
        self._step_people(adapt=adapt)
        self._redraw_people()
        self._move_center()
        self._move_spread()
        self._move_all(adapt=adapt)
        self._move_center()
        self._move_spread()

    # --- people, given the law

    def _step_people(self, *, adapt: bool) -> None:
        """Step each person's metric, noise, or both, by the shape of what is known of them."""
        chains, people, dim = self.z.shape
        length = self.steps.reach * self.rng.choice([0.3, 1.0, 2.0], size=(chains, people))
        step = np.einsum("cpi,pij->cpj", self.rng.normal(size=self.z.shape), self.steps.people)
        which = self.rng.integers(0, 3, size=(chains, people, 1))
        z = np.where(which == 1, self.z, self.z + (length / np.sqrt(dim))[..., None] * step)
        noise = np.where(which == 0, self.noise, self._nearby_noise())
        taken = self._take(z, noise, self._log_law(z) - self._log_law(self.z))
        if adapt:
            moved = which[..., 0] != 1
            share = (taken & moved).sum(axis=0) / np.maximum(moved.sum(axis=0), 1)
            self.steps.reach *= np.exp(0.2 * (share - 0.25))  # toward a quarter accepted

    def _nearby_noise(self) -> FloatArray:
        """Return numbers near those of everyone, or fresh ones: they are uniform a priori."""
        near = self.noise + self.steps.noise * self.rng.normal(size=self.noise.shape)
        near = 1.0 - np.abs(1.0 - np.abs(near) % 2.0)  # reflected at 0 and 1
        fresh = self.rng.random(self.noise.shape) < _FRESH
        return np.where(fresh, self.rng.random(self.noise.shape), near)

    def _redraw_people(self) -> None:
        """Draw some coordinates anew from the law: another stretch may fit the answers as well."""
        chains, people, dim = self.z.shape
        fresh = self.center[:, None] + self._scale[:, None] * self.rng.normal(size=self.z.shape)
        # A share of the way, reversible with respect to the law (Cotter et al. 2013), or all of it.
        share = self.rng.choice([0.3, 0.7, 1.0], size=(chains, people, 1))
        away = self.z - self.center[:, None]
        z = self.center[:, None] + np.sqrt(1.0 - share**2) * away
        z += share * (fresh - self.center[:, None])
        some = self.rng.random(self.z.shape) < self.rng.choice([0.5, 1.0], size=(chains, people, 1))
        self._take(np.where(some, z, self.z), self.noise, np.zeros((chains, people)))

    def _log_law(self, z: FloatArray) -> FloatArray:
        away = (z - self.center[:, None]) / self._scale[:, None]
        return np.asarray(-0.5 * np.sum(away**2, axis=2))

    def _take(self, z: FloatArray, noise: FloatArray, change: FloatArray) -> BoolArray:
        """Take each person's move, or leave it; ``change`` is that of law and proposal."""
        proposed = self._likelihoods(z, noise)
        taken = np.asarray(np.log(self.rng.random(change.shape)) < proposed - self.current + change)
        self.z[taken], self.noise[taken] = z[taken], noise[taken]
        self.current[taken] = proposed[taken]
        return taken

    # --- the law, given the people

    def _move_center(self) -> None:
        variance = self._scale**2
        precision = self.z.shape[1] / variance + self.chart.center_scale**-2.0
        mean = self.z.sum(axis=1) / variance / precision
        self.center = mean + self.rng.normal(size=mean.shape) / np.sqrt(precision)

    def _move_spread(self) -> None:
        """Draw τ² as if its prior were flat in τ, and take it as the half-normal prior asks."""
        squares = ((self.z - self.center[:, None]) ** 2).sum(axis=1)
        away = np.stack(
            [squares[:, self.chart.of == i].sum(axis=1) for i in range(len(self.chart.parts))],
            axis=1,
        )
        sizes = np.array([part.size for part in self.chart.parts])
        shape = (self.z.shape[1] * sizes - 1) / 2.0
        proposed = np.sqrt(0.5 * away / self.rng.gamma(shape, size=away.shape))
        change = 0.5 * (self.spread**2 - proposed**2) / self.chart.spread_scale**2
        taken = np.log(self.rng.random(change.shape)) < change
        self.spread = np.where(taken, proposed, self.spread)

    # --- all at once

    def _move_all(self, *, adapt: bool) -> None:
        """Move μ and τ of one part or of all, and everyone so that (z − μ)/τ stays."""
        chains, dim = self.center.shape
        n = len(self.chart.parts)
        part = self.rng.integers(0, n + 1, size=(chains, 1))  # n for all of them
        chosen = (part == n) | (np.arange(n) == part)
        length = self.steps.hyper_reach * self.rng.choice([0.3, 1.0, 2.0], size=(chains, 1))
        step = self.rng.normal(size=(chains, dim + n)) @ self.steps.hyper
        step *= length / np.sqrt(chosen[:, self.chart.of].sum(axis=1, keepdims=True) + 1)
        center = self.center + np.where(chosen[:, self.chart.of], step[:, :dim], 0.0)
        spread = self.spread * np.exp(np.where(chosen, step[:, dim:], 0.0))
        ratio = (spread / self.spread)[:, self.chart.of]
        z = center[:, None] + (self.z - self.center[:, None]) * ratio[:, None]
        proposed = self._likelihoods(z, self.noise)
        change = self._log_hyper(center, spread) - self._log_hyper(self.center, self.spread)
        gain = (proposed - self.current).sum(axis=1) + change
        taken = np.log(self.rng.random(chains)) < gain
        self.z[taken], self.current[taken] = z[taken], proposed[taken]
        self.center[taken], self.spread[taken] = center[taken], spread[taken]
        if adapt:
            self.steps.hyper_reach *= float(np.exp(0.2 * (taken.mean() - 0.25)))

    def _log_hyper(self, center: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the log-density of the prior of μ and log τ."""
        shared = np.sum((center / self.chart.center_scale) ** 2, axis=1)
        apart = np.sum((spread / self.chart.spread_scale) ** 2, axis=1)
        return np.asarray(-0.5 * (shared + apart) + np.log(spread).sum(axis=1))
