"""Where the next question may come from: pairs of classifiers, or of points of a ball."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit.families import unit
from karat.elicit.posterior._agreement_panel import by_point
from karat.elicit.posterior._effort import Effort
from karat.elicit.posterior._particle_posterior import ParticlePosterior
from karat.elicit.spaces import QuestionSpace, Space
from karat.elicit.transcript import Query

__all__ = ["AttainablePairs", "QuestionSource", "SpherePairs"]

_MOST_REPEATS = 3  # the same pair again averages slips; more often it is a nuisance
_DIRECTIONS = 24  # directions of the ball that are tried for each question


class QuestionSource(Protocol):
    """Where candidates for the next question come from."""

    rng: np.random.Generator

    def candidates(self, posterior: ParticlePosterior) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return margins (c, particles), their scale (c,), and what people see of it (c,)."""

    def pick(self, index: int) -> tuple[FloatArray, FloatArray, Query]:
        """Return the coordinates of both sides of a candidate, and the query."""

    def record(self, index: int, answer: str) -> None:
        """Record the answer to a candidate: a pair that was skipped or a tie is not asked again."""


@dataclass(slots=True)
class AttainablePairs:
    """Pairs of confusions that classifiers attain: people can be asked about them."""

    confusions: FloatArray
    points: FloatArray
    rng: np.random.Generator
    n_candidates: int = Effort().candidates
    left: IntArray = field(default_factory=lambda: np.empty(0, dtype=int))
    right: IntArray = field(default_factory=lambda: np.empty(0, dtype=int))
    times: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        space: QuestionSpace,
        rng: np.random.Generator,
        *,
        inside: bool = False,
        pool: int = Effort().pool,
        candidates: int = Effort().candidates,
    ) -> "AttainablePairs":
        """Draw the pool of classifiers; with ``inside``, half are mixed with guessing."""
        confusions = space.sample(pool, rng=rng)
        _, distinct = np.unique(np.round(confusions, 9), axis=0, return_index=True)
        confusions = confusions[np.sort(distinct)]
        if inside:
            # A ratio is curved inside the set, which pairs of extreme points do not show.
            drawn = rng.random(len(confusions))
            share = np.where(np.arange(len(confusions)) % 2, drawn, 0.0)
            share = share.reshape(-1, *[1] * (confusions.ndim - 1))
            confusions = (1 - share) * confusions + share * space.guess
        return cls(confusions, space.coordinates(confusions), rng, candidates)

    def candidates(self, posterior: ParticlePosterior) -> tuple[FloatArray, FloatArray, FloatArray]:
        self.left = self.rng.integers(0, len(self.points), self.n_candidates)
        self.right = self.rng.integers(0, len(self.points), self.n_candidates)
        values = by_point(
            posterior.family.values(posterior.parameters[:: posterior.stride], self.points)
        )
        seen = np.linalg.norm(self.points[self.left] - self.points[self.right], axis=1)
        for (i, j), count in self.times.items():
            if count >= _MOST_REPEATS:
                seen[(self.left == i) & (self.right == j)] = 0.0
                seen[(self.left == j) & (self.right == i)] = 0.0
        return values[self.left] - values[self.right], seen, seen

    def record(self, index: int, answer: str) -> None:
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

    def candidates(self, posterior: ParticlePosterior) -> tuple[FloatArray, FloatArray, FloatArray]:
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
        scored = self.directions @ particles[:: posterior.stride].T
        ones = np.ones(len(self.directions))
        return scored, ones, ones

    def pick(self, index: int) -> tuple[FloatArray, FloatArray, Query]:
        step = self.space.sign * self.space.radius * self.directions[index]
        first, second = self.space.center + step, self.space.center - step
        tables = self.space.confusion(np.stack([first, second]))
        return first, second, Query(tables[0], tables[1])

    def record(self, index: int, answer: str) -> None:
        """After a skip the widest direction is left out: it would be the same again."""
        self.skipped = answer == "skip"
