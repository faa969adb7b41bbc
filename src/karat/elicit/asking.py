"""Which question to ask next, and when to stop.

An `ActiveSearch` asks the ``best_question`` of a source (`AttainablePairs`, `SpherePairs`), and now
and then one of the `CheckPairs`, until its `Goal` is reached. Pairs are made of a `Pool` of
classifiers that is drawn once for a space (``draw_pool``, ``cached``). ``forecast_agreement`` looks
ahead, and `Effort` says how much is computed.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from karat._sentences import Argument, Option, Remedy, Shown
from karat._typing import BoolArray, FloatArray, IntArray
from karat.elicit.counts import as_cases
from karat.elicit.families import Family, unit
from karat.elicit.posterior import (
    AgreementPanel,
    Noise,
    ParticlePosterior,
    by_point,
    named_first,
    said_tie,
    thinned,
)
from karat.elicit.result import AgreementHistory, weighted_limits
from karat.elicit.spaces import BinarySpace, QuestionSpace, Space
from karat.elicit.transcript import SIGNS, Query
from karat.exceptions import ElicitationError


def forecast_agreement(
    progress: AgreementHistory, search: ActiveSearch, extra: int, n_people: int, seed: int
) -> AgreementHistory:
    """Return the history with the mean of what people drawn from the posterior would answer."""
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(n_people):
        drawn = int(rng.choice(len(search.posterior.shares), p=search.posterior.shares))
        runs.append(_agreement_of_person(copy.deepcopy(search), drawn, extra, rng))
    last = progress.n_queries[-1]
    return AgreementHistory(
        n_queries=progress.n_queries,
        agreement=progress.agreement,
        expected_n_queries=last + 1.0 + np.arange(extra),
        expected_agreement=np.mean(runs, axis=0),
        target=progress.target,
    )


def _agreement_of_person(
    search: ActiveSearch, person: int, extra: int, rng: np.random.Generator
) -> list[float]:
    """Return the predicted agreement after each of ``extra`` answers of one of the particles."""
    posterior, source, history = search.posterior, search.source, list[float]()
    metric = posterior.parameters[person : person + 1].copy()
    noise = type(posterior.noise)(*(part[person : person + 1] for part in posterior.noise))
    for _ in range(extra):
        index, _bits = best_question([posterior], source.candidates(posterior))
        if index is None:
            return history + [history[-1] if history else search.agreement()] * (
                extra - len(history)
            )
        asked = source.pick(index)
        values = posterior.family.values(metric, np.stack([asked.first, asked.second]))
        chance = float(named_first(values[:, :1] - values[:, 1:], noise)[0, 0])
        posterior.update(asked.first, asked.second, 1.0 if rng.random() < chance else -1.0)
        history.append(search.agreement())
    return history


# --- Ask what splits the posterior best, until the metric is known well enough.

_SHORT_LIST = 150
_APART = 60  # pairs on the short list that tell families apart
# Weight of what an answer tells of the family, beside 1 of all it tells: see
# docs/theory/elicitation.md for the people it was settled on and tried on.
_FAMILY_FIRST = 2.0
_NOTHING_TO_LEARN = 0.01  # bits


@dataclass(slots=True)
class ActiveSearch:
    """A search in progress: what is known, what is to be reached, and what was asked."""

    posterior: ParticlePosterior
    panel: AgreementPanel
    source: QuestionSource
    goal: Goal
    checks: CheckPairs | None = None
    rivals: list[ParticlePosterior] = field(default_factory=list)
    history: list[float] = field(default_factory=list)  # predicted agreement, from 0 answers on
    queries: list[Query] = field(default_factory=list)  # those with an answer that is no skip
    n_asked: int = 0
    pending: Pending | None = None
    tries: int = 1  # families that may be certified on these answers, one after the other
    learned: bool = False  # whether no question is left that would tell anything

    def steps(self) -> Generator[Query, str, None]:
        """Yield questions and be sent their answers, from wherever the search stands."""
        while True:
            if self.pending is None:
                self.pending = self._next()
            if self.pending is None:
                return
            self.take((yield self.pending.query))

    def take(self, answer: str) -> None:
        """Take the answer to the pending question."""
        asked, self.pending = self.pending, None
        assert asked is not None
        self.n_asked += 1
        if asked.pair is not None:
            self.source.record(asked.pair, answer)
        if answer != "skip":
            self._learn(asked.query, asked.first, asked.second, answer)
        self.history.append(self.agreement())

    def believe(self, query: Query, answer: str) -> None:
        """Learn from an answer that was given elsewhere: it counts as any other."""
        if answer != "skip":
            first, second = self._coordinates(query)
            self._learn(query, first, second, answer)
            self.history[0] = self.agreement()

    def _learn(self, query: Query, first: FloatArray, second: FloatArray, answer: str) -> None:
        for posterior in (self.posterior, *self.rivals):
            posterior.update(first, second, SIGNS[answer])
        self.queries.append(query)

    def _coordinates(self, query: Query) -> FloatArray:
        return self.posterior.family.space.coordinates(np.stack([query.first, query.second]))

    @property
    def n_answers(self) -> int:
        """Number of answers that say something."""
        return len(self.queries)

    @property
    def precise(self) -> bool:
        """Whether the limits of ratios are as close as is wanted, but for caution.

        With it, three-class people who slip on 10 % would be asked 80 questions instead of 48.
        """
        p = self.posterior
        drawn = thinned(p.parameters, p.shares, self.goal.draws)
        return is_precise(p.family, drawn, self.goal)

    @property
    def excludes_coin(self) -> bool:
        """Whether the answers are hardly ever those of a coin."""
        return self.posterior.evidence.excludes_coin(self.tries)

    def is_known(self) -> bool:
        """Whether the metric is known well enough, if the answers are to be believed."""
        enough = self.n_answers >= self.goal.least and self.history[-1] >= self.goal.agreement
        return enough and (self.learned or self.precise)

    @property
    def estimate(self) -> FloatArray:
        """The parameters of the mean metric of the posterior."""
        return self.posterior.family.mean(self.posterior.parameters, self.posterior.shares)

    def agreement(self, shares: FloatArray | None = None) -> float:
        """Return the predicted agreement, under the shares of the particles or others."""
        posterior = self.posterior
        shares = posterior.shares if shares is None else shares
        estimate = posterior.family.mean(posterior.parameters, shares)
        return self.panel.agreement(posterior.family, estimate, posterior.parameters, shares)

    def next_agreement(self) -> float:
        """Return the agreement expected after one more answer, to the best question there is."""
        posterior, source = self.posterior, copy.copy(self.source)
        source.rng = copy.deepcopy(source.rng)  # the next question must not depend on looking ahead
        index, _ = best_question([posterior], source.candidates(posterior))
        if index is None:
            return self.agreement()
        asked = source.pick(index)
        sides = np.stack([asked.first, asked.second])
        values = posterior.family.values(posterior.parameters, sides)
        chance = named_first(values[:, :1] - values[:, 1:], posterior.noise)[:, 0]
        expected = 0.0
        for answer in (chance, 1.0 - chance):
            joint = posterior.shares * answer
            expected += joint.sum() * self.agreement(joint / joint.sum())
        return float(expected)

    def _next(self) -> Pending | None:
        """Return the next question; None when there is none, or no need of one."""
        evidence = self.posterior.evidence
        if self.n_asked >= self.goal.most or evidence.contradicted:
            return None
        checks = None if self.excludes_coin else self.checks
        if self.is_known():
            return self._check(checks)
        if self.goal.check_is_due(self.n_asked + 1):
            # Where a wider family tells the answers from a coin's, what is missing is no check.
            due = (
                None
                if any(rival.evidence.excludes_coin(self.tries) for rival in self.rivals)
                else checks
            )
            if (check := self._check(due)) is not None:
                return check
        asked = [self.posterior, *self.rivals]
        index, bits = best_question(asked, self.source.candidates(*asked))
        if index is None:
            return None  # every pair whose sides differ was asked about
        self.learned = bits < _NOTHING_TO_LEARN
        if self.is_known():
            return self._check(checks)
        return self._balanced(self.source.pick(index))

    def _balanced(self, asked: Pending) -> Pending:
        """Put the side that will probably be named where fewer answers were so far.

        Answers of someone with a metric then name both sides about as often, and are soon told from
        those of someone who always names one.
        """
        evidence, posterior = self.posterior.evidence, self.posterior
        values = posterior.family.values(
            posterior.parameters, np.stack([asked.first, asked.second])
        )
        likely = float(posterior.shares @ (values[:, 0] > values[:, 1])) - 0.5
        if likely * (evidence.n_first - evidence.n_second) <= 0:
            return asked
        return Pending(asked.query.swapped, asked.second, asked.first, asked.pair)

    def impose(self, query: Query) -> bool:
        """Put another question in place of the pending one: that of a transcript.

        When checks are asked depends on when to stop, so a run that goes on with another stop was
        asked what it would not have been asked at once. Returns whether the question can be of
        this search: its sides are in the pool, or it is a check made of them.
        """
        pool = getattr(self.source, "pool", None)
        known = [pool is not None and pool.holds(side) for side in (query.first, query.second)]
        if not (all(known) or (query.kind == "dominated" and any(known))):
            return False
        first, second = self._coordinates(query)
        self.pending = Pending(query, first, second)
        return True

    def _check(self, checks: CheckPairs | None) -> Pending | None:
        query = None if checks is None else checks.pick(self.posterior, self.queries, self.rivals)
        if query is None:
            return None
        first, second = self._coordinates(query)
        return Pending(query, first, second)


def best_question(
    posteriors: list[ParticlePosterior], candidates: list[Candidates]
) -> tuple[int | None, float]:
    """Return the index of the most informative candidate and its information in bits.

    With several posteriors, each of its own family, the families are as likely as they predicted
    the answers so far. The index is None if no pair differs.
    """
    seen = candidates[0].seen
    usable = np.flatnonzero(seen > 1e-9)
    if not len(usable):
        return None, 0.0
    listed = usable[_short_list(posteriors, candidates, usable)]
    bits = _information(posteriors, [c.margins(listed) for c in candidates])
    # Wide pairs are easier to judge: they decide between pairs that tell nearly the same.
    score = bits * (1.0 + 0.05 * seen[listed] / float(seen.max()))
    # Rounded, so that another machine's last digit does not choose another question.
    best = int(np.argmax(np.round(score, 9)))
    return int(listed[best]), float(bits[best])


def _short_list(
    posteriors: list[ParticlePosterior], candidates: list[Candidates], usable: IntArray
) -> IntArray:
    """Return which of the usable pairs are looked at closely, in their order.

    Those that split the particles evenly, and those that families split differently.
    """
    splits = np.stack(
        [c.split(usable, _scored(p)[0]) for p, c in zip(posteriors, candidates, strict=True)]
    )
    uneven = np.round(np.abs(_chances(posteriors) @ splits - 0.5), 6)
    closest = np.argsort(uneven, kind="stable")[:_SHORT_LIST]
    if len(posteriors) == 1:
        return np.sort(closest)
    alike = -np.round(np.abs(splits[0] - splits[1]), 6)
    return np.union1d(closest, np.argsort(alike, kind="stable")[:_APART])


def _chances(posteriors: list[ParticlePosterior]) -> FloatArray:
    """Return how likely each family is after the answers so far."""
    evidence = np.array([p.evidence.named + p.evidence.ties for p in posteriors])
    chances = np.exp(evidence - evidence.max())
    return np.asarray(chances / chances.sum())


def _information(posteriors: list[ParticlePosterior], margins: list[FloatArray]) -> FloatArray:
    """Return the information in bits of an answer about pairs with margins (c, particles).

    What it tells of the family counts more than what it tells of the metric: whether the metric is
    of the family at all is seldom what a single answer tells, and decides what the rest is worth.
    """
    chances, parts = _chances(posteriors), [_scored(posterior) for posterior in posteriors]
    each = [named_first(m.T, noise).T for m, (_, noise) in zip(margins, parts, strict=True)]
    shares = np.concatenate([c * s for c, (s, _) in zip(chances, parts, strict=True)])
    bits = answer_information(np.hstack(each), shares)
    if len(posteriors) > 1:
        by_family = np.stack([f @ s for f, (s, _) in zip(each, parts, strict=True)], axis=1)
        bits = bits + _FAMILY_FIRST * answer_information(by_family, chances)
    noise = parts[0][1]
    if float(parts[0][0] @ (noise.indifference > 0)) > 0.5:  # a tie tells nothing of the metric
        bits = bits * (1.0 - said_tie(margins[0].T, noise).T @ parts[0][0])
    return bits


def _scored(posterior: ParticlePosterior) -> tuple[FloatArray, Noise]:
    """Return the shares and the noise of the particles that score questions."""
    shares = posterior.shares[:: posterior.stride]
    every, noise = posterior.stride, posterior.noise
    ones, whole = np.ones(len(shares)), posterior.shares
    return shares / shares.sum(), Noise(
        np.exp(whole @ np.log(noise.slope)) * ones,
        (whole @ noise.lapse) * ones,
        noise.indifference[::every],
    )


def answer_information(first: FloatArray, shares: FloatArray) -> FloatArray:
    """Return what an answer tells, in bits: the entropy of its mean less its mean entropy.

    ``first`` (c, n) holds the probability of "first" under each of n metrics with given shares.
    """
    each = _entropy(first) @ shares
    return np.asarray(np.maximum(_entropy(first @ shares) - each, 0.0) / np.log(2.0))


def _entropy(chance: FloatArray) -> FloatArray:
    chance = np.clip(chance, 1e-300, 1.0)
    other = np.clip(1.0 - chance, 1e-300, 1.0)
    return np.asarray(-chance * np.log(chance) - other * np.log(other))


# --- Questions whose answer is known, or was given before: they show who answers without thought.

_VISIBLE = 0.02  # least error rate that a dominated side has more
_NEVER_RIGHT = 0.9  # of a class: it can hardly get worse
_CAREFUL = 12  # classifiers with the fewest errors, one of which a dominated pair is made of


@dataclass(slots=True)
class CheckPairs:
    """Dominated pairs, and earlier questions with their sides swapped, one after the other."""

    pool: Pool
    worst_rate: float
    rng: np.random.Generator
    asked: int = 0
    repeated: list[int] = field(default_factory=list)  # answers whose questions were asked again

    def pick(
        self,
        posterior: ParticlePosterior,
        queries: list[Query],
        rivals: Sequence[ParticlePosterior] = (),
    ) -> Query | None:
        """Return the next check, or None if there is none.

        ``queries`` are those that the posterior, and rivals of other families, know the answers of.
        With rivals all checks but the first are questions asked again: they tell a coin from a
        person and one family from another, a pair of which one side dominates only the former.
        """
        self.asked += 1
        left = [
            at
            for at, query in enumerate(queries)
            if query.kind == "question" and at not in self.repeated
        ]
        careful = self._careful()
        again = self.asked % 2 == 0 or (rivals and self.asked > 1)
        if left and (again or not len(careful)):
            return self._repeat([posterior, *rivals], queries, left)
        if not len(careful):
            return None
        better = self.pool.confusions[int(self.rng.choice(careful))]
        worse = more_errors(better, self.worst_rate)
        evidence = posterior.evidence
        ahead = evidence.n_first - evidence.n_second  # the right answer is the rarer one so far
        better_first = self.rng.random() < 0.5 if ahead == 0 else ahead < 0
        first, second = (better, worse) if better_first else (worse, better)
        return Query(first, second, kind="dominated")

    def _repeat(
        self, posteriors: list[ParticlePosterior], queries: list[Query], left: list[int]
    ) -> Query:
        """Return the earlier question of which the answer is most certain, sides swapped.

        One whose answer is the rarer side so far comes first: someone who always names one side
        is then found out. Where there are several families, what tells them apart counts too.
        """
        each = np.stack([p.shares @ named_first(p.margins[:, left], p.noise) for p in posteriors])
        evidence, chance = posteriors[0].evidence, each[0]
        rarer = np.sign(evidence.n_first - evidence.n_second) * np.sign(chance - 0.5) > 0
        score = np.abs(chance - 0.5) + rarer
        if len(posteriors) > 1:
            score = score + np.abs(each[0] - each[1])
        at = left[int(np.argmax(np.round(score, 9)))]
        self.repeated.append(at)
        return replace(queries[at].swapped, kind="repeat")

    def _careful(self) -> IntArray:
        """Return which classifiers of the pool are good enough to be made worse in every class."""
        tables = self.pool.confusions
        worst = class_errors(tables).reshape(len(tables), -1).max(axis=1)
        best = np.argsort(worst, kind="stable")[:_CAREFUL]
        return np.asarray(best[worst[best] < _NEVER_RIGHT])


def more_errors(confusion: FloatArray, worst_rate: float) -> FloatArray:
    """Return a confusion with every error rate raised by the same v, in every group.

    Gaps between groups stay as they are, so that whoever minds errors or gaps prefers the first.
    Changing some predictions at random attains it: with R the rates of a group, predictions are to
    be changed by ``I + v(11ᵀ − kR⁻¹)``. No class gets worse than ``worst_rate``, unless the
    difference would then be hard to see, nor worse than guessing.
    """
    k = confusion.shape[-1]
    worst, guessing = float(class_errors(confusion).max()), 1.0 - 1.0 / k
    room = min(worst_rate, guessing) - worst
    room = room if room > _VISIBLE else max(0.5 * (guessing - worst), _VISIBLE)
    total = confusion.sum(axis=-1, keepdims=True)
    return np.asarray(confusion + min(room, 1.0 - worst) / (k - 1) * total * (1.0 - k * np.eye(k)))


# --- When enough is known: the metric would agree with the person, and what it says is precise.

_LEAST_ANSWERS = 8
_WORTH_PER_RATIO = 5.0 / 3.0  # the worth of a gap is harder to find than a ratio of costs
_AS_GOOD_AS_NONE, _ALL_THAT_COUNTS = 0.1, 10.0  # worths beyond these need no finer limits


class Effort(NamedTuple):
    """Numbers of particles, candidates and draws: more are slower and less noisy."""

    particles: int = 1500  # of the posterior
    rival_particles: int = 1000  # of the posterior of a wider family
    pool: int = 600  # classifiers to choose pairs from
    candidates: int = 1200  # pairs looked at for each question
    panel: int = 400  # random pairs on which the agreement is predicted
    draws: int = 1000  # metrics drawn from what brackets leave open
    history_steps: int = 25  # answers after which the agreement of brackets is computed
    history_draws: int = 200  # metrics drawn for each of them
    kept: int = 1000  # draws that a result keeps
    boundary: int = 300  # classifiers that show what is attainable


@dataclass(frozen=True, slots=True)
class Goal:
    """What a search is to reach before it stops, and after how many questions it gives up."""

    agreement: float
    precision: float
    most: int
    compared: int = 0  # weights whose ratios are to be precise
    least: int = _LEAST_ANSWERS
    draws: int = Effort().kept  # metrics that limits are read from
    # of two classes: the angles of trade-offs between which some pair of the pool is valued alike
    reach: tuple[float, float] = (0.0, np.pi / 2)

    def check_is_due(self, number: int) -> bool:
        """Whether question ``number``, from 1, is one whose answer is known or was given before.

        The third shows a coin early; after 25 answers the certificate is what is missing.
        """
        return number == 3 or number % 5 == 0 or (number > 25 and number % 2 == 0)


def is_precise(family: Family, parameters: FloatArray, goal: Goal) -> bool:
    """Whether the upper limits of ratios of weights are at most ``precision`` times the lower ones.

    ``parameters`` (n, size) are metrics of equal share, those that the result would be read from.
    For metrics of groups the worth of a gap takes the place of the ratios.
    """
    shares = np.full(len(parameters), 1.0 / len(parameters))
    worth = family.gap_worth(parameters)
    if worth is not None:
        low, high = weighted_limits(worth[1], shares)
        if high <= _AS_GOOD_AS_NONE or low >= _ALL_THAT_COUNTS:
            return True
        return high <= goal.precision * _WORTH_PER_RATIO * low
    if not goal.compared:
        return True
    weights = np.abs(family.weights(parameters))[:, : goal.compared]
    if isinstance(family.space, BinarySpace):
        return _binary_is_precise(weights, shares, goal)
    top = int(np.argmax(shares @ weights))
    for i in range(goal.compared):
        low, high = weighted_limits(weights[:, i] / (weights[:, top] + 1e-300), shares)
        # a weight that is far below the greatest is small, however much smaller it is
        if high > goal.precision * low and high > 1.0 / goal.precision:
            return False
    return True


def _binary_is_precise(weights: FloatArray, shares: FloatArray, goal: Goal) -> bool:
    """Whether a cost ratio is known; never where its limits are beyond what questions tell."""
    low, high = goal.reach
    least, greatest = weighted_limits(np.arctan2(weights[:, 1], weights[:, 0]), shares)
    inside = least >= low and greatest <= high
    return bool(inside and np.tan(greatest) <= goal.precision * np.tan(least))


def told_apart(points: FloatArray) -> tuple[float, float]:
    """Return the angles between which pairs of classifiers tell trade-offs of two classes apart.

    ``points`` (n, 2) are true positives and true negatives. ``cos θ·TP + sin θ·TN`` values two of
    them alike at ``tan θ = ΔTP/−ΔTN``; beyond the least and the greatest such angle everyone
    answers alike.
    """
    order = np.lexsort((-points[:, 1], points[:, 0]))
    gain, loss = np.diff(points[order], axis=0).T
    some = (gain > 1e-9) & (loss < -1e-9)
    if not some.any():
        return 0.0, np.pi / 2
    angles = np.arctan2(gain[some], -loss[some])
    return float(angles.min()), float(angles.max())


# --- Where the next question may come from: pairs of classifiers, or of points of a ball.

_MOST_REPEATS = 3  # the same pair again averages slips; more often it is a nuisance
_DIRECTIONS = 24  # directions of the ball that are tried for each question


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs that may be asked about, of which the most informative one is chosen."""

    seen: FloatArray  # (c,) what people see of the difference; 0 where a pair must not be asked
    left: IntArray  # (c,) rows of ``values`` of both sides
    right: IntArray
    values: FloatArray  # (points, particles) what each classifier is worth under each metric

    def split(self, rows: IntArray, shares: FloatArray) -> FloatArray:
        """Return the share of the metrics that prefer the first side of some pairs."""
        # Single precision is enough to see which pairs deserve a closer look, and faster.
        values = self.values.astype(np.float32)
        prefers = values[self.left[rows]] > values[self.right[rows]]
        return np.asarray(prefers @ shares.astype(np.float32), dtype=float)

    def margins(self, rows: IntArray) -> FloatArray:
        """Return by how much each metric prefers the first side of some pairs, (rows, metrics)."""
        return np.asarray(self.values[self.left[rows]] - self.values[self.right[rows]])


