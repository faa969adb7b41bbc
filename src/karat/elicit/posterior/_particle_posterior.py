"""What is known of a metric after some answers: weighted particles."""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from karat._typing import BoolArray, FloatArray
from karat.elicit.families import Family
from karat.elicit.posterior._choice_model import (
    N_NOISE,
    Answers,
    Noise,
    log_likelihood,
    named_first,
    read_noise,
    said_tie,
)
from karat.elicit.posterior._evidence import Evidence

__all__ = ["ParticlePosterior", "scoring_stride"]

RESAMPLE_BELOW = 0.6
_MOVES = 8
_SCORED_BY = 300  # particles that score questions, and by which the agreement is predicted
_MANY = 60  # parameters from which on steps follow the prior and not the covariance


@dataclass(slots=True)
class ParticlePosterior:
    """The posterior of a metric as weighted particles, which are resampled and moved.

    A particle is a vector of parameters of the metric and three uniform numbers, from which the
    noise of the person is read. Both are kept in single precision, so that a saved posterior is the
    same to the last digit.
    """

    family: Family
    typical: float  # difference that metrics of the family typically see between two classifiers
    parameters: FloatArray
    uniform: FloatArray
    log_weights: FloatArray
    answers: Answers
    rng: np.random.Generator
    evidence: Evidence = field(default_factory=Evidence)
    acceptance: float = 1.0
    # margins of every particle on every answer, kept to save work
    margins: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    resample_below: float = RESAMPLE_BELOW  # effective share of the particles
    turns: bool | None = None  # whether to step as for many parameters; by default by their number

    @classmethod
    def prior(
        cls,
        family: Family,
        n: int,
        typical: float,
        rng: np.random.Generator,
        *,
        resample_below: float = RESAMPLE_BELOW,
    ) -> "ParticlePosterior":
        """Draw n particles before any answer, for differences of a typical size."""
        drawn = rng.normal(size=(n, family.size))
        return cls(
            family,
            typical,
            single(np.where(family.signed, drawn, np.abs(drawn))),
            single(rng.random((n, N_NOISE))),
            np.zeros(n),
            Answers.none(family.space.dim),
            rng,
            margins=np.empty((n, 0)),
            resample_below=resample_below,
        )

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
    def noise(self) -> Noise:
        """Slope, lapse rate and indifference of each particle."""
        return read_noise(self.uniform, self.typical)

    def update(self, first: FloatArray, second: FloatArray, sign: float) -> None:
        """Condition on an answer: 1 if the first is preferred, -1 if the second, 0 for a tie."""
        self.answers = self.answers.with_answer(first, second, sign)
        self.see_answers()
        margin, noise, shares = self.margins[:, -1:], self.noise, self.shares
        tie = said_tie(margin, noise)[:, 0]
        chance = tie if sign == 0 else (1.0 - tie) * named_first(sign * margin, noise)[:, 0]
        self.evidence.add(sign, float(shares @ chance), float(shares @ tie))
        weighted = self.log_weights + np.log(chance)
        self.log_weights = single(weighted - logsumexp(weighted))
        if self.effective < self.resample_below * len(self.parameters):
            self.rejuvenate()

    def see_answers(self) -> None:
        """Compute the margins of all particles on all answers.

        All in one call, also when a saved posterior is read: the same to the last digit.
        """
        self.margins = self._margins(self.parameters, self.answers)

    def _margins(self, parameters: FloatArray, answers: Answers) -> FloatArray:
        if not len(answers.signs):
            return np.empty((len(parameters), 0))
        values = self.family.values(parameters, np.vstack([answers.first, answers.second]))
        return np.asarray(values[:, : len(answers.first)] - values[:, len(answers.first) :])

    def rejuvenate(self) -> None:
        """Replace light particles by copies of heavy ones, and move all of them."""
        self._resample()
        self._move()
        self.see_answers()

    def _resample(self) -> None:
        n = len(self.parameters)
        at = (self.rng.random() + np.arange(n)) / n
        chosen = np.searchsorted(np.cumsum(self.shares), at).clip(0, n - 1)
        self.parameters, self.uniform = self.parameters[chosen], self.uniform[chosen]
        self.margins = self.margins[chosen]
        self.log_weights = np.zeros(n)

    def _move(self) -> None:
        """Refresh the particles by Metropolis steps that leave the posterior as it is."""
        n = len(self.parameters)
        many = self.family.size >= _MANY if self.turns is None else self.turns
        steps = _TURN if many else _WALK
        shape = steps.shape_of(self.parameters)
        spread = self.uniform.std(axis=0) + 0.02
        current = log_likelihood(self.margins, self.noise, self.answers.signs)
        accepted = 0.0
        for _ in range(_MOVES):
            # Metric alone, noise alone, or both: each is found where the other stands still.
            what = self.rng.integers(0, 3, size=(n, 1))
            parameters, prior = steps.propose(self.parameters, shape, self.family.signed, self.rng)
            parameters = np.where(what == 1, self.parameters, single(parameters))
            prior = np.where(what[:, 0] == 1, 0.0, prior)
            uniform = np.where(what == 0, self.uniform, self._nearby_noise(spread))
            inside = np.isfinite(prior)
            margins = self._margins(np.where(inside[:, None], parameters, 1.0), self.answers)
            noise = read_noise(uniform, self.typical)
            proposed = log_likelihood(margins, noise, self.answers.signs)
            taken = inside & (np.log(self.rng.random(n)) < proposed - current + prior)
            self.parameters[taken], self.uniform[taken] = parameters[taken], uniform[taken]
            current[taken] = proposed[taken]
            accepted += float(taken.mean()) / _MOVES
        self.acceptance = accepted

    def _nearby_noise(self, spread: FloatArray) -> FloatArray:
        """Return uniform numbers near those of each particle, reflected at 0 and 1."""
        step = self.rng.normal(size=self.uniform.shape) * spread
        moved = np.abs(self.uniform + step)
        moved = 1.0 - np.abs(1.0 - moved % 2.0)
        # Now and then a fresh number for ties: those who say tie and those who never do are apart.
        fresh = self.rng.random((len(moved), 2))
        moved[:, 2] = np.where(fresh[:, 0] < 0.3, fresh[:, 1], moved[:, 2])
        return single(moved)


