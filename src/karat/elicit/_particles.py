"""What is known of a metric after some answers: weighted particles, resampled and moved.

A person means to answer by the metric. Someone who cannot tell classifiers closer than δ apart says
tie there, and elsewhere names the better one; at the rate γ a tie is said, or not said, against
this, and a named preference is inverted at the lapse rate ε. Both rates have the prior Beta(1, 19)
and are integrated out: with b exceptions among b + g cases,
``∫ ε^b (1−ε)^g Beta(ε; 1, 19) dε ∝ B(1+b, 19+g)``. They are two rates, not one, so that someone who
often says tie is not taken for someone who errs.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, betaln

from karat._typing import FloatArray
from karat.elicit._families import Family

__all__ = ["Answers", "Cloud", "log_likelihood", "tally"]

LAPSE_PRIOR = (1.0, 19.0)  # of both rates
_NO_TIES = 0.5  # prior probability that the person tells any two classifiers apart
_CAUTION = 0.9
_MOVES = 6
_RESAMPLE_BELOW = 0.6


@dataclass(slots=True)
class Answers:
    """The pairs that were answered: coordinates of both sides, and 1, -1 or 0 for a tie."""

    first: FloatArray
    second: FloatArray
    said: FloatArray

    @classmethod
    def none(cls, dim: int) -> "Answers":
        return cls(np.empty((0, dim)), np.empty((0, dim)), np.empty(0))

    def add(self, first: FloatArray, second: FloatArray, said: float) -> None:
        self.first = np.vstack([self.first, first])
        self.second = np.vstack([self.second, second])
        self.said = np.append(self.said, said)


@dataclass(slots=True)
class Cloud:
    """Particles: parameters of the metric, and δ, the difference the person cannot see."""

    family: Family
    parameters: FloatArray
    blind: FloatArray  # δ
    blind_scale: float
    log_weights: FloatArray
    answers: Answers
    rng: np.random.Generator
    acceptance: float = 1.0
    # margins of every particle on every answer, kept to save work
    margins: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def prior(cls, family: Family, n: int, blind_scale: float, rng: np.random.Generator) -> "Cloud":
        drawn = rng.normal(size=(n, family.size))
        parameters = np.where(family.signed, drawn, np.abs(drawn))
        cloud = cls(
            family,
            parameters,
            np.zeros(n),
            blind_scale,
            np.zeros(n),
            Answers.none(family.space.dim),
            rng,
            margins=np.empty((n, 0)),
        )
        cloud.blind = cloud._draw_blind(n)
        return cloud

    def _draw_blind(self, n: int) -> FloatArray:
        drawn = self.blind_scale * np.exp(self.rng.normal(size=n))
        return np.asarray(np.where(self.rng.random(n) < _NO_TIES, 0.0, drawn))

    @property
    def shares(self) -> FloatArray:
        """The weights, normalised."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(weights / weights.sum())

    @property
    def effective(self) -> float:
        """Effective number of particles."""
        return float(1.0 / np.sum(self.shares**2))

    @property
    def lapse(self) -> tuple[FloatArray, FloatArray]:
        """The parameters of the Beta posterior of the lapse rate, for each particle."""
        fit = tally(self.margins, self.blind, self.answers.said)
        return LAPSE_PRIOR[0] + fit.slips, LAPSE_PRIOR[1] + fit.kept

    @property
    def lapse_mean(self) -> float:
        slips, kept = self.lapse
        return float(self.shares @ (slips / (slips + kept)))

    def cautious(self) -> tuple[FloatArray, float]:
        """Return the shares if the person slips as often as is still plausible, and how often.

        A few consistent answers say little of the lapse rate, and whoever slips more than
        expected would be misread with confidence. So the agreement is predicted under the 90 %
        upper limit of the rate.
        """
        slips, kept = self.lapse
        shares = self.shares
        rate = float(betaincinv(shares @ slips, shares @ kept, _CAUTION))
        a, b = LAPSE_PRIOR
        log = self.log_weights - betaln(slips, kept)
        log = log + (slips - a) * np.log(rate) + (kept - b) * np.log1p(-rate)
        weights = np.exp(log - log.max())
        return weights / weights.sum(), rate

    def tell(self, first: FloatArray, second: FloatArray, said: float) -> None:
        """Take an answer into account: 1 if the first is preferred, -1 the second, 0 a tie."""
        before = log_likelihood(self.margins, self.blind, self.answers.said)
        self.answers.add(first, second, said)
        new = self._margins(self.parameters, first[None], second[None])
        self.margins = np.hstack([self.margins, new])
        self.log_weights += log_likelihood(self.margins, self.blind, self.answers.said) - before
        if self.effective < _RESAMPLE_BELOW * len(self.parameters):
            self._resample()
            self._move()

    def _margins(self, parameters: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        points = np.vstack([first, second])
        values = self.family.values(parameters, points)
        return np.asarray(values[:, : len(first)] - values[:, len(first) :])

    def _resample(self) -> None:
        n = len(self.parameters)
        at = (self.rng.random() + np.arange(n)) / n
        chosen = np.searchsorted(np.cumsum(self.shares), at).clip(0, n - 1)
        self.parameters, self.blind = self.parameters[chosen], self.blind[chosen]
        self.margins = self.margins[chosen]
        self.log_weights = np.zeros(n)

    def _move(self) -> None:
        """Refresh the particles by Metropolis steps that leave the posterior as it is."""
        n, size = self.parameters.shape
        root = _root_of_covariance(self.parameters)
        current = self._target(self.parameters, self.blind, self.margins)
        accepted = 0.0
        moves = max(_MOVES, size // 2)  # many parameters take more steps to forget where they were
        for _ in range(moves):
            step = self.rng.choice([0.3, 0.7, 1.0], size=(n, 1)) * 2.38 / np.sqrt(size)
            parameters = self.parameters + step * (self.rng.normal(size=(n, size)) @ root)
            fresh = self.rng.random(n) < 0.3  # now and then another δ too, from its prior
            blind = np.where(fresh, self._draw_blind(n), self.blind)
            inside = ((parameters >= 0) | self.family.signed).all(axis=1)
            margins = self._margins(
                np.where(inside[:, None], parameters, 1.0), self.answers.first, self.answers.second
            )
            proposed = np.where(inside, self._target(parameters, blind, margins), -np.inf)
            taken = np.log(self.rng.random(n)) < proposed - current
            self.parameters[taken], self.blind[taken] = parameters[taken], blind[taken]
            self.margins[taken], current[taken] = margins[taken], proposed[taken]
            accepted += float(taken.mean()) / moves
        self.acceptance = accepted

    def _target(self, parameters: FloatArray, blind: FloatArray, margins: FloatArray) -> FloatArray:
        """Log of prior times likelihood; δ's prior is left out, as it is proposed from it."""
        prior = -0.5 * np.sum(parameters**2, axis=1)
        return np.asarray(prior + log_likelihood(margins, blind, self.answers.said))


def _root_of_covariance(parameters: FloatArray) -> FloatArray:
    """Return a root of the covariance of the particles, as steps of their own shape."""
    covariance = np.atleast_2d(np.cov(parameters.T))
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 1e-14))).T)


