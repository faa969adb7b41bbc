"""Classifiers that choose between two classes: the curve of what they can gain.

Items are sorted by ``proba_i / proba_j``; a threshold predicts i above it and j below. In the plane
of (right about i, right about j) the thresholds run from (0, ζ_j), where all is predicted j, to
(ζ_i, 0). Their concave hull is what randomised classifiers attain (Hiranandani 2021, Proposition
3.2 and Definition 4.5); turning it by 180° gives the lower boundary.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions.populations._chain import Chain
from karat.decisions.populations._odds_order import taken
from karat.decisions.populations._running_sums import running_sums
from karat.decisions.populations._upper_hull import upper_hull

__all__ = ["Chord", "Frontier", "Point"]


@dataclass(frozen=True, slots=True)
class Point:
    """A classifier on the frontier: what it gains, and the mass it predicts i for."""

    gain: FloatArray
    predicted: FloatArray


@dataclass(frozen=True, slots=True)
class Chord:
    """Two points of the frontier that one direction values alike."""

    toward_j: Point
    toward_i: Point


@dataclass(frozen=True, eq=False)
class Frontier:
    """The thresholds between classes i and j, from all j to all i."""

    log_ratios: FloatArray  # (v,), of each group of items, falling
    gains: FloatArray  # (v+1, 2)
    predicted: FloatArray  # (v+1, rows): mass of each row of the confusion that is predicted i

    @classmethod
    def of(cls, proba: FloatArray, mass: FloatArray, i: int, j: int) -> "Frontier":
        """Sort the items by the ratio of the probabilities of i and j."""
        with np.errstate(divide="ignore", invalid="ignore"):
            key = np.log(proba[:, j]) - np.log(proba[:, i])
        key[np.isnan(key)] = 0.0  # neither is possible
        # Items whose ratios differ by rounding alone are one step of the curve.
        key = np.round(key, 12, out=key)
        if not (key[1:] >= key[:-1]).all():
            order = np.argsort(key, kind="stable")  # fast where items are nearly in order
            key, mass = taken(order, key, mass)
        new = np.append(True, key[1:] != key[:-1])
        ends = np.append(np.flatnonzero(new), len(mass))
        predicted = np.take(running_sums(mass), ends, axis=0)
        gains = np.column_stack([predicted[:, i], predicted[-1, j] - predicted[:, j]])
        return cls(-key[new], gains, predicted)

    @cached_property
    def hull(self) -> IntArray:
        """Positions of the vertices of the upper hull, rising."""
        return upper_hull(self.gains)

    @cached_property
    def upper(self) -> Chain:
        """The upper hull."""
        return Chain(self.gains[self.hull])

    @cached_property
    def _lower(self) -> tuple[Chain, IntArray]:
        """The lower hull, turned by 180°, and the positions of its vertices."""
        turned = (self.total - self.gains)[::-1]
        hull = upper_hull(turned)
        return Chain(turned[hull]), len(turned) - 1 - hull

    def extreme(self, directions: FloatArray) -> IntArray:
        """Return the position of the threshold that gains most in each direction (b, 2)."""
        lower, positions = self._lower
        high, low = self.upper.best(directions), lower.best(-directions)
        ends = self.hull[high], positions[low]
        values = [np.einsum("bc,bc->b", self.gains[end], directions) for end in ends]
        return np.where(values[1] > values[0], ends[1], ends[0])

    @property
    def total(self) -> FloatArray:
        """``(ζ_i, ζ_j)``."""
        return np.array([self.gains[-1, 0], self.gains[0, 1]])

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The angles ``atan2(weight_j, weight_i)`` between which the best threshold changes.

        Below the least and above the greatest of them the best rule always predicts one class, so
        preferences between classifiers say nothing about where the weights lie there.
        """
        edges = np.diff(self.upper.points, axis=0)  # (more of i, less of j)
        angles = np.arctan2(edges[:, 0], -edges[:, 1])  # the edge's normal
        return float(angles[-1]), float(angles[0])

    def at_threshold(self, ratio: float) -> Point:
        """Predict i where ``proba_i / proba_j ≥ ratio`` (Propositions 3.1 and 4.2)."""
        cut = np.log(ratio) if ratio > 0 else -np.inf
        position = int(np.searchsorted(-self.log_ratios, -cut, side="right"))
        return self._vertex(position)

    def best(self, direction: FloatArray) -> Point:
        """Return the vertex of the hull that gains most in a direction."""
        return self._vertex(int(self.hull[self.upper.best(direction[None])[0]]))

    def chord(self, direction: FloatArray) -> Chord | None:
        """Return the widest chord that ``direction`` values alike, or None if there is none.

        Who prefers its end toward i has a greater weight on i than ``direction``: one question
        halves what is known of a linear metric.
        """
        values = self.upper.points @ direction
        peak = int(np.argmax(values))
        if peak in (0, len(values) - 1):
            return None
        if values[0] >= values[-1]:
            after = peak + int(np.flatnonzero(values[peak:] >= values[0])[-1])
            if after == len(values) - 1:
                return Chord(self._vertex(int(self.hull[0])), self._vertex(int(self.hull[-1])))
            return Chord(self._vertex(int(self.hull[0])), self._between(after, values, values[0]))
        before = int(np.flatnonzero(values[: peak + 1] >= values[-1])[0])
        return Chord(
            self._between(before - 1, values, values[-1]), self._vertex(int(self.hull[-1]))
        )

    def _between(self, edge: int, values: FloatArray, value: float) -> Point:
        """Return the point of an edge of the hull where ``values`` takes a given value."""
        a, b = int(self.hull[edge]), int(self.hull[edge + 1])
        share = (value - values[edge + 1]) / (values[edge] - values[edge + 1])
        share = float(np.clip(share, 0.0, 1.0))
        return Point(
            share * self.gains[a] + (1 - share) * self.gains[b],
            share * self.predicted[a] + (1 - share) * self.predicted[b],
        )

    def _vertex(self, position: int) -> Point:
        return Point(self.gains[position], self.predicted[position])

    def log_threshold(self, position: int) -> float:
        """Return the log-ratio from which i is predicted so that ``position`` groups are.

        It lies between two groups, so that rounding cannot move an item across it; infinite if i
        is never predicted, and minus infinite if it always is. Logarithms, because the product of
        two ratios may be beyond all numbers.
        """
        if position == 0:
            return np.inf
        if position == len(self.log_ratios):
            return -np.inf
        below, above = self.log_ratios[position], self.log_ratios[position - 1]
        if np.isinf(above):
            return 0.0 if np.isinf(below) else float(below + 1.0)
        return float(above - 1.0 if np.isinf(below) else (below + above) / 2)

    def rule(self, position: int) -> FloatArray:
        """Return, of two classes, the gains (2, 2) by which `decide` puts the threshold there."""
        cut = self.log_threshold(position)
        # An item of no chance of a class would tie at 0, and ties go one way only.
        if np.isinf(cut):
            always = np.array([[0.0, 1.0], [0.0, 1.0]])
            return always[:, ::-1] if cut > 0 else always
        # The second class from these odds on. Of both gains the greater is 1.
        first, second = np.exp(min(cut, 0.0)), np.exp(min(-cut, 0.0))
        return np.array([[first, 0.0], [0.0, second]])
