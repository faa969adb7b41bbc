"""Compiled sweeps over people and the law that they follow."""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray
from karat.elicit.people_arrays import KINDS, Asked, LawArrays
from karat.elicit.posterior import CHOICE_PRIOR

# --- Sweeps of Metropolis and Gibbs steps over people and their law, compiled.
#
# The steps are those of `PeopleChains`, in `_shared_metric`. They are many, because every one is
# short: where metrics have many weights and each person said little, hundreds of sweeps lie between
# two states of the law that have nothing to do with each other.

_LAW_STEPS = 3  # in each sweep
_ACCEPTED, _PACE = 0.25, 0.02  # share of steps that is good, and how fast lengths follow it
_SHARES = (1.0, 0.5, 0.25, 0.12)  # of the way to a fresh draw
_LENGTHS = (0.3, 1.0, 2.0)
_BEST = 1.68  # over √size: of a difference of two draws, the best step for a normal target


@compiled
def _redraw(
    state: FloatArray,
    center: FloatArray,
    spread: FloatArray,
    law: LawArrays,
    rng: np.random.Generator,
    x: FloatArray,
) -> None:
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
    state: FloatArray,
    center: FloatArray,
    spread: FloatArray,
    law: LawArrays,
    past: FloatArray,
    i: int,
    rng: np.random.Generator,
    x: FloatArray,
) -> float:
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
    center: FloatArray,
    spread: FloatArray,
    law: LawArrays,
    root: FloatArray,
    kind: int,
    length: float,
    rng: np.random.Generator,
    mu: FloatArray,
    tau: FloatArray,
) -> None:
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
    states: FloatArray,
    current: FloatArray,
    center: FloatArray,
    spread: FloatArray,
    law: LawArrays,
    asked: Asked,
    mu: FloatArray,
    tau: FloatArray,
    rng: np.random.Generator,
) -> bool:
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
    states: FloatArray,
    center: FloatArray,
    spread: FloatArray,
    law: LawArrays,
    rng: np.random.Generator,
) -> None:
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
    states: FloatArray,
    current: FloatArray,
    center: FloatArray,
    spread: FloatArray,
    law: LawArrays,
    asked: Asked,
    past: FloatArray,
    rng: np.random.Generator,
) -> None:
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
    states: FloatArray,
    current: FloatArray,
    centers: FloatArray,
    spreads: FloatArray,
    law: LawArrays,
    asked: Asked,
    past: FloatArray,
    root: FloatArray,
    reach: FloatArray,
    sweeps: int,
    adapt: bool,
    rng: np.random.Generator,
) -> None:
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


# --- How probable answers are, compiled: the choice model for one person after the other.

# Numbers by name, which numba compiles as constants.
_LEAST_SLOPE, _LAPSE_POWER, _MOST_LAPSE, _NO_TIES, _TYPICAL_TIE, _TIE_SLIP, _BELOW = CHOICE_PRIOR
_AT_ONCE = 8  # answers whose probabilities are multiplied before a logarithm is taken
_HALF_ROOT = math.sqrt(0.5)

# Wichura 1988, algorithm AS 241 (PPND16): numerators and denominators in the middle and beyond.
_MIDDLE_ABOVE = (
    2509.0809287301226727,
    33430.575583588128105,
    67265.770927008700853,
    45921.953931549871457,
    13731.693765509461125,
    1971.5909503065514427,
    133.14166789178437745,
    3.387132872796366608,
)
_MIDDLE_BELOW = (
    5226.495278852854561,
    28729.085735721942674,
    39307.89580009271061,
    21213.794301586595867,
    5394.1960214247511077,
    687.1870074920579083,
    42.313330701600911252,
    1.0,
)
_BEYOND_ABOVE = (
    7.7454501427834140764e-4,
    0.0227238449892691845833,
    0.24178072517745061177,
    1.27045825245236838258,
    3.64784832476320460504,
    5.7694972214606914055,
    4.6303378461565452959,
    1.42343711074968357734,
)
_BEYOND_BELOW = (
    1.05075007164441684324e-9,
    5.475938084995344946e-4,
    0.0151986665636164571966,
    0.14810397642748007459,
    0.68976733498510000455,
    1.6763848301838038494,
    2.05319162663775882187,
    1.0,
)


