"""What is known of a metric after some answers: weighted particles."""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from karat._typing import BoolArray, FloatArray, IntArray
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
# Moves after resampling: the more parameters, the more it takes until copies of one particle are
# apart. With 8 the limits of six costs are too narrow. Very many parameters take their time.
_MOVES, _MOVES_PER_PARAMETER, _MOST_MOVES = 8, 4, 24
_SCORED_BY = 300  # particles that score questions, and by which the agreement is predicted
_SEVERAL = 3  # parameters from which on limits are read with caution
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
    seen: FloatArray | None = None  # the margins, once they were needed
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
            resample_below=resample_below,
        )

    @property
    def shares(self) -> FloatArray:
        """The weights, normalised."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(weights / weights.sum())

    @property
    def limit_shares(self) -> FloatArray:
        """The weights that limits are read from: the cautious ones from three weights on.

        Limits of two, and of what gaps between groups are worth, are wide enough as they are.
        """
        few = self.family.size < _SEVERAL or self.family.gap_worth(self.parameters[:1]) is not None
        return self.shares if few else self.cautious_shares

    @property
    def cautious_shares(self) -> FloatArray:
        """The weights as if s were uniform a priori, and not log s.

        Under the latter the limits of people who hesitate much are too narrow: see
        docs/theory/elicitation.md for what was tried.
        """
        weights = self.shares * self.noise.slope
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
        self.answers, self.seen = self.answers.with_answer(first, second, sign), None
        margin, noise, shares = self.margins[:, -1:], self.noise, self.shares
        tie = said_tie(margin, noise)[:, 0]
        chance = tie if sign == 0 else (1.0 - tie) * named_first(sign * margin, noise)[:, 0]
        self.evidence.add(sign, float(shares @ chance), float(shares @ tie))
        weighted = self.log_weights + np.log(chance)
        self.log_weights = single(weighted - logsumexp(weighted))
        if self.effective < self.resample_below * len(self.parameters):
            self.rejuvenate()

    @property
    def margins(self) -> FloatArray:
        """By how much every particle prefers the first side of every answered pair, (n, answers).

        Computed in one call for all answers, when it is needed: the same to the last digit in a
        posterior that was saved and read.
        """
        if self.seen is None:
            self.seen = self._margins(self.parameters, self.answers)
        return self.seen

    def _margins(self, parameters: FloatArray, answers: Answers) -> FloatArray:
        if not len(answers.signs):
            return np.empty((len(parameters), 0))
        values = self.family.values(parameters, np.vstack([answers.first, answers.second]))
        return np.asarray(values[:, : len(answers.first)] - values[:, len(answers.first) :])

    def rejuvenate(self) -> None:
        """Replace light particles by copies of heavy ones, and move all of them."""
        self._resample()
        self._move()
        self.seen = None

    def _resample(self) -> None:
        n = len(self.parameters)
        at = (self.rng.random() + np.arange(n)) / n
        chosen = np.searchsorted(np.cumsum(self.shares), at).clip(0, n - 1)
        self.seen = self.margins[chosen]
        self.parameters, self.uniform = self.parameters[chosen], self.uniform[chosen]
        self.log_weights = np.zeros(n)

    def _move(self) -> None:
        """Refresh the particles by Metropolis steps that leave the posterior as it is."""
        n = len(self.parameters)
        many = self.family.size >= _MANY if self.turns is None else self.turns
        steps = _TURN if many else _WALK
        moves = _MOVES_PER_PARAMETER * (0 if many else self.family.size)
        moves = min(max(moves, _MOVES), _MOST_MOVES)
        shape = steps.shape_of(self.parameters)
        spread = self.uniform.std(axis=0) + 0.02
        margins = self.margins
        current = log_likelihood(margins, self.noise, self.answers.signs)
        accepted = 0.0
        for _ in range(moves):
            # Metric alone, noise alone, or both: each is found where the other stands still.
            what = self.rng.integers(0, 3, size=n)
            drawn, change = np.flatnonzero(what != 1), np.zeros(n)
            proposed, change[drawn] = steps.propose(
                self.parameters, drawn, shape, self.family.signed, self.rng
            )
            allowed = np.isfinite(change[drawn])
            if not allowed.all():
                drawn, proposed = drawn[allowed], proposed[allowed]
            uniform = np.where(what[:, None] == 0, self.uniform, self._nearby_noise(spread))
            inside = np.flatnonzero(np.isfinite(change))
            there = margins.copy()
            there[drawn] = self._margins(proposed, self.answers)
            noise = read_noise(uniform[inside], self.typical)
            likely = log_likelihood(there[inside], noise, self.answers.signs)
            gain = likely - current[inside] + change[inside]
            better = np.log(self.rng.random(n))[inside] < gain
            taken = inside[better]
            moved = np.isin(drawn, taken, assume_unique=True)
            self.parameters[drawn[moved]] = proposed[moved]
            self.uniform[taken] = uniform[taken]
            margins[taken], current[taken] = there[taken], likely[better]
            accepted += len(taken) / n / moves
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
        rows: IntArray,
        shape: FloatArray,
        signed: BoolArray,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, FloatArray]:
        """Return proposals for some rows and the log-ratio of their prior; −∞ for a wrong sign."""
        n, size = parameters.shape
        # 2.38/√size is the best step for a normal target; shorter ones help elsewhere
        step = rng.choice([0.3, 0.7, 1.0], size=(n, 1)) * 2.38 / np.sqrt(size)
        moved = single(parameters + step * (rng.normal(size=(n, size)) @ shape))[rows]
        change = 0.5 * np.sum(parameters[rows] ** 2 - moved**2, axis=1)
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
        rows: IntArray,
        shape: FloatArray,
        signed: BoolArray,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, FloatArray]:
        n, size = len(rows), parameters.shape[1]
        share = rng.choice([0.05, 0.15, 0.4], size=(n, 1))
        # In single precision, in which particles are kept: there are very many numbers.
        moved = rng.standard_normal((n, size), dtype=np.float32)
        moved *= share.astype(np.float32)
        moved += np.sqrt(1.0 - share**2).astype(np.float32) * parameters[rows].astype(np.float32)
        if not signed.any():
            np.abs(moved, out=moved)
        elif not signed.all():
            moved[:, ~signed] = np.abs(moved[:, ~signed])
        return moved.astype(np.float64), np.zeros(n)


_WALK, _TURN = _RandomWalk(), _Turn()


def scoring_stride(n: int) -> int:
    """Return every how many of n particles one is used to score questions and agreement."""
    return max(1, n // _SCORED_BY)


def single(values: FloatArray) -> FloatArray:
    """Round to single precision, in which particles are kept and saved."""
    return np.asarray(values, dtype=np.float32).astype(np.float64)
