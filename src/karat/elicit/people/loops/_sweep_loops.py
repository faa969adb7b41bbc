"""Sweeps of Metropolis and Gibbs steps over people and their law, compiled.

The steps are those of `PeopleChains`. They are many, because every one is short: where metrics have
many weights and each person said little, hundreds of sweeps lie between two states of the law that
have nothing to do with each other.
"""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray
from karat.elicit.people.loops._answer_loops import log_person
from karat.elicit.people.loops._arrays import KINDS, Asked, LawArrays

__all__ = ["sweep_chains"]

_LAW_STEPS = 3  # in each sweep
_ACCEPTED, _PACE = 0.25, 0.02  # share of steps that is good, and how fast lengths follow it
_SHARES = (1.0, 0.5, 0.25, 0.12)  # of the way to a fresh draw
_LENGTHS = (0.3, 1.0, 2.0)
_BEST = 1.68  # over √size: of a difference of two draws, the best step for a normal target


@compiled
def _redraw(
    state: FloatArray, center: FloatArray, spread: FloatArray, law: LawArrays,
    rng: np.random.Generator, x: FloatArray,
) -> None:  # fmt: skip
    """Write into x a draw from the law and the prior of the noise, or a share of the way to it."""
    share = _SHARES[int(4 * rng.random())]
    rest, some = math.sqrt(1.0 - share * share), 0.3 if rng.random() < 0.5 else 1.0
    for j in range(len(x)):
        x[j] = state[j]
        if rng.random() < some:
            mean = center[j] if j < len(center) else 0.0
            scale = spread[law.of[j]] if j < len(center) else 1.0
            x[j] = mean + rest * (x[j] - mean) + share * scale * rng.standard_normal()


@compiled
def _differ(
    state: FloatArray, center: FloatArray, spread: FloatArray, law: LawArrays, past: FloatArray,
    i: int, rng: np.random.Generator, x: FloatArray,
) -> float:  # fmt: skip
    """Write into x the state moved by a difference of two past ones; return the gain of the law.

    The metric moves, the noise, or both.
    """
    one, other = int(len(past) * rng.random()), int(len(past) * rng.random())
    which, length, gain = int(3 * rng.random()), int(3 * rng.random()), 0.0
    share = 1.0 if length == 0 else _LENGTHS[length - 1] * _BEST / math.sqrt(len(x))
    for j in range(len(x)):
        x[j] = state[j]
        is_noise = j >= len(center)
        if (is_noise and which != 0) or (not is_noise and which != 1):
            x[j] += share * (past[one, i, j] - past[other, i, j]) + 1e-3 * rng.standard_normal()
            mean, scale = 0.0, 1.0
            if not is_noise:
                mean, scale = center[j], spread[law.of[j]]
            gain += 0.5 * (((state[j] - mean) / scale) ** 2 - ((x[j] - mean) / scale) ** 2)
    return gain


@compiled
def _log_prior(center: FloatArray, spread: FloatArray, law: LawArrays) -> float:
    """Return the log-density of μ and log τ a priori."""
    total = 0.0
    for j in range(len(center)):
        total -= 0.5 * (center[j] / law.center_scale[j]) ** 2
    for p in range(len(spread)):
        total -= 0.5 * ((math.log(spread[p] / law.spread_scale[p]) - law.middle) / law.width) ** 2
    return total


@compiled
def _propose(
    center: FloatArray, spread: FloatArray, law: LawArrays, root: FloatArray, kind: int,
    length: float, rng: np.random.Generator, mu: FloatArray, tau: FloatArray,
) -> None:  # fmt: skip
    """Write into mu and tau a step of all of the law, of one part, or of one coordinate."""
    dim, size, moved = len(center), len(root), 0
    part, one = int(len(spread) * rng.random()), int(size * rng.random())
    drawn, chosen = np.empty(size), np.zeros(size, np.bool_)
    for j in range(size):
        own = law.of[j] if j < dim else j - dim
        drawn[j] = rng.standard_normal()
        chosen[j] = kind == 0 or (kind == 1 and own == part) or (kind == 2 and j == one)
        moved += chosen[j]
    for j in range(size):
        step = 0.0
        if chosen[j]:
            for i in range(size):
                step += drawn[i] * root[i, j]
            step *= length / math.sqrt(moved)
        if j < dim:
            mu[j] = center[j] + step
        else:
            tau[j - dim] = spread[j - dim] * math.exp(step)