@compiled
def normal_quantile(p: float) -> float:
    """Return the normal number that has probability p below it, for p in [1e-10, 1 − 1e-10]."""
    q, above, below = p - 0.5, 0.0, 0.0
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        for i in range(8):
            above, below = above * r + _MIDDLE_ABOVE[i], below * r + _MIDDLE_BELOW[i]
        return q * above / below
    r = math.sqrt(-math.log(p if q < 0 else 1.0 - p)) - 1.6
    for i in range(8):
        above, below = above * r + _BEYOND_ABOVE[i], below * r + _BEYOND_BELOW[i]
    return -above / below if q < 0 else above / below


@compiled
def _weigh(z: FloatArray, asked: Asked, w: FloatArray) -> None:
    """Write the weights of coordinates z into w: of length 1, each block or all."""
    if len(asked.blocks) == 0:
        total = 0.0
        for j in range(len(w)):
            w[j] = z[j] * z[j] * z[j] if asked.sparse else z[j]
            total += w[j] * w[j]
        for j in range(len(w)):
            w[j] /= math.sqrt(total)
        return
    start, at = 0, 0
    for size in asked.blocks:
        top, total = -np.inf, 0.0
        for j in range(size + 1):
            w[at + j] = 0.0
            for i in range(max(j - 1, 0), size):  # the others are 0
                w[at + j] += z[start + i] * asked.basis[i, j]
            top = max(top, w[at + j])
        for j in range(at, at + size + 1):
            w[j] = math.exp(w[j] - top)
            total += w[j] * w[j]
        for j in range(at, at + size + 1):
            w[j] /= math.sqrt(total)
        start += size
        at += size + 1


@compiled
def _margin(w: FloatArray, i: int, t: int, asked: Asked) -> float:
    """Return by how much person i values the first side of question t more."""
    first = 0.0
    if len(asked.below) == 0:
        for j in range(len(w)):
            first += w[j] * asked.above[i, t, j]
        return first
    other, second = asked.signs.shape[1] + t, 0.0
    below, below_second = 1e-300, 1e-300  # makes 0 of 0 / 0, as in the family
    for j in range(len(w)):
        first += w[j] * asked.above[i, t, j]
        below += w[j] * asked.below[i, t, j]
        second += w[j] * asked.above[i, other, j]
        below_second += w[j] * asked.below[i, other, j]
    return first / below - second / below_second


@compiled
def _below(x: float) -> float:
    """Return the probability that a normal number is below x."""
    return 0.5 * math.erfc(-x * _HALF_ROOT)


@compiled
def log_person(state: FloatArray, dim: int, i: int, asked: Asked, w: FloatArray) -> float:
    """Return the log-probability of the answers of person i under a state; w is overwritten."""
    _weigh(state, asked, w)
    typical, tie = asked.typical[i], _below(state[dim + 2])
    slope = typical * _LEAST_SLOPE ** (1.0 - _below(state[dim]))
    most = 1.0 - (1.0 - _MOST_LAPSE) ** _LAPSE_POWER
    lapse = 1.0 - (1.0 - _below(state[dim + 1]) * most) ** (1.0 / _LAPSE_POWER)
    even, says = 1.0, tie > _NO_TIES
    if says:
        share = max((tie - _NO_TIES) / (1.0 - _NO_TIES), 1e-9)
        spot = typical * _TYPICAL_TIE * math.exp(normal_quantile(share * _BELOW))
        even = math.exp(-spot / slope)
    total, product = 0.0, 1.0
    for t in range(asked.counts[i]):
        margin, sign = _margin(w, i, t, asked), asked.signs[i, t]
        odds = math.exp(-abs(margin) / slope)
        chance = _TIE_SLIP
        if says:
            root = math.sqrt(odds) * (1.0 + even)
            above = (1.0 - 2.0 * _TIE_SLIP) * root
            chance += above / (root + (1.0 + odds) * math.sqrt(even))
        if sign != 0:
            named = (1.0 if margin * sign > 0 else odds) / (1.0 + odds)
            chance = (1.0 - chance) * (lapse + (1.0 - 2.0 * lapse) * named)
        product *= chance
        if t % _AT_ONCE == _AT_ONCE - 1:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@compiled
def log_answers(states: FloatArray, dim: int, asked: Asked) -> FloatArray:
    """Return the log-probability (n, people) of the answers under states (n, people, size)."""
    w, found = np.empty(asked.above.shape[2]), np.empty(states.shape[:2])
    for n in range(states.shape[0]):
        for i in range(states.shape[1]):
            found[n, i] = log_person(states[n, i], dim, i, asked, w)
    return found