@dataclass(frozen=True, slots=True)
class Pending:
    """A question that waits for its answer."""

    query: Query
    first: FloatArray  # coordinates of both sides
    second: FloatArray
    pair: tuple[int, int] | None = None  # which of the source's pairs; None for a check


class QuestionSource(Protocol):
    """Where candidates for the next question come from."""

    rng: np.random.Generator

    def candidates(self, *posteriors: ParticlePosterior) -> list[Candidates]:
        """Return the same pairs as candidates for each posterior."""

    def pick(self, index: int) -> Pending:
        """Return a candidate as a question."""

    def record(self, pair: tuple[int, int], answer: str) -> None:
        """Record the answer to a pair: one that was skipped or a tie is not asked again."""


@dataclass(slots=True)
class AttainablePairs:
    """Pairs of confusions that classifiers attain: people can be asked about them."""

    pool: Pool
    rng: np.random.Generator
    n_candidates: int = Effort().candidates
    left: IntArray = field(default_factory=lambda: np.empty(0, dtype=int))
    right: IntArray = field(default_factory=lambda: np.empty(0, dtype=int))
    times: dict[tuple[int, int], int] = field(default_factory=dict)

    def candidates(self, *posteriors: ParticlePosterior) -> list[Candidates]:
        points = self.pool.points
        self.left = self.rng.integers(0, len(points), self.n_candidates)
        self.right = self.rng.integers(0, len(points), self.n_candidates)
        seen = np.linalg.norm(points[self.left] - points[self.right], axis=1)
        seen[self.pool.alike(self.left, self.right)] = 0.0
        for (i, j), count in self.times.items():
            if count >= _MOST_REPEATS:
                seen[(self.left == i) & (self.right == j)] = 0.0
                seen[(self.left == j) & (self.right == i)] = 0.0
        found = []
        for posterior in posteriors:
            every = posterior.stride
            values = by_point(posterior.family.values(posterior.parameters[::every], points))
            found.append(Candidates(seen, self.left, self.right, values))
        return found

    def record(self, pair: tuple[int, int], answer: str) -> None:
        count = _MOST_REPEATS if answer in ("tie", "skip") else 1
        self.times[pair] = self.times.get(pair, 0) + count

    def pick(self, index: int) -> Pending:
        i, j = int(self.left[index]), int(self.right[index])
        tables, points = self.pool.confusions, self.pool.points
        return Pending(Query(tables[i], tables[j]), points[i], points[j], (min(i, j), max(i, j)))


