"""How probable answers are, compiled: the choice model for one person after the other."""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray
from karat.elicit.people.loops._arrays import Asked
from karat.elicit.posterior import CHOICE_PRIOR

__all__ = ["log_answers", "log_person", "normal_quantile"]

# Numbers by name, which numba compiles as constants.
_LEAST_SLOPE, _LAPSE_POWER, _MOST_LAPSE, _NO_TIES, _TYPICAL_TIE, _TIE_SLIP, _BELOW = CHOICE_PRIOR
_AT_ONCE = 8  # answers whose probabilities are multiplied before a logarithm is taken
_HALF_ROOT = math.sqrt(0.5)

# Wichura 1988, algorithm AS 241 (PPND16): numerators and denominators in the middle and beyond.
_MIDDLE_ABOVE = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
)  # fmt: skip
_MIDDLE_BELOW = (
    5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0,
)  # fmt: skip
_BEYOND_ABOVE = (
    7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
    1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959,
    1.42343711074968357734,
)  # fmt: skip
_BEYOND_BELOW = (
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
    0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187,
    1.0,
)  # fmt: skip


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