class _RandomWalk:
    """Steps of the particles' own shape: best where there are few parameters."""

    def shape_of(self, parameters: FloatArray) -> FloatArray:
        """Return a root of the covariance of the particles."""
        covariance = np.atleast_2d(np.cov(parameters.T))
        values, vectors = np.linalg.eigh(covariance)
        return np.asarray((vectors * np.sqrt(np.maximum(values, 1e-14))).T)

    def propose(
        self,
        parameters: FloatArray,
        shape: FloatArray,
        signed: BoolArray,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, FloatArray]:
        """Return proposals and the log-ratio of their prior; −∞ where a sign is wrong."""
        n, size = parameters.shape
        # 2.38/√size is the best step for a normal target; shorter ones help elsewhere
        step = rng.choice([0.3, 0.7, 1.0], size=(n, 1)) * 2.38 / np.sqrt(size)
        moved = parameters + step * (rng.normal(size=(n, size)) @ shape)
        change = 0.5 * np.sum(parameters**2 - moved**2, axis=1)
        return moved, np.where(((moved >= 0) | signed).all(axis=1), change, -np.inf)


class _Turn:
    """Steps that leave the normal prior as it is: their acceptance does not fall with the size.

    ``x' = √(1−β²) x + β ξ``, reflected where no sign is allowed, is reversible with respect to the
    (half-)normal prior (Cotter et al. 2013), so only the likelihood decides.
    """

    def shape_of(self, parameters: FloatArray) -> FloatArray:
        return np.empty(0)

    def propose(
        self,
        parameters: FloatArray,
        shape: FloatArray,
        signed: BoolArray,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, FloatArray]:
        n, size = parameters.shape
        share = rng.choice([0.05, 0.15, 0.4], size=(n, 1))
        fresh = rng.standard_normal((n, size), dtype=np.float32)
        moved = np.sqrt(1.0 - share**2) * parameters + share * fresh
        return np.where(signed, moved, np.abs(moved)), np.zeros(n)


_WALK, _TURN = _RandomWalk(), _Turn()


def scoring_stride(n: int) -> int:
    """Return every how many of n particles one is used to score questions and agreement."""
    return max(1, n // _SCORED_BY)


def single(values: FloatArray) -> FloatArray:
    """Round to single precision, in which particles are kept and saved."""
    return np.asarray(values, dtype=np.float32).astype(np.float64)