class Tally(NamedTuple):
    """How the answers fit each of n metrics."""

    slips: FloatArray  # preferences named the wrong way round
    kept: FloatArray  # preferences named as meant
    odd_ties: FloatArray  # ties said where there is a difference, or not said where there is none
    even_ties: FloatArray  # the rest
    guesses: FloatArray  # preferences named where there is no difference


def tally(margins: FloatArray, blind: FloatArray, said: FloatArray) -> Tally:
    """Count how answers fit margins (n, t) of n metrics that see no difference below δ (n,).

    ``said`` is (t,) or (n, t): 1 for the first, -1 for the second, 0 for a tie, NaN for nothing.
    """
    unclear = np.abs(margins) <= blind[:, None]
    tied, told = said == 0, np.abs(said) == 1  # neither where nothing was asked
    named = told & ~unclear
    kept = (named & (margins * said > 0)).sum(axis=1)
    guesses = (told & unclear).sum(axis=1)
    odd = (tied & ~unclear).sum(axis=1) + guesses
    asked = np.broadcast_to(tied | told, margins.shape).sum(axis=1)
    counts = (named.sum(axis=1) - kept, kept, odd, asked - odd, guesses)
    return Tally(*(count.astype(float) for count in counts))


def log_likelihood(margins: FloatArray, blind: FloatArray, said: FloatArray) -> FloatArray:
    """Return the log-probability of the answers under each metric; arguments as for `tally`."""
    fit = tally(margins, blind, said)
    a, b = LAPSE_PRIOR
    named = betaln(a + fit.slips, b + fit.kept)
    ties = betaln(a + fit.odd_ties, b + fit.even_ties)
    return np.asarray(named + ties - 2.0 * betaln(a, b) - fit.guesses * np.log(2.0))
