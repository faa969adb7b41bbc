"""What noisy answers say of a metric.

A `ParticlePosterior` holds weighted metrics, each with the noise of the person who answers: how
answers blur near indifference, how often one slips, and when ties are said (``log_likelihood``).
Its `Evidence` says whether the answers are those of someone with a metric in mind. An
`AgreementPanel` predicts how often two metrics agree, and `PosteriorDraws` are the metrics a result
is computed from.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, logsumexp, ndtr, ndtri

from karat._typing import BoolArray, FloatArray, IntArray
from karat.elicit.families import Family
from karat.elicit.spaces import QuestionSpace


@dataclass(frozen=True, slots=True)
class AgreementPanel:
    """Random pairs of attainable classifiers, on which the agreement of metrics is counted."""

    points: FloatArray
    left: IntArray
    right: IntArray

    @classmethod
    def of(cls, space: QuestionSpace, n: int, rng: np.random.Generator) -> AgreementPanel:
        """Draw n classifiers, and as many pairs of them."""
        points = space.coordinates(space.sample(n, rng=rng))
        left, right = rng.integers(0, n, (2, n))
        differ = np.abs(points[left] - points[right]).max(axis=1) > 1e-12
        return cls(points, left[differ], right[differ])

    def agreement(
        self, family: Family, estimate: FloatArray, parameters: FloatArray, shares: FloatArray
    ) -> float:
        """Return the share of pairs on which an estimate and a drawn metric prefer alike."""
        every = scoring_stride(len(shares))
        parameters, shares = parameters[::every], shares[::every] / shares[::every].sum()
        if not len(self.left):
            return 1.0  # all classifiers are the same: there is nothing to disagree on
        estimated = family.values(estimate[None], self.points)[0]
        drawn = by_point(family.values(parameters, self.points))
        prefers = estimated[self.left] > estimated[self.right]
        same = (drawn[self.left] > drawn[self.right]) == prefers[:, None]
        return float(same.mean(axis=0) @ shares)

    def typical_margin(self, family: Family, parameters: FloatArray) -> float:
        """Return the median difference that metrics see between the sides of a pair."""
        values = by_point(family.values(parameters, self.points))
        if not len(self.left):
            return 1.0
        return float(np.median(np.abs(values[self.left] - values[self.right])))


def by_point(values: FloatArray) -> FloatArray:
    """Return (points, particles) in memory order: rows are then fast to take."""
    return np.ascontiguousarray(values.T)


# --- Whether the answers are those of someone with a metric in mind.
#
# The model predicts each answer from those before it. The product Z of these probabilities is
# compared with that of two explanations without a metric: a coin, and someone who names one side
# more often than the other whatever is shown (a Beta(1, 1) rate), each with weight one half. By
# Ville's inequality Z exceeds e³ times a coin's ``2⁻ⁿ`` at any time with a probability of at most
# 5 % if the answers are a coin's. Only answers that name a side count; ties are compared by
# themselves with someone who says tie at one rate whatever is shown.

_MANY_TIES = 6  # a few ties at the beginning are no sign of carelessness
_CLEAR = 3.0  # e³ = 20: one in twenty of those without a metric would get so far by chance


@dataclass(slots=True)
class Evidence:
    """Log-probabilities of the answers so far, and how many there are of each kind."""

    named: float = 0.0  # log-probability of the sides that were named, given that one was
    ties: float = 0.0  # log-probability of where ties were said
    n_first: int = 0
    n_second: int = 0
    n_ties: int = 0
    contradicted: bool = False  # whether a person without a metric was ever clearly more likely

    def add(self, sign: float, chance: float, tie: float) -> None:
        """Record an answer of a predicted probability, where a tie had another one."""
        self.ties += float(np.log(tie if sign == 0 else 1.0 - tie))
        if sign != 0:
            self.named += float(np.log(chance / (1.0 - tie)))
        self.n_first += sign > 0
        self.n_second += sign < 0
        self.n_ties += sign == 0
        tied = self.n_ties >= _MANY_TIES and self.ties_above_one_rate <= -_CLEAR
        self.contradicted = self.contradicted or tied or self.above_no_metric <= -_CLEAR

    @property
    def n_named(self) -> int:
        """Number of answers that name a side."""
        return self.n_first + self.n_second

    @property
    def above_coin(self) -> float:
        """Log of how much more probable the answers are than a coin's."""
        return self.named + self.n_named * float(np.log(2.0))

    @property
    def above_no_metric(self) -> float:
        """Log of how much more probable they are than those of a coin or of a favourite side."""
        coin = -self.n_named * np.log(2.0)
        side = betaln(1 + self.n_first, 1 + self.n_second)
        return self.named - float(np.logaddexp(coin, side) - np.log(2.0))

    @property
    def ties_above_one_rate(self) -> float:
        """Log of how much more probable the ties are than ties that are said at one rate."""
        return self.ties - float(betaln(1 + self.n_ties, 1 + self.n_named))

    def excludes_coin(self, tries: int = 1) -> bool:
        """Whether a coin would lead to such answers in at most 5 % of cases, over all tries.

        With two families that may be certified on the same answers each has half of the 5 %.
        """
        return not self.contradicted and self.above_coin >= _CLEAR + np.log(tries)


# --- What is known of a metric after some answers: weighted particles.

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
    ) -> ParticlePosterior:
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