@compiled
def _step_all(
    states: FloatArray, current: FloatArray, center: FloatArray, spread: FloatArray, law: LawArrays,
    asked: Asked, mu: FloatArray, tau: FloatArray, rng: np.random.Generator,
) -> bool:  # fmt: skip
    """Move the law to mu and tau and everyone so that (z − μ)/τ stays, or leave all as it is."""
    dim, there, now = len(center), np.empty_like(states), np.empty(len(states))
    gain, w = _log_prior(mu, tau, law), np.empty(asked.above.shape[2])
    gain -= _log_prior(center, spread, law)
    for i in range(len(states)):
        for j in range(states.shape[1]):
            there[i, j] = states[i, j]
            if j < dim:
                ratio = tau[law.of[j]] / spread[law.of[j]]
                there[i, j] = mu[j] + (states[i, j] - center[j]) * ratio
        now[i] = log_person(there[i], dim, i, asked, w)
        gain += now[i] - current[i]
    if not math.log(1.0 - rng.random()) < gain:
        return False
    for i in range(len(states)):
        current[i] = now[i]
        for j in range(dim):
            states[i, j] = there[i, j]
    for j in range(dim):
        center[j] = mu[j]
    for p in range(len(spread)):
        spread[p] = tau[p]
    return True


@compiled
def _draw_law(
    states: FloatArray, center: FloatArray, spread: FloatArray, law: LawArrays,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Draw μ and then τ given the people, τ as if log τ were flat and taken as its prior asks."""
    people = len(states)
    for j in range(len(center)):
        variance = spread[law.of[j]] ** 2
        precision = people / variance + law.center_scale[j] ** -2.0
        mean = 0.0
        for i in range(people):
            mean += states[i, j] / variance / precision
        center[j] = mean + rng.standard_normal() / math.sqrt(precision)
    for p in range(len(spread)):
        away = 0.0
        for j in range(len(center)):
            if law.of[j] == p:
                for i in range(people):
                    away += (states[i, j] - center[j]) ** 2
        proposed = math.sqrt(0.5 * away / rng.standard_gamma(0.5 * people * law.sizes[p]))
        there = (math.log(proposed / law.spread_scale[p]) - law.middle) / law.width
        here = (math.log(spread[p] / law.spread_scale[p]) - law.middle) / law.width
        if math.log(1.0 - rng.random()) < 0.5 * (here**2 - there**2):
            spread[p] = proposed


@compiled
def _sweep_people(
    states: FloatArray, current: FloatArray, center: FloatArray, spread: FloatArray, law: LawArrays,
    asked: Asked, past: FloatArray, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Move everyone by a draw from the law and by a difference of past states."""
    dim, x, w = len(center), np.empty(states.shape[1]), np.empty(asked.above.shape[2])
    for i in range(len(states)):
        for way in range(2):
            gain = 0.0  # a share of the way to a draw leaves the law as it is
            if way == 0:
                _redraw(states[i], center, spread, law, rng, x)
            else:
                gain = _differ(states[i], center, spread, law, past, i, rng, x)
            proposed = log_person(x, dim, i, asked, w)
            if math.log(1.0 - rng.random()) < proposed - current[i] + gain:
                current[i] = proposed
                for j in range(len(x)):
                    states[i, j] = x[j]


@compiled
def sweep_chains(
    states: FloatArray, current: FloatArray, centers: FloatArray, spreads: FloatArray,
    law: LawArrays, asked: Asked, past: FloatArray, root: FloatArray, reach: FloatArray,
    sweeps: int, adapt: bool, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Sweep over all chains; with ``adapt`` the lengths ``reach`` of steps follow what is taken."""
    mu, tau = np.empty(centers.shape[1]), np.empty(spreads.shape[1])
    for c in range(len(states)):
        center, spread = centers[c], spreads[c]
        for _ in range(sweeps):
            _sweep_people(states[c], current[c], center, spread, law, asked, past, rng)
            for _ in range(_LAW_STEPS):
                _draw_law(states[c], center, spread, law, rng)
                kind = int(KINDS * rng.random())
                length = reach[kind] * _LENGTHS[int(3 * rng.random())]
                _propose(center, spread, law, root, kind, length, rng, mu, tau)
                taken = _step_all(states[c], current[c], center, spread, law, asked, mu, tau, rng)
                if adapt:
                    reach[kind] *= math.exp(_PACE * (taken - _ACCEPTED))
            _draw_law(states[c], center, spread, law, rng)