@dataclass(slots=True)
class SpherePairs:
    """Opposite points of the ball inside the feasible set: any direction can be asked about."""

    space: Space
    rng: np.random.Generator
    directions: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    skipped: bool = False

    def candidates(self, *posteriors: ParticlePosterior) -> list[Candidates]:
        posterior = posteriors[0]
        shares, particles = posterior.shares, unit(posterior.parameters)
        middle = unit(shares @ particles)
        spread = particles - (particles @ middle)[:, None] * middle
        values, vectors = np.linalg.eigh((spread * shares[:, None]).T @ spread)
        drawn = self.rng.normal(size=(_DIRECTIONS, len(middle))) * np.sqrt(np.maximum(values, 0.0))
        tried = drawn @ vectors.T
        if not self.skipped:
            tried = np.vstack([vectors[:, -1], tried])
        tried = tried - (tried @ middle)[:, None] * middle
        self.directions = unit(tried[np.linalg.norm(tried, axis=1) > 1e-14])
        n = len(self.directions)
        values = 2.0 * self.space.radius * self.directions @ particles[:: posterior.stride].T
        level = np.zeros((1, values.shape[1]))  # what the center is worth
        left, right = np.arange(n), np.full(n, n)
        return [Candidates(np.ones(n), left, right, np.vstack([values, level]))]

    def pick(self, index: int) -> Pending:
        step = self.space.sign * self.space.radius * self.directions[index]
        first, second = self.space.center + step, self.space.center - step
        tables = self.space.confusion(np.stack([first, second]))
        return Pending(Query(tables[0], tables[1]), first, second, (0, 0))

    def record(self, pair: tuple[int, int], answer: str) -> None:
        """After a skip the widest direction is left out: it would be the same again."""
        self.skipped = answer == "skip"