# --- How probable a person's answers are under a metric.
#
# A metric values the first classifier by d more than the second. A person who names a side names
# the first with probability ``ε + (1−2ε) σ(d/s)``: answers get less certain where two classifiers
# are nearly equal (Hiranandani 2021, Definition 2.4 and guideline G5, smoothed), and the share ε is
# wrong wherever it is asked. A tie is said with odds ``cosh(δ/2s) : cosh(d/2s)``, even odds where
# the classifiers differ by δ (Davidson 1970); given that a side is named, ties change nothing.
# Someone with ``δ = 0`` never says tie.
#
# The slope s, the lapse rate ε and the indifference δ are unknown and differ between people. Each
# is read from a number that is uniform between 0 and 1:
#
# - ``s`` is log-uniform between a hundredth of a typical difference and a whole one,
# - ``ε`` is Beta(1, 5) below one half: a lapse rate of 20 % is not rare,
# - ``δ`` is 0 for half of all people, else log-normal around a tenth of a typical difference, and
#   at most a whole one: someone to whom typical differences are ties has no preference to find.

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
    _LEAST_SLOPE,
    _LAPSE_POWER,
    _MOST_LAPSE,
    _NO_TIES,
    _TYPICAL_TIE,
    _TIE_SLIP,
    _BELOW_TYPICAL,
)


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
    def none(cls, dim: int) -> Answers:
        """Return no answers, about points of so many numbers."""
        return cls(np.empty((0, dim)), np.empty((0, dim)), np.empty(0))

    def with_answer(self, first: FloatArray, second: FloatArray, sign: float) -> Answers:
        """Return these answers and one more."""
        return Answers(
            np.vstack([self.first, first]),
            np.vstack([self.second, second]),
            np.append(self.signs, sign),
        )


# --- Metrics that the answers leave possible, whatever the strategy.


@dataclass(frozen=True, slots=True)
class PosteriorDraws:
    """Parameters (n, size) of metrics with their shares (n,), and those of the estimate (size,)."""

    family: Family
    parameters: FloatArray
    shares: FloatArray
    estimate: FloatArray

    def thinned(self, n: int) -> FloatArray:
        """Return n metrics of equal share."""
        return thinned(self.parameters, self.shares, n)


def thinned(parameters: FloatArray, shares: FloatArray, n: int) -> FloatArray:
    """Return n of some vectors, each as often as its share asks."""
    at = (np.arange(n) + 0.5) / n
    chosen = np.searchsorted(np.cumsum(shares), at).clip(max=len(shares) - 1)
    return np.asarray(parameters[chosen])


# --- Brackets: what answers leave possible of each parameter, for searches by bisection.


@dataclass(slots=True)
class Brackets:
    """What is known of each parameter so far: it lies between low and high.

    ``answered[i, 0]`` is 1 where an answer set the lower end, ``answered[i, 1]`` where one set the
    upper end, and 0 elsewhere. A parameter may lie beyond an end that no answer set, up to
    ``limits``: no question distinguishes it from the end.
    """

    low: FloatArray
    high: FloatArray
    answered: FloatArray
    limits: tuple[float | FloatArray, float | FloatArray]
    reference: int = 0  # the class or coordinate that ratios are against, where they are
    # of the slope at each site: the signs of its entries; all 0 where the metric is flat
    signs: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    # of each site where the slope lies in a known plane: an orthonormal basis of the plane
    bases: dict[int, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(
        cls, low: float, high: float, n: int, limits: tuple[float, float] = (0.0, np.pi / 2)
    ) -> Brackets:
        """Return n brackets from low to high, within the limits."""
        return cls(np.full(n, float(low)), np.full(n, float(high)), np.zeros((n, 2)), limits)

    @property
    def open_low(self) -> FloatArray:
        """Low ends, at the limit where no answer has raised them."""
        return np.asarray(np.where(self.answered[:, 0] > 0, self.low, self.limits[0]))

    @property
    def open_high(self) -> FloatArray:
        """High ends, at the limit where no answer has cut them."""
        return np.asarray(np.where(self.answered[:, 1] > 0, self.high, self.limits[1]))

    def extended(self, low: float, high: float) -> Brackets:
        """Return the brackets with one more at the end."""
        ends = (np.append(self.limits[0], low), np.append(self.limits[1], high))
        return replace(
            self,
            low=np.append(self.low, low),
            high=np.append(self.high, high),
            answered=np.vstack([self.answered.reshape(-1, 2), np.zeros(2)]),
            limits=ends,
        )

    def copy(self) -> Brackets:
        """Return what is known now; a search goes on to change the original in place."""
        return replace(
            self,
            low=self.low.copy(),
            high=self.high.copy(),
            answered=self.answered.copy(),
            signs=self.signs.copy(),
            bases=dict(self.bases),
        )

    def reopen(self, i: int, low: float, high: float) -> None:
        """Start the search of a parameter again."""
        self.low[i], self.high[i], self.answered[i] = low, high, 0.0

    @property
    def middle(self) -> FloatArray:
        """The middle of each bracket."""
        return np.asarray((self.low + self.high) / 2)

    def estimate(self, near: float) -> FloatArray:
        """Return the middle of each bracket.

        An end that no answer set is taken at its limit, where that is no farther than ``near``.
        """
        low = np.where(self.low - self.open_low <= near, self.open_low, self.low)
        high = np.where(self.open_high - self.high <= near, self.open_high, self.high)
        return np.asarray((low + high) / 2)

    def width(self, i: int) -> float:
        """Return the width of a bracket."""
        return float(self.high[i] - self.low[i])

    def raise_low(self, i: int, value: float) -> None:
        """Raise the low end of a bracket."""
        self.low[i], self.answered[i, 0] = value, 1.0

    def cut_high(self, i: int, value: float) -> None:
        """Cut the high end of a bracket."""
        self.high[i], self.answered[i, 1] = value, 1.0
