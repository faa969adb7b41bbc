"""Several people: a sampler of the weights they share and of the weights of each.

Person i weighs coordinate j by ``exp(z_ij)``, with ``z_i ~ N(μ, τ²)`` around what is shared. Each
answers with a noise of their own: slope, lapse rate and ties, as in the choice model. Metropolis
steps move the z and the noise of every person and chain at once; μ and τ have simple conditionals.
"""

import numpy as np

from karat._typing import BoolArray, FloatArray
from karat.elicit.families import unit
from karat.elicit.posterior._choice_model import N_NOISE, log_likelihood, read_noise
from karat.elicit.spaces import Space

__all__ = ["PeopleChains"]

_CENTER_SPREAD = 1.5  # prior standard deviation of μ: weights over two orders of magnitude
_NOISE_STEP = 0.25  # of the uniform numbers that the noise is read from


class PeopleChains:
    """Metropolis within Gibbs, for all people and chains at once.

    ``people`` holds for each person the coordinates of both sides of every answered pair, and the
    sign of the answer: 1 for the first, -1 for the second, 0 for a tie.
    """

    def __init__(
        self,
        space: Space,
        people: list[tuple[FloatArray, FloatArray, FloatArray]],
        rng: np.random.Generator,
        *,
        chains: int = 16,
    ) -> None:
        self.rng = rng
        most = max(len(signs) for *_, signs in people)
        self.pairs = np.zeros((len(people), most, space.dim))  # first less second, as a gain
        self.signs = np.full((len(people), most), np.nan)
        for i, (first, second, signs) in enumerate(people):
            self.pairs[i, : len(signs)] = space.sign * (first - second)
            self.signs[i, : len(signs)] = signs
        even = unit(np.ones(space.dim))
        asked = np.abs(self.pairs[~np.isnan(self.signs)] @ even)
        self.typical = float(np.median(asked)) + 1e-12
        shape = (chains, len(people), space.dim)
        self.z = rng.normal(scale=0.3, size=shape)
        self.noise = rng.random((*shape[:2], N_NOISE))
        self.center = np.zeros((chains, space.dim))
        self.spread = np.full(chains, 0.5)
        self.step = np.full(shape[:2], 0.5)
        self.current = self._likelihoods(self.z, self.noise)

    def _likelihoods(self, z: FloatArray, noise: FloatArray) -> FloatArray:
        """Return the log-likelihood of each chain's version of each person."""
        margins = np.einsum("cpq,ptq->cpt", unit(np.exp(z)), self.pairs)
        flat = margins.reshape(-1, margins.shape[2])
        signs = np.broadcast_to(self.signs, margins.shape).reshape(flat.shape)
        read = read_noise(noise.reshape(-1, N_NOISE), self.typical)
        return log_likelihood(flat, read, signs).reshape(z.shape[:2])

    def run(
        self, *, warm_up: int = 800, draws: int = 600, thin: int = 2
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return draws of μ (chains, draws, dim), τ (chains, draws) and z (.., people, dim)."""
        kept: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for sweep in range(warm_up + draws * thin):
            self._move_people(adapt=sweep < warm_up)
            self._move_center()
            self._move_spread()
            self._stretch()
            self._shift()
            if sweep >= warm_up and (sweep - warm_up) % thin == 0:
                kept.append((self.center.copy(), self.spread.copy(), self.z.copy()))
        center, spread, each = zip(*kept, strict=True)
        return np.stack(center, 1), np.stack(spread, 1), np.stack(each, 1)

    def _move_people(self, *, adapt: bool) -> None:
        scale = self.step * self.rng.choice([0.3, 1.0, 4.0], size=self.step.shape)
        z = self.z + scale[..., None] * self.rng.normal(size=self.z.shape)
        taken = self._take(z, self.noise, self._prior(z) - self._prior(self.z))
        if adapt:
            self.step *= np.exp(0.05 * (taken - 0.25))  # toward a quarter of moves accepted
        # The numbers are uniform a priori: steps are reflected at 0 and 1, and fresh ones are fair.
        near = self.noise + _NOISE_STEP * self.rng.normal(size=self.noise.shape)
        near = 1.0 - np.abs(1.0 - np.abs(near) % 2.0)
        fresh = self.rng.random(self.noise.shape)
        some = self.rng.random((*self.step.shape, 1)) < 0.3
        self._take(self.z, np.where(some, fresh, near), np.zeros(self.step.shape))
        # A fresh draw around μ may land in another of several stretches that fit the answers.
        center, spread = self.center[:, None], self.spread[:, None, None]
        away = center + spread * self.rng.normal(size=self.z.shape)
        self._take(away, self.noise, np.zeros(self.step.shape))

    def _take(self, z: FloatArray, noise: FloatArray, change: FloatArray) -> BoolArray:
        """Take each person's move, or leave it; ``change`` is that of prior and proposal."""
        proposed = self._likelihoods(z, noise)
        gain = proposed - self.current + change
        taken = np.asarray(np.log(self.rng.random(gain.shape)) < gain)
        self.z[taken], self.noise[taken] = z[taken], noise[taken]
        self.current[taken] = proposed[taken]
        return taken

    def _prior(self, z: FloatArray) -> FloatArray:
        away = np.sum((z - self.center[:, None]) ** 2, axis=2) / self.spread[:, None] ** 2
        return np.asarray(-0.5 * away)

    def _move_center(self) -> None:
        n = self.z.shape[1]
        precision = n / self.spread**2 + _CENTER_SPREAD**-2
        mean = self.z.sum(axis=1) / self.spread[:, None] ** 2 / precision[:, None]
        noise = self.rng.normal(size=mean.shape)
        self.center = mean + noise / np.sqrt(precision)[:, None]

    def _move_spread(self) -> None:
        """Move log τ by Metropolis steps; its prior is half-normal."""
        count = self.z.shape[1] * self.z.shape[2]
        away = np.sum((self.z - self.center[:, None]) ** 2, axis=(1, 2))

        def target(spread: FloatArray) -> FloatArray:
            return np.asarray(
                -(count - 1) * np.log(spread) - 0.5 * away / spread**2 - 0.5 * spread**2
            )

        for _ in range(3):
            proposed = self.spread * np.exp(0.3 * self.rng.normal(size=len(self.spread)))
            taken = np.log(self.rng.random(len(proposed))) < target(proposed) - target(self.spread)
            self.spread = np.where(taken, proposed, self.spread)

    def _stretch(self) -> None:
        """Move τ and everyone's distance from μ together: they hold each other up otherwise."""
        factor = np.exp(0.5 * self.rng.normal(size=len(self.spread)))
        z = self.center[:, None] + (self.z - self.center[:, None]) * factor[:, None, None]
        spread = self.spread * factor
        # With (z − μ)/τ held, only the likelihood, τ's prior and log τ as coordinate count.
        self._jointly(z, spread, -0.5 * (spread**2 - self.spread**2) + np.log(factor))

    def _shift(self) -> None:
        """Move μ and everyone with it."""
        step = 0.3 * self.rng.normal(size=self.center.shape)
        center = self.center + step
        change = -0.5 * np.sum(center**2 - self.center**2, axis=1) / _CENTER_SPREAD**2
        taken = self._jointly(self.z + step[:, None], self.spread, change)
        self.center[taken] = center[taken]

    def _jointly(self, z: FloatArray, spread: FloatArray, change: FloatArray) -> BoolArray:
        """Take a move of all people of a chain, or leave it; ``change`` is that of the prior."""
        proposed = self._likelihoods(z, self.noise)
        gain = (proposed - self.current).sum(axis=1) + change
        taken = np.log(self.rng.random(len(gain))) < gain
        self.z[taken], self.current[taken] = z[taken], proposed[taken]
        self.spread = np.where(taken, spread, self.spread)
        return np.asarray(taken)
