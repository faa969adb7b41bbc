"""How probable a person's answers are under a metric.

A person means to answer by the metric. Someone who cannot tell classifiers closer than δ apart says
tie there, and elsewhere names the better one; at the rate γ a tie is said, or not said, against
this, and a named preference is inverted at the lapse rate ε. Both rates have the prior Beta(1, 19)
and are integrated out: with b exceptions among b + g cases,
``∫ ε^b (1−ε)^g Beta(ε; 1, 19) dε ∝ B(1+b, 19+g)``. They are two rates, not one, so that someone who
often says tie is not taken for someone who errs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from karat._typing import FloatArray

__all__ = ["LAPSE_PRIOR", "Answers", "Tally", "log_likelihood", "tally"]

LAPSE_PRIOR = (1.0, 19.0)  # of both rates


@dataclass(slots=True)
class Answers:
    """The pairs that were answered: coordinates of both sides, and 1, -1 or 0 for a tie."""

    first: FloatArray
    second: FloatArray
    signs: FloatArray

    @classmethod
    def none(cls, dim: int) -> "Answers":
        return cls(np.empty((0, dim)), np.empty((0, dim)), np.empty(0))

    def add(self, first: FloatArray, second: FloatArray, sign: float) -> None:
        self.first = np.vstack([self.first, first])
        self.second = np.vstack([self.second, second])
        self.signs = np.append(self.signs, sign)


class Tally(NamedTuple):
    """How the answers fit each of n metrics."""

    slips: FloatArray  # preferences named the wrong way round
    kept: FloatArray  # preferences named as meant
    odd_ties: FloatArray  # ties said where there is a difference, or not said where there is none
    even_ties: FloatArray  # the rest
    guesses: FloatArray  # preferences named where there is no difference


def tally(margins: FloatArray, indifference: FloatArray, signs: FloatArray) -> Tally:
    """Count how answers fit margins (n, t) of n metrics that see no difference below δ (n,).

    ``signs`` is (t,) or (n, t): 1 for the first, -1 for the second, 0 for a tie, NaN where nothing
    was asked.
    """
    unclear = np.abs(margins) <= indifference[:, None]
    tied, preferred = signs == 0, np.abs(signs) == 1  # neither where nothing was asked
    named = preferred & ~unclear
    kept = (named & (margins * signs > 0)).sum(axis=1)
    guesses = (preferred & unclear).sum(axis=1)
    odd = (tied & ~unclear).sum(axis=1) + guesses
    asked = np.broadcast_to(tied | preferred, margins.shape).sum(axis=1)
    counts = (named.sum(axis=1) - kept, kept, odd, asked - odd, guesses)
    return Tally(*(count.astype(float) for count in counts))


def log_likelihood(margins: FloatArray, indifference: FloatArray, signs: FloatArray) -> FloatArray:
    """Return the log-probability of the answers under each metric; arguments as for `tally`."""
    fit = tally(margins, indifference, signs)
    a, b = LAPSE_PRIOR
    named = betaln(a + fit.slips, b + fit.kept)
    ties = betaln(a + fit.odd_ties, b + fit.even_ties)
    return np.asarray(named + ties - 2.0 * betaln(a, b) - fit.guesses * np.log(2.0))
