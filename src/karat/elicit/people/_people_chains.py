"""Several people: a sampler of the law they follow, and of the metric and noise of each.

Person i has the coordinates ``z_i ~ N(μ, τ²)``, with one τ for each part of the chart, and answers
with a noise of their own: slope, lapse rate and ties, as in the choice model, each read from a
normal number. Each sweep moves

- every person by a step of the shape of what is known of them, or by a draw from the law,
- μ and τ, and then everyone, over many versions of every person (see `Ensemble`),
- μ and τ given the people, from their conditionals (the centred moves), and
- μ, τ and all people at once with ``(z − μ)/τ`` held (the non-centred moves; Yu and Meng 2011).

Where compiled loops can read the weights of a chart they make many such sweeps instead of one, but
for the versions (see `loops`): with many weights and few answers each step is short.

Steps adapt before draws are kept, and are then left as they are.
"""

from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.elicit.people._chart import Chart
from karat.elicit.people._ensemble import Ensemble, log_total
from karat.elicit.people._law import Law
from karat.elicit.people._past import Past, root_of
from karat.elicit.people._person import People, Person
from karat.elicit.people.loops import KINDS, Asked

__all__ = ["PeopleChains", "PeopleDraws"]

_SEGMENTS = (0.15, 0.35, 0.6, 1.0)  # of the warm-up: after each, steps are fitted anew
_PEOPLE_STEPS, _JOINT_STEPS = 2, 2  # in each sweep
_VERSIONS = 32  # of every person, the chain's own among them
_FRESH = 6  # of them are drawn anew in each sweep
_LAW_STEPS = 4  # of μ and τ over all versions, in each sweep
# Where loops can read the weights, compiled sweeps instead of one: the more, the more there is.
_COMPILED, _MOST_COMPILED = 4, 20
_ACCEPTED = 0.25  # share of moves at which steps are as long as is good


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
        self.people, self.law = People(chart, people), Law(chart, len(people), rng)
        # From the prior, wider apart than the posterior: chains that agree have forgotten it.
        self.center, self.spread = self.law.draw(chains)
        self.state = rng.normal(size=(chains, len(people), self.people.size))
        self.z[...] = self.center[:, None] + self.spread[:, None, chart.of] * self.z
        self.current = self.people.log_answers(self.state)
        self.past = Past(self.state.copy())
        scales = [chart.spread_scale[chart.of], np.ones(len(chart.parts))]
        self.root = np.diag(np.concatenate(scales))
        self.reach = {"all": 0.5, "law": 1.0}
        self.compiled_sweeps = min(_COMPILED * chart.dim, _MOST_COMPILED)
        self.lengths = np.ones(KINDS)  # of compiled steps of the law
        self.versions: Ensemble | None = None

    @property
    def z(self) -> FloatArray:
        """The coordinates (chains, people, dim) of everyone's metric, as a view."""
        return self.state[..., : self.chart.dim]

    def warm_up(self, sweeps: int) -> None:
        """Move without keeping anything, and fit the steps to where the chains have been."""
        begin = 0
        for end in (max(1, round(share * sweeps)) for share in _SEGMENTS):
            seen = []
            for at in range(begin, end):
                self._sweep(adapt=True)
                if at >= (begin + end) // 2:
                    law = np.concatenate([self.center, np.log(self.spread)], axis=1)
                    seen.append((law, self.state.copy()))
            if len(seen) > 2:
                laws, states = (np.concatenate(part) for part in zip(*seen, strict=True))
                self.past, self.root = Past(states), root_of(laws)
                self.versions = Ensemble(self.state, _VERSIONS)
                self._refresh(np.arange(1, _VERSIONS))
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
        if self.people.asked is not None:
            self._sweep_compiled(self.people.asked, adapt=adapt)
        else:
            self._sweep_arrays(adapt=adapt)
        if self.versions is not None:
            self._refresh(1 + self.rng.choice(_VERSIONS - 1, size=_FRESH, replace=False))
            self._move_law_of_versions(self.versions, adapt=adapt)

    def _sweep_arrays(self, *, adapt: bool) -> None:
        for _ in range(_PEOPLE_STEPS):
            self._step_people()
        self._redraw_people()
        for _ in range(_JOINT_STEPS):
            self._move_law()
            self._move_all(adapt=adapt)
        self._move_law()

    def _sweep_compiled(self, asked: Asked, *, adapt: bool) -> None:
        from karat.elicit.people.loops import sweep_chains

        law, past = self.law.arrays, self.past.states
        state, center, spread = self.state, self.center, self.spread
        sweep_chains(
            state, self.current, center, spread, law, asked, past, self.root, self.lengths,
            self.compiled_sweeps, adapt, self.rng,
        )  # fmt: skip

    def _adapt(self, which: str, taken: BoolArray) -> None:
        self.reach[which] *= float(np.exp(0.1 * (taken.mean() - _ACCEPTED)))

    # --- people, given the law

    def _step_people(self) -> None:
        """Step each person's metric, noise, or both."""
        step = self.past.differences(len(self.state), self.rng)
        which = self.rng.integers(0, 3, size=(*step.shape[:2], 1))
        is_noise = np.arange(step.shape[2]) >= self.chart.dim
        state = self.state + np.where(np.where(is_noise, which != 0, which != 1), step, 0.0)
        self._take(state, self._log_before_answers(state) - self._log_before_answers(self.state))

    def _log_before_answers(self, state: FloatArray) -> FloatArray:
        z = state[..., : self.chart.dim]
        return self.law.log_density(z, self.center, self.spread) + self.people.log_noise(state)

    def _redraw_people(self) -> None:
        """Draw anew from the law and the prior of the noise, or go a share of the way.

        ``√(1−s²) x + s ξ`` leaves the law as it is (Cotter et al. 2013): the answers decide alone.
        """
        chains, people, size = self.state.shape
        share = self.rng.choice([0.3, 0.7, 1.0], size=(chains, people, 1))
        some = self.rng.choice([0.3, 1.0], size=(chains, people, 1))
        share = np.where(self.rng.random(self.state.shape) < some, share, 0.0)
        center, scale = np.zeros((chains, 1, size)), np.ones((chains, 1, size))
        center[:, 0, : self.chart.dim] = self.center
        scale[:, 0, : self.chart.dim] = self.spread[:, self.chart.of]
        away = np.sqrt(1.0 - share**2) * (self.state - center)
        fresh = scale * self.rng.normal(size=self.state.shape)
        self._take(center + away + share * fresh, np.zeros((chains, people)))

    def _take(self, state: FloatArray, change: FloatArray) -> None:
        """Take each person's move, or leave it; ``change`` is that of law, prior and proposal."""
        proposed = self.people.log_answers(state)
        taken = np.log(self.rng.random(change.shape)) < proposed - self.current + change
        self.state[taken], self.current[taken] = state[taken], proposed[taken]

    # --- the law, given the people

    def _move_law(self) -> None:
        self.center = self.law.draw_center(self.z, self.spread)
        self.spread = self.law.draw_spread(self.z, self.center, self.spread)

    # --- the law, over many versions of everyone

    def _refresh(self, slots: IntArray) -> None:
        """Draw some versions of everyone anew."""
        assert self.versions is not None
        chains, people, size = self.state.shape
        fresh = self.past.fresh(chains * len(slots), self.rng)
        weights = self.people.log_answers(fresh) + self.people.log_noise(fresh)
        weights -= self.past.log_density(fresh)
        drawn = fresh.reshape(chains, len(slots), people, size)
        self.versions.states[:, :, slots] = drawn.swapaxes(1, 2)
        weights = weights.reshape(chains, len(slots), people)
        self.versions.log_weights[:, :, slots] = weights.swapaxes(1, 2)

    def _move_law_of_versions(self, versions: Ensemble, *, adapt: bool) -> None:
        """Move μ and τ whatever the version of each person is, and then choose one."""
        versions.states[:, :, 0] = self.state
        own = self.current + self.people.log_noise(self.state)
        versions.log_weights[:, :, 0] = own - self.past.log_density(self.state)
        z = versions.states[..., : self.chart.dim]

        def chances(center: FloatArray, spread: FloatArray) -> FloatArray:
            return versions.log_weights + self.law.log_density(z, center, spread)

        here = chances(self.center, self.spread)
        value = log_total(here) + self.law.log_prior(self.center, self.spread)
        for _ in range(_LAW_STEPS):
            law = self.law.steps(self.center, self.spread, self.root, self.reach["law"])
            there = chances(*law)
            proposed = log_total(there) + self.law.log_prior(*law)
            taken = np.log(self.rng.random(len(value))) < proposed - value
            self.center[taken], self.spread[taken] = law[0][taken], law[1][taken]
            here[taken], value[taken] = there[taken], proposed[taken]
            if adapt:
                self._adapt("law", taken)
        versions.choose(here, self.rng)
        self.state = versions.states[:, :, 0].copy()
        density = self.past.log_density(self.state) - self.people.log_noise(self.state)
        self.current = versions.log_weights[:, :, 0] + density

    # --- all at once

    def _move_all(self, *, adapt: bool) -> None:
        """Move μ and τ of one part or of all, and everyone so that (z − μ)/τ stays."""
        center, spread = self.law.steps(self.center, self.spread, self.root, self.reach["all"])
        ratio = (spread / self.spread)[:, self.chart.of]
        state = self.state.copy()
        away = (self.z - self.center[:, None]) * ratio[:, None]
        state[..., : self.chart.dim] = center[:, None] + away
        proposed = self.people.log_answers(state)
        gain = (proposed - self.current).sum(axis=1) + self.law.log_prior(center, spread)
        gain -= self.law.log_prior(self.center, self.spread)
        taken = np.log(self.rng.random(len(gain))) < gain
        self.state[taken], self.current[taken] = state[taken], proposed[taken]
        self.center[taken], self.spread[taken] = center[taken], spread[taken]
        if adapt:
            self._adapt("all", taken)
