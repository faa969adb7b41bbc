"""Ask what splits the posterior best, until the metric is known well enough."""

import copy
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit.asking._check_pairs import CheckPairs
from karat.elicit.asking._goal import Goal, is_precise
from karat.elicit.asking._question_sources import Candidates, Pending, QuestionSource
from karat.elicit.posterior import (
    AgreementPanel,
    Noise,
    ParticlePosterior,
    named_first,
    said_tie,
    thinned,
)
from karat.elicit.transcript import SIGNS, Query

__all__ = ["ActiveSearch", "answer_information", "best_question"]

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