# --- The classifiers that questions are made of: drawn once for a space, the same for everyone.

WORST_RATE = 0.5  # by default nobody is shown a classifier that is wrong on more of a class
_FEW = 20  # different classifiers, below which there is little to ask about
_MOST_ROUNDS = 40  # draws of a whole pool, until enough classifiers are fit to be shown
_KEPT_POOLS = 32
_kept: OrderedDict[Any, Any] = OrderedDict()
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Pool:
    """Confusions of classifiers, their coordinates, and how many cases each is displayed as."""

    confusions: FloatArray
    points: FloatArray
    cases: FloatArray | None = None  # (n, cells) before they are rounded; None: shares are shown

    def alike(self, left: IntArray, right: IntArray) -> BoolArray:
        """Whether rounding may display both sides of pairs by the same numbers.

        A number of cases is displayed as the whole number below or above it, so sides are told
        apart for sure where these whole numbers do not meet in some cell. Nothing is rounded.
        """
        if self.cases is None:
            return np.asarray(left == right)
        below, above = np.floor(self.cases), np.ceil(self.cases)
        apart = (above[left] < below[right]) | (above[right] < below[left])
        return np.asarray(~apart.any(axis=1))

    def holds(self, confusion: FloatArray) -> bool:
        """Whether a confusion is one of the pool's, but for rounding."""
        apart = np.abs(self.confusions - confusion).reshape(len(self.confusions), -1)
        return bool(apart.max(axis=1).min() < 1e-9)


