"""What is known of a metric after some answers: weighted particles."""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import betaincinv, betaln

from karat._typing import FloatArray
from karat.elicit.families import Family
from karat.elicit.posterior._answer_likelihood import LAPSE_PRIOR, Answers, log_likelihood, tally

__all__ = ["ParticlePosterior", "scoring_stride"]

RESAMPLE_BELOW = 0.6
_NO_TIES = 0.5  # prior probability that the person tells any two classifiers apart
_CAUTION = 0.9  # quantile of the lapse rate under which the agreement is predicted
_MOVES = 6
_SCORED_BY = 375  # particles that score questions, and by which the agreement is predicted


@dataclass(slots=True)
class ParticlePosterior:
    """The posterior of a metric as weighted particles, which are resampled and moved.

    A particle is a vector of parameters of the metric, and δ, below which the person sees no
    difference between values.
    """

    family: Family
    parameters: FloatArray
    indifference: FloatArray  # δ
    indifference_scale: float
    log_weights: FloatArray
    answers: Answers
    rng: np.random.Generator
    acceptance: float = 1.0
    # margins of every particle on every answer, kept to save work
    margins: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    resample_below: float = RESAMPLE_BELOW  # effective share of the particles

    @classmethod
    def prior(
        cls,
        family: Family,
        n: int,
        indifference_scale: float,
        rng: np.random.Generator,
        *,
        resample_below: float = RESAMPLE_BELOW,
    ) -> "ParticlePosterior":
        """Draw n particles before any answer; those with ties have δ near a given scale."""
        drawn = rng.normal(size=(n, family.size))
        parameters = np.where(family.signed, drawn, np.abs(drawn))
        posterior = cls(
            family,
            parameters,
            np.zeros(n),
            indifference_scale,
            np.zeros(n),
            Answers.none(family.space.dim),
            rng,
            margins=np.empty((n, 0)),
            resample_below=resample_below,
        )
        posterior.indifference = posterior._draw_indifference(n)
        return posterior

    def _draw_indifference(self, n: int) -> FloatArray:
        drawn = self.indifference_scale * np.exp(self.rng.normal(size=n))
        return np.asarray(np.where(self.rng.random(n) < _NO_TIES, 0.0, drawn))

    @property
    def shares(self) -> FloatArray:
        """The weights, normalised."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(weights / weights.sum())

    @property
    def stride(self) -> int:
        """Every how many particles one is used where all of them would take too long."""
        return scoring_stride(len(self.parameters))

    @property
    def effective(self) -> float:
        """Effective number of particles."""
        return float(1.0 / np.sum(self.shares**2))

    @property
    def lapse(self) -> tuple[FloatArray, FloatArray]:
        """The parameters of the Beta posterior of the lapse rate, for each particle."""
        fit = tally(self.margins, self.indifference, self.answers.signs)
        return LAPSE_PRIOR[0] + fit.slips, LAPSE_PRIOR[1] + fit.kept

    @property
    def lapse_mean(self) -> float:
        """The posterior mean of the lapse rate."""
        slips, kept = self.lapse
        return float(self.shares @ (slips / (slips + kept)))

    def cautious(self) -> tuple[FloatArray, float]:
        """Return the shares under the highest plausible lapse rate, and that rate.

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

    def update(self, first: FloatArray, second: FloatArray, sign: float) -> None:
        """Condition on an answer: 1 if the first is preferred, -1 if the second, 0 for a tie."""
        before = log_likelihood(self.margins, self.indifference, self.answers.signs)
        self.answers.add(first, second, sign)
        new = self._margins(self.parameters, first[None], second[None])
        self.margins = np.hstack([self.margins, new])
        self.log_weights += (
            log_likelihood(self.margins, self.indifference, self.answers.signs) - before
        )
        if self.effective < self.resample_below * len(self.parameters):
            self.rejuvenate()

    def _margins(self, parameters: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        points = np.vstack([first, second])
        values = self.family.values(parameters, points)
        return np.asarray(values[:, : len(first)] - values[:, len(first) :])

    def rejuvenate(self) -> None:
        """Replace light particles by copies of heavy ones, and move all of them."""
        self._resample()
        self._move()

    def _resample(self) -> None:
        n = len(self.parameters)
        at = (self.rng.random() + np.arange(n)) / n
        chosen = np.searchsorted(np.cumsum(self.shares), at).clip(0, n - 1)
        self.parameters, self.indifference = self.parameters[chosen], self.indifference[chosen]
        self.margins = self.margins[chosen]
        self.log_weights = np.zeros(n)

    def _move(self) -> None:
        """Refresh the particles by Metropolis steps that leave the posterior as it is."""
        n, size = self.parameters.shape
        root = _root_of_covariance(self.parameters)
        current = self._target(self.parameters, self.indifference, self.margins)
        accepted = 0.0
        moves = max(_MOVES, size // 2)  # many parameters take more steps to forget where they were
        for _ in range(moves):
            # 2.38/√size is the best step for a normal target; shorter ones help elsewhere
            step = self.rng.choice([0.3, 0.7, 1.0], size=(n, 1)) * 2.38 / np.sqrt(size)
            parameters = self.parameters + step * (self.rng.normal(size=(n, size)) @ root)
            fresh = self.rng.random(n) < 0.3  # now and then another δ too, from its prior
            indifference = np.where(fresh, self._draw_indifference(n), self.indifference)
            inside = ((parameters >= 0) | self.family.signed).all(axis=1)
            margins = self._margins(
                np.where(inside[:, None], parameters, 1.0), self.answers.first, self.answers.second
            )
            proposed = np.where(inside, self._target(parameters, indifference, margins), -np.inf)
            taken = np.log(self.rng.random(n)) < proposed - current
            self.parameters[taken], self.indifference[taken] = (
                parameters[taken],
                indifference[taken],
            )
            self.margins[taken], current[taken] = margins[taken], proposed[taken]
            accepted += float(taken.mean()) / moves
        self.acceptance = accepted

    def _target(
        self, parameters: FloatArray, indifference: FloatArray, margins: FloatArray
    ) -> FloatArray:
        """Log of prior times likelihood; δ's prior is left out, as it is proposed from it."""
        prior = -0.5 * np.sum(parameters**2, axis=1)
        return np.asarray(prior + log_likelihood(margins, indifference, self.answers.signs))


def scoring_stride(n: int) -> int:
    """Return every how many of n particles one is used to score questions and agreement."""
    return max(1, n // _SCORED_BY)


def _root_of_covariance(parameters: FloatArray) -> FloatArray:
    """Return a root of the covariance of the particles, as steps of their own shape."""
    covariance = np.atleast_2d(np.cov(parameters.T))
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 1e-14))).T)
