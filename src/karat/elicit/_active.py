"""Ask what splits the posterior best, until the metric would agree with the person."""

import copy
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import entr

from karat._typing import FloatArray, IntArray
from karat.elicit._families import Arena, Family, unit
from karat.elicit._particles import Cloud
from karat.elicit._query import SIGNS, Query
from karat.elicit._space import Space

__all__ = ["N_PARTICLES", "Belief", "Judge", "Pairs", "SpherePairs", "active_search"]

N_PARTICLES = 1500
_MOST_REPEATS = 3  # the same pair again averages slips; more often it is a nuisance
_POOL = 600  # classifiers to choose pairs from
_CANDIDATES = 2000  # pairs looked at for each question
_SCORED_BY = 375  # particles that look at them, and that the agreement is predicted by
_JUDGED = 400  # random pairs on which the agreement is predicted


class Asker(Protocol):
    """Where queries come from."""

    rng: np.random.Generator

    def candidates(self, cloud: Cloud) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return margins (c, particles), their scale (c,), and what people see of it (c,)."""

    def pick(self, index: int) -> tuple[FloatArray, FloatArray, Query]:
        """Return the coordinates of both sides of a candidate, and the query."""

    def asked(self, index: int, answer: str) -> None:
        """Take note of an answer: what was skipped or called a tie is not asked again."""


@dataclass(slots=True)
class Pairs:
    """Pairs of confusions that classifiers attain: people can be asked about them."""

    confusions: FloatArray
    points: FloatArray
    rng: np.random.Generator
    left: IntArray = field(default_factory=lambda: np.empty(0, dtype=int))
    right: IntArray = field(default_factory=lambda: np.empty(0, dtype=int))
    times: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, space: Arena, rng: np.random.Generator, *, inside: bool = False) -> "Pairs":
        """Draw the classifiers to choose from; with ``inside``, half of them are blunted ones."""
        confusions = space.sample(_POOL, rng=rng)
        _, distinct = np.unique(np.round(confusions, 9), axis=0, return_index=True)
        confusions = confusions[np.sort(distinct)]
        if inside:
            # A ratio is curved inside the set: mix in the classifier that guesses.
            drawn = rng.random(len(confusions))
            share = np.where(np.arange(len(confusions)) % 2, drawn, 0.0)
            share = share.reshape(-1, *[1] * (confusions.ndim - 1))
            confusions = (1 - share) * confusions + share * space.guess
        return cls(confusions, space.coordinates(confusions), rng)

    def candidates(self, cloud: Cloud) -> tuple[FloatArray, FloatArray, FloatArray]:
        self.left = self.rng.integers(0, len(self.points), _CANDIDATES)
        self.right = self.rng.integers(0, len(self.points), _CANDIDATES)
        values = _by_point(cloud.family.values(cloud.parameters[:: _stride(cloud)], self.points))
        seen = np.linalg.norm(self.points[self.left] - self.points[self.right], axis=1)
        for (i, j), count in self.times.items():
            if count >= _MOST_REPEATS:
                seen[(self.left == i) & (self.right == j)] = 0.0
                seen[(self.left == j) & (self.right == i)] = 0.0
        return values[self.left] - values[self.right], seen, seen

    def asked(self, index: int, answer: str) -> None:
        i, j = sorted((int(self.left[index]), int(self.right[index])))
        count = _MOST_REPEATS if answer in ("tie", "skip") else 1
        self.times[i, j] = self.times.get((i, j), 0) + count

    def pick(self, index: int) -> tuple[FloatArray, FloatArray, Query]:
        i, j = self.left[index], self.right[index]
        return (
            self.points[i],
            self.points[j],
            Query(self.confusions[i], self.confusions[j]),
        )


@dataclass(slots=True)
class SpherePairs:
    """Opposite points of the ball inside the feasible set: any direction can be asked about."""

    space: Space
    rng: np.random.Generator
    directions: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    skipped: bool = False

    def candidates(self, cloud: Cloud) -> tuple[FloatArray, FloatArray, FloatArray]:
        shares, particles = cloud.shares, unit(cloud.parameters)
        middle = unit(shares @ particles)
        spread = particles - (particles @ middle)[:, None] * middle
        values, vectors = np.linalg.eigh((spread * shares[:, None]).T @ spread)
        drawn = self.rng.normal(size=(24, len(middle))) * np.sqrt(np.maximum(values, 0.0))
        tried = drawn @ vectors.T
        if not self.skipped:
            tried = np.vstack([vectors[:, -1], tried])
        tried = tried - (tried @ middle)[:, None] * middle
        self.directions = unit(tried[np.linalg.norm(tried, axis=1) > 1e-14])
        scored = self.directions @ particles[:: _stride(cloud)].T
        ones = np.ones(len(self.directions))
        return scored, ones, ones

    def pick(self, index: int) -> tuple[FloatArray, FloatArray, Query]:
        step = self.space.sign * self.space.radius * self.directions[index]
        first, second = self.space.center + step, self.space.center - step
        tables = self.space.confusion(np.stack([first, second]))
        return first, second, Query(tables[0], tables[1])

    def asked(self, index: int, answer: str) -> None:
        """After a skip the widest direction is left out: it would be the same again."""
        self.skipped = answer == "skip"


def _by_point(values: FloatArray) -> FloatArray:
    """Return (points, particles) in memory order: taking rows of it is fast."""
    return np.ascontiguousarray(values.T)


def _stride(cloud: Cloud) -> int:
    return max(1, len(cloud.parameters) // _SCORED_BY)


@dataclass(frozen=True, slots=True)
class Judge:
    """Random pairs of attainable classifiers, on which the agreement of metrics is counted."""

    points: FloatArray
    left: IntArray
    right: IntArray

    @classmethod
    def of(cls, space: Arena, rng: np.random.Generator) -> "Judge":
        points = space.coordinates(space.sample(_JUDGED, rng=rng))
        left, right = rng.integers(0, _JUDGED, (2, _JUDGED))
        differ = np.abs(points[left] - points[right]).max(axis=1) > 1e-12
        return cls(points, left[differ], right[differ])

    def agreement(
        self, family: Family, estimate: FloatArray, parameters: FloatArray, shares: FloatArray
    ) -> float:
        """Return the chance that an estimate and a metric like these prefer alike."""
        every = max(1, len(shares) // _SCORED_BY)
        parameters, shares = parameters[::every], shares[::every] / shares[::every].sum()
        if not len(self.left):
            return 1.0  # all classifiers are the same: there is nothing to disagree on
        mine = family.values(estimate[None], self.points)[0]
        theirs = _by_point(family.values(parameters, self.points))
        prefers = mine[self.left] > mine[self.right]
        same = (theirs[self.left] > theirs[self.right]) == prefers[:, None]
        return float(same.mean(axis=0) @ shares)

    def typical_margin(self, family: Family, parameters: FloatArray) -> float:
        """Return the median difference that metrics see between the sides of a pair."""
        values = _by_point(family.values(parameters, self.points))
        if not len(self.left):
            return 1.0
        return float(np.median(np.abs(values[self.left] - values[self.right])))


@dataclass(slots=True)
class Belief:
    """What the active search knows at any time."""

    cloud: Cloud
    judge: Judge
    history: list[float] = field(default_factory=list)  # predicted agreement, from 0 answers on
    asker: "Asker | None" = None

    @property
    def estimate(self) -> FloatArray:
        """The parameters of the metric in the middle."""
        return self.cloud.family.mean(self.cloud.parameters, self.cloud.shares)

    def agreement(self, shares: FloatArray | None = None) -> float:
        """Return the predicted agreement, under cautious shares of the particles or others."""
        cloud = self.cloud
        estimate = self.estimate if shares is None else cloud.family.mean(cloud.parameters, shares)
        shares = cloud.cautious()[0] if shares is None else shares
        return self.judge.agreement(cloud.family, estimate, cloud.parameters, shares)

    def next_agreement(self) -> float:
        """Return the agreement expected after one more answer, to the best question there is."""
        if self.asker is None:
            return float("nan")
        cloud, asker = self.cloud, copy.copy(self.asker)
        asker.rng = copy.deepcopy(asker.rng)  # looking ahead leaves no trace
        index = best_question(cloud, *asker.candidates(cloud))
        if index is None:
            return self.agreement()
        first, second, _ = asker.pick(index)
        values = cloud.family.values(cloud.parameters, np.stack([first, second]))
        prefers_first = values[:, 0] > values[:, 1]
        shares, lapse = cloud.cautious()
        expected = 0.0
        for answer in (prefers_first, ~prefers_first):
            joint = shares * np.where(answer, 1.0 - lapse, lapse)
            expected += joint.sum() * self.agreement(joint / joint.sum())
        return float(expected)


def active_search(
    belief: Belief, asker: Asker, *, agreement: float, max_queries: int
) -> Generator[Query, str, None]:
    """Ask until the predicted agreement is reached, or so many questions were answered."""
    cloud, belief.asker = belief.cloud, asker
    for _ in range(max_queries):
        if belief.history[-1] >= agreement:
            return
        index = best_question(cloud, *asker.candidates(cloud))
        if index is None:
            return  # every pair that can be told apart was asked about
        first, second, query = asker.pick(index)
        answer = yield query
        asker.asked(index, answer)
        if answer != "skip":
            cloud.tell(first, second, SIGNS[answer])
        belief.history.append(belief.agreement())


def best_question(
    cloud: Cloud, margins: FloatArray, scale: FloatArray, seen: FloatArray
) -> int | None:
    """Return the candidate that tells most: a split in half, along what is least known.

    The information of a pair is the entropy of its answer less that of a slip. Among pairs that
    split the particles alike, the one along which they spread most leaves the least spread.
    """
    shares = cloud.shares[:: _stride(cloud)]
    shares = shares / shares.sum()
    usable = scale > 1e-9
    if not usable.any():
        return None
    chance = (margins > 0) @ shares
    information = chances(chance, cloud.lapse_mean)
    variance = np.einsum("cn,cn,n->c", margins, margins, shares) - (margins @ shares) ** 2
    spread = np.maximum(variance, 0.0) / np.where(usable, scale, 1.0) ** 2
    score = (
        information / max(float(information[usable].max(initial=0.0)), 1e-300)
        + 0.5 * np.sqrt(spread / max(float(spread[usable].max(initial=0.0)), 1e-300))
        + 0.1 * seen / max(float(seen.max()), 1e-300)
    )
    # Rounded, so that another machine's last digit does not choose another question.
    return int(np.argmax(np.round(np.where(usable, score, -np.inf), 9)))


def chances(chance: FloatArray, lapse: float) -> FloatArray:
    """Return the information in bits of an answer that is "first" with a chance, but for slips."""
    answered = lapse + (1.0 - 2.0 * lapse) * chance
    bits = (entr(answered) + entr(1.0 - answered)) / np.log(2.0)
    noise = (entr(lapse) + entr(1.0 - lapse)) / np.log(2.0)
    return np.asarray(np.maximum(bits - noise, 0.0))
