"""Where the next question may come from: pairs of classifiers, or of points of a ball."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit.asking._effort import Effort
from karat.elicit.asking._pool import Pool
from karat.elicit.families import unit
from karat.elicit.posterior import ParticlePosterior, by_point
from karat.elicit.spaces import Space
from karat.elicit.transcript import Query

__all__ = ["AttainablePairs", "Candidates", "Pending", "QuestionSource", "SpherePairs"]

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

    def pick(self, index: int) -> "Pending":
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