def cached(key: Any, make: Callable[[], Made]) -> Made:
    """Return what was made for a key before, or make it: the latest few are kept."""
    made: Made = _kept.pop(key) if key in _kept else make()
    _kept[key] = made  # the latest comes last
    if len(_kept) > _KEPT_POOLS:
        _kept.popitem(last=False)
    return made


def class_errors(confusions: FloatArray) -> FloatArray:
    """Return the share of each true class that is predicted wrongly, (..., k)."""
    total = confusions.sum(axis=-1)
    right = np.einsum("...ii->...i", confusions)
    return np.asarray(1.0 - right / np.where(total > 0, total, 1.0))


def draw_pool(
    space: QuestionSpace, n: int, *, inside: bool, worst_rate: float, out_of: int | None
) -> Pool:
    """Draw n classifiers that are wrong on at most ``worst_rate`` of each class.

    With ``inside``, half are mixed with guessing: ratios and curves are bent inside the feasible
    set, which pairs of extreme points do not show.
    """
    rng = np.random.default_rng(0)  # the same for everyone who is asked about the space
    rounds, worst, fit = [], [], 0
    for _ in range(_MOST_ROUNDS):
        tables = space.sample(n, rng=rng)
        tables = _mixed(tables, space.guess, rng) if inside else tables
        rounds.append(tables)
        worst.append(class_errors(tables).reshape(len(tables), -1).max(axis=1))
        fit += int((worst[-1] <= worst_rate + 1e-12).sum())
        if fit >= n:
            break
    every, errors = np.concatenate(rounds), np.concatenate(worst)
    tables = _distinct(every[errors <= worst_rate + 1e-12])[:n]
    if worst_rate == WORST_RATE and len(tables) < _FEW:
        # The default gives way where hardly any classifier is that good in every class, which is
        # common with three classes or more: to the better tenth of them, or to all.
        tables = _distinct(every[errors <= np.quantile(errors, 0.1) + 1e-12])[:n]
        tables = _distinct(every)[:n] if len(tables) < _FEW else tables
    if len(tables) < 2:
        least = float(errors.min())
        enough = min(1.0, np.ceil(20 * least + 1) / 20)
        raise ElicitationError(
            Argument("worst_rate"),
            f" is {worst_rate:g} and {('no' if not len(tables) else 'only one')} "
            "classifier of this space is wrong on so little of every class (the best "
            f"one found: {least:.3f})",
            Remedy("pass ", Option("worst_rate", Shown(f"{enough:g}")), " or more"),
        )
    cases = None if out_of is None else _displayed(tables, out_of)
    return Pool(tables, space.coordinates(tables), cases)


def _distinct(tables: FloatArray) -> FloatArray:
    _, distinct = np.unique(np.round(tables, 9), axis=0, return_index=True)
    return np.asarray(tables[np.sort(distinct)])


def _mixed(tables: FloatArray, guess: FloatArray, rng: np.random.Generator) -> FloatArray:
    share = np.where(np.arange(len(tables)) % 2, rng.random(len(tables)), 0.0)
    share = share.reshape(-1, *[1] * (tables.ndim - 1))
    return np.asarray((1 - share) * tables + share * guess)


def _displayed(tables: FloatArray, out_of: int) -> FloatArray:
    """Return confusions as cases out of ``out_of``, in one row each; refuse if all look alike."""
    cases = as_cases(tables, out_of).reshape(len(tables), -1)
    if (np.floor(cases).max(axis=0) <= np.ceil(cases).min(axis=0)).all():
        raise ElicitationError(
            Argument("out_of"),
            f" is {out_of} and all classifiers look alike in so few cases",
            Remedy("pass a greater out_of, such as 1000"),
        )
    return cases
