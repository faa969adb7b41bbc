"""How probable a person's answers are under a metric.

A metric values the first classifier by d more than the second. A person who names a side names the
first with probability ``ε + (1−2ε) σ(d/s)``: answers get less certain where two classifiers are
nearly equal (Hiranandani 2021, Definition 2.4 and guideline G5, smoothed), and the share ε is wrong
wherever it is asked. A tie is said with odds ``cosh(δ/2s) : cosh(d/2s)``, even odds where the
classifiers differ by δ (Davidson 1970); given that a side is named, ties change nothing. Someone
with ``δ = 0`` never says tie.

The slope s, the lapse rate ε and the indifference δ are unknown and differ between people. Each is
read from a number that is uniform between 0 and 1:

- ``s`` is log-uniform between a hundredth of a typical difference and a whole one,
- ``ε`` is Beta(1, 5) below one half: a lapse rate of 20 % is not rare,
- ``δ`` is 0 for half of all people, else log-normal around a tenth of a typical difference, and at
  most a whole one: someone to whom typical differences are ties has no preference to find.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from karat._typing import FloatArray

__all__ = [
    "CHOICE_PRIOR",
    "N_NOISE",
    "Answers",
    "Noise",
    "log_likelihood",
    "named_first",
    "read_noise",
    "said_tie",
]

N_NOISE = 3  # uniform numbers that the noise of one person is read from
_LEAST_SLOPE = 0.01  # in typical differences; the greatest is 1
_LAPSE_POWER = 5.0  # of the prior Beta(1, 5) of the lapse rate
_MOST_LAPSE = 0.5  # beyond, answers would mean their opposite
_NO_TIES = 0.5  # prior probability that the person never says tie
_TYPICAL_TIE = 0.1  # median of δ of those who do, in typical differences
# A tie said by someone who never says tie, or not said by someone who always would.
_TIE_SLIP = 0.03
_BELOW_TYPICAL = float(ndtr(-np.log(_TYPICAL_TIE)))  # the log-normal is cut there
_AT_ONCE = 1 << 14  # numbers that stay near the processor
_HALVED = 3  # times that half of the answers are multiplied with the others before the logarithm


# What the prior of the noise is made of, for loops that read it too.
CHOICE_PRIOR = (
    _LEAST_SLOPE, _LAPSE_POWER, _MOST_LAPSE, _NO_TIES, _TYPICAL_TIE, _TIE_SLIP, _BELOW_TYPICAL,
)  # fmt: skip


class Noise(NamedTuple):
    """The noise of n people: slope s, lapse rate ε and indifference δ, each (n,)."""

    slope: FloatArray
    lapse: FloatArray
    indifference: FloatArray


def read_noise(uniform: FloatArray, typical: float | FloatArray) -> Noise:
    """Return the noise of people from uniform numbers (n, 3), for differences of a typical size."""
    slope, lapse, tie = uniform.T
    most = 1.0 - (1.0 - _MOST_LAPSE) ** _LAPSE_POWER  # probability that Beta(1, 5) is below ½
    says = np.clip((tie - _NO_TIES) / (1.0 - _NO_TIES), 0.0, 1.0)
    spot = _TYPICAL_TIE * np.exp(ndtri(np.clip(says, 1e-9, 1.0) * _BELOW_TYPICAL))
    return Noise(
        typical * _LEAST_SLOPE ** (1.0 - slope),
        1.0 - (1.0 - lapse * most) ** (1.0 / _LAPSE_POWER),
        np.where(tie > _NO_TIES, typical * spot, 0.0),
    )


def named_first(margins: FloatArray, noise: Noise) -> FloatArray:
    """Return P(first | a side is named) for margins (n, t) of n people."""
    lapse = noise.lapse[:, None]
    odds = np.exp(-np.abs(margins) / noise.slope[:, None])  # of the worse side
    chance = np.where(margins > 0, 1.0, odds) / (1.0 + odds)
    return np.asarray(lapse + (1.0 - 2.0 * lapse) * chance)


def said_tie(margins: FloatArray, noise: Noise) -> FloatArray:
    """Return P(tie) for margins (n, t) of n people."""
    return _tie_chance(np.exp(-np.abs(margins) / noise.slope[:, None]), noise)


def _tie_chance(odds: FloatArray, noise: Noise) -> FloatArray:
    """Return P(tie) where ``odds = exp(-|d|/s)`` are those of the worse side, (n, t).

    ``cosh(d/2s)`` is ``(1 + odds)/(2 √odds)``: nothing here can overflow.
    """
    chance = np.full(odds.shape, _TIE_SLIP)
    some = np.flatnonzero(noise.indifference > 0)  # others never say tie
    if not len(some):
        return chance
    even = np.exp(-noise.indifference[some] / noise.slope[some])[:, None]
    those = odds[some]
    root = np.sqrt(those)
    root *= 1.0 + even
    those += 1.0
    those *= np.sqrt(even)
    those += root
    root *= 1.0 - 2.0 * _TIE_SLIP
    np.divide(root, np.maximum(those, 1e-300, out=those), out=those)
    chance[some] += those
    return chance


def log_likelihood(margins: FloatArray, noise: Noise, signs: FloatArray) -> FloatArray:
    """Return the log-probability (n,) of answers under margins (n, t) of n people.

    ``signs`` is (t,) or (n, t): 1 for the first, -1 for the second, 0 for a tie, NaN where nothing
    was asked, which says nothing.
    """
    n, t = margins.shape
    rows = max(1, _AT_ONCE // max(1, t))
    if n > 2 * rows:
        blocks = [slice(start, start + rows) for start in range(0, n, rows)]
        return np.concatenate(
            [
                log_likelihood(
                    margins[block],
                    Noise(*(part[block] for part in noise)),
                    signs if signs.ndim == 1 else signs[block],
                )
                for block in blocks
            ]
        )
    odds = np.abs(margins)
    odds *= (-1.0 / noise.slope)[:, None]
    np.exp(odds, out=odds)  # of the worse side
    tie = _tie_chance(odds, noise)
    chance = np.where(margins * signs > 0, 1.0, odds)
    odds += 1.0
    chance /= odds
    chance *= (1.0 - 2.0 * noise.lapse)[:, None]
    chance += noise.lapse[:, None]
    if (signs == 0).any():
        chance = np.where(signs == 0, tie, chance * (1.0 - tie))
    else:
        chance *= np.subtract(1.0, tie, out=tie)
    chance = np.where(np.isnan(signs), 1.0, chance) if np.isnan(signs).any() else chance
    return _log_of_products(chance)


def _log_of_products(chance: FloatArray) -> FloatArray:
    """Return the log (n,) of the products of rows (n, t), which is overwritten.

    A few factors are multiplied before a logarithm is taken, which takes longer; lest a product
    gets too small, at most eight.
    """
    width = chance.shape[1]
    for _ in range(_HALVED):
        half = width // 2
        chance[:, :half] *= chance[:, width - half : width]
        width -= half
    return np.asarray(np.log(chance[:, :width]).sum(axis=1))


class Answers(NamedTuple):
    """The pairs that were answered: coordinates of both sides, and 1, -1 or 0 for a tie."""

    first: FloatArray
    second: FloatArray
    signs: FloatArray

    @classmethod
    def none(cls, dim: int) -> "Answers":
        return cls(np.empty((0, dim)), np.empty((0, dim)), np.empty(0))

    def with_answer(self, first: FloatArray, second: FloatArray, sign: float) -> "Answers":
        return Answers(
            np.vstack([self.first, first]),
            np.vstack([self.second, second]),
            np.append(self.signs, sign),
        )
