"""What classifiers are measured on: probabilities to decide by and masses to count.

A `Population` gives the confusion of any rule, and the best rule for any gains. For two classes
every rule is a threshold, so its confusion is read off an `OddsOrder`, the sorted items, and the
best one off a `Frontier`, the curve of all thresholds, whose `upper_hull` is what randomised
classifiers attain; a `Chain` finds the best vertex of a hull. `compressed` joins items where there
are many, after ``order_of_many``; ``warm`` compiles the loop that it needs, and ``taken`` picks
rows of several arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, Literal, NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.decisions.rules import decide


def warm() -> None:
    """Join a few items into cells."""
    proba = np.random.default_rng(0).dirichlet(np.ones(3), 8)
    compressed(Population(proba, proba / 8), levels=1)


# --- Items joined into cells, where there are many.

_LEVELS = 16
_MOST = 1 << _LEVELS


def order_of_many(proba: FloatArray) -> IntArray | None:
    """Return the order in which `compressed` keeps many items of two classes.

    None where they are few or in this order already: rows that are taken in it beforehand, and any
    part of them, need not be sorted again.
    """
    if len(proba) <= _MOST or proba.shape[1] != 2:
        return None
    return falling_odds(proba)[1]


def compressed(population: Population, *, levels: int = _LEVELS) -> Population:
    """Join items where there are more than ``2**levels``, to keep searches over them fast.

    Of two classes, items with the same probabilities are joined, and no others: sorting is enough.
    Of more classes, items with the same probabilities are joined if that leaves few enough; else
    neighbours are, into cells with about as many items each, and a cell decides by its mean.
    Confusions are then off by the items on the wrong side of a rule's boundary in the cells that it
    crosses, which `Population.doubtful` bounds. The order of the items makes no difference.
    """
    most = 1 << levels
    if len(population.proba) <= most:
        return population
    if population.proba.shape[1] == 2:
        return _joined_equals(population, falling_odds(population.proba)[1])
    held = population.mass.any(axis=1)
    if not held.all():
        population = Population(*taken(np.flatnonzero(held), population.proba, population.mass))
    if _seem_few(population.proba, most):
        joined = _joined_equals(population, np.argsort(_fingerprints(population.proba)))
        if len(joined.proba) <= most:
            return joined
    return _cells(population, levels)


def _joined_equals(population: Population, order: IntArray | None) -> Population:
    """Join items with the same probabilities, which stand side by side in the order given."""
    proba, mass = population.proba, population.mass
    if order is not None:
        proba, mass = taken(order, proba, mass)
    kept = first_of_equals(proba)
    if len(kept) == len(proba):
        return Population(proba, mass)
    sums = running_sums(mass)[np.append(kept, len(mass))]
    return Population(proba[kept], np.diff(sums, axis=0))


def _seem_few(proba: FloatArray, most: int) -> bool:
    """Whether some of the items do not already show more than ``most`` different ones."""
    some = proba[:: max(1, len(proba) // (2 * most))]
    return len(first_of_equals(some[np.argsort(_fingerprints(some))])) <= most


def _fingerprints(proba: FloatArray) -> FloatArray:
    """Return numbers that are the same for items with the same probabilities."""
    # Not a product of matrices, which may round the same row differently at another place.
    factors = np.sqrt(np.arange(2.0, proba.shape[1] + 2.0))
    return np.asarray(sum(factor * column for factor, column in zip(factors, proba.T, strict=True)))


def _cells(population: Population, levels: int) -> Population:
    """Join neighbours into at most ``2**levels`` cells."""
    from karat.decisions._cell_loops import cut_into_cells

    proba, mass = population.proba, population.mass
    order = np.arange(len(proba))
    # Distances of √p are alike for rare and common classes (Hellinger): of log p, p and √p, the
    # last leaves the least error for the same number of cells.
    starts = cut_into_cells(np.sqrt(proba), order, levels)
    weight = (mass @ np.ones(mass.shape[1]))[order]
    masses = np.add.reduceat(np.take(mass, order, axis=0), starts)
    inside = np.take(proba, order, axis=0)
    low, high = np.minimum.reduceat(inside, starts), np.maximum.reduceat(inside, starts)
    inside *= weight[:, None]
    mean = np.add.reduceat(inside, starts) / np.add.reduceat(weight, starts)[:, None]
    return Population(np.clip(mean, low, high), masses, low, high)


# --- What a classifier can be measured on: class probabilities to decide by, masses to count.

# Confusions of many rules are computed for this many rules and items at a time: they stay in cache.
_RULES, _ITEMS = 32, 4096
_ROUNDING = 1e-12  # of a gain, relative
_BLOCK = 2_000_000  # entries of a table of rules and thresholds


class Best(NamedTuple):
    """Rules (b, k, k) that are best for some gains, and their confusions (b, rows, k)."""

    rules: FloatArray
    confusions: FloatArray


@dataclass(frozen=True, eq=False)
class Population:
    """Items, or cells of items that no classifier tells apart.

    Attributes
    ----------
    proba : array (n, k)
        ``P(Y=i | item)``: what a classifier decides by.
    mass : array (n, rows)
        What is counted: ``P(item, Y=i)``, rows = k. A law known exactly has mass = weight × proba;
        a sample has its labels. Where a metric compares groups that the classifier does not see,
        the rows are (group, class), groups first.
    low, high : array (n, k), optional
        Least and greatest probabilities of the items that were joined into each cell. None if
        those of a cell are all the same.
    """

    proba: FloatArray
    mass: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None

    @property
    def prior(self) -> FloatArray:
        """``P(Y=i)``."""
        return totals(self.mass)

    @cached_property
    def calibrated(self) -> bool:
        """Whether the probabilities imply the masses, so that plug-in rules are best."""
        if self.mass.shape != self.proba.shape:
            return False
        weight = self.mass.sum(axis=1, keepdims=True)
        # As close as single precision is.
        return bool((np.abs(self.mass - weight * self.proba) <= 1e-6 * weight).all())

    @cached_property
    def thresholds(self) -> Frontier:
        """The thresholds between two classes, from all of the first class to all of the second."""
        return Frontier.of(self.proba, self.mass, 1, 0)

    def confusion(self, decisions: IntArray) -> FloatArray:
        """Return ``C[i, j] = P(Y=i, Ŷ=j)`` for one class number per item."""
        table = np.zeros((self.mass.shape[1], self.proba.shape[1]))
        np.add.at(table.T, decisions, self.mass)
        return table

    @cached_property
    def by_odds(self) -> OddsOrder:
        """The items sorted by the odds of the second of two classes."""
        return OddsOrder.of(self.proba, self.mass)

    def optimal(self, weights: FloatArray) -> FloatArray:
        """Return the confusions of the rules ``argmax_j Σ_i proba_i · weights[b, i, j]``.

        They are the best for these gains if the probabilities are right; see `best`. Of two classes
        they are read off the sorted items; of more classes every rule decides for every item.
        """
        if self.proba.shape[1] == 2:
            return self.by_odds.confusions(weights)
        n, k = self.proba.shape
        tables = np.zeros((len(weights), k, self.mass.shape[1]))
        columns = np.ascontiguousarray(self.proba.T)
        for first in range(0, len(weights), _RULES):
            rules = slice(first, first + _RULES)
            gains = np.ascontiguousarray(weights[rules].transpose(2, 0, 1))
            for start in range(0, n, _ITEMS):
                items = slice(start, start + _ITEMS)
                decided = _decided(gains, columns[:, items])
                for j in range(k):
                    tables[rules, j] += (decided == j).astype(float) @ self.mass[items]
        return tables.transpose(0, 2, 1)

    def doubtful(self, weights: FloatArray) -> FloatArray:
        """Return the mass (b, rows) that rules may decide unlike the cell it was joined into.

        A rule decides for all items of a cell alike if its gain from the class that it chooses is
        the greatest for all probabilities between ``low`` and ``high``. The mass of the other cells
        bounds how far each entry of a row of `optimal` is from a count item by item.
        """
        k = self.proba.shape[1]
        masses = np.zeros((len(weights), self.mass.shape[1]))
        if self.low is None or self.high is None:
            return masses
        for mass, gains in zip(masses, weights, strict=True):
            decided = decide(self.proba, gains)
            unsure = np.zeros(len(self.proba), dtype=bool)
            for chosen, other in permutations(range(k), 2):
                ahead = gains[:, chosen] - gains[:, other]
                least = self.low @ np.maximum(ahead, 0.0) + self.high @ np.minimum(ahead, 0.0)
                unsure |= (decided == chosen) & (least <= _ROUNDING * np.abs(ahead).sum())
            mass[:] = self.mass[unsure].sum(axis=0)
        return masses

    def best(self, gains: FloatArray) -> Best:
        """Return the rules whose confusions gain most, ``Σ gains[b] · C``, gains (b, rows, k).

        Of two classes every rule is a threshold, so the best one is found exactly, by sorting. Of
        more classes the plug-in rule is returned, which is best if the probabilities are right.
        Rules that the labels at hand favour more could be searched for, but they do worse on new
        items: with k² weights there is much chance to follow.
        """
        if self.proba.shape[1] == 2:
            return self._best_thresholds(gains)
        rules = self._plug_in(gains)
        return Best(rules, self.optimal(rules))

    def _plug_in(self, gains: FloatArray) -> FloatArray:
        """Return the gains (b, k, k) that a rule expects which does not see the groups."""
        k = self.proba.shape[1]
        if gains.shape[1] == k:
            return gains
        truth = self.prior.reshape(-1, k)
        share = truth / np.where(truth.sum(axis=0) > 0, truth.sum(axis=0), 1.0)  # P(group | Y=i)
        return np.asarray(np.einsum("gi,bgij->bij", share, gains.reshape(len(gains), -1, k, k)))

    def _best_thresholds(self, gains: FloatArray) -> Best:
        curve = self.thresholds
        total = curve.predicted[-1]
        rise = gains[:, :, 1] - gains[:, :, 0]  # what it gains to predict the second class
        most, least = self._ends_of_thresholds(rise)
        above = np.einsum("br,br->b", rise, curve.predicted[most])
        below = np.einsum("br,br->b", rise, total - curve.predicted[least])
        turned = below > above
        position = np.where(turned, least, most)
        second = np.where(
            turned[:, None], total - curve.predicted[position], curve.predicted[position]
        )
        tables = np.stack([total - second, second], axis=2)
        rules = np.stack([curve.rule(int(p)) for p in position])
        return Best(np.where(turned[:, None, None], rules[:, :, ::-1], rules), tables)

    def _ends_of_thresholds(self, rise: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the positions at which ``rise · predicted`` is greatest and least, (b,) each."""
        curve = self.thresholds
        if rise.shape[1] == 2:
            directions = rise[:, ::-1] * (1.0, -1.0)  # of what is right about both classes
            return curve.extreme(directions), curve.extreme(-directions)
        most, least = np.empty((2, len(rise)), dtype=np.intp)
        step = max(1, _BLOCK // len(curve.predicted))
        for start in range(0, len(rise), step):
            some = slice(start, start + step)
            values = rise[some] @ curve.predicted.T
            most[some], least[some] = values.argmax(axis=1), values.argmin(axis=1)
        return most, least


def _decided(gains: FloatArray, columns: FloatArray) -> IntArray:
    """Return the class (b, n) of greatest gain, the later one of equals; gains are (k, b, k)."""
    best = gains[0] @ columns
    decided = np.zeros(best.shape, dtype=np.int16)
    for j in range(1, len(gains)):
        scores = gains[j] @ columns
        np.copyto(decided, j, where=scores >= best)
        np.maximum(best, scores, out=best)
    return decided


# --- Classifiers that choose between two classes: the curve of what they can gain.
#
# Items are sorted by ``proba_i / proba_j``; a threshold predicts i above it and j below. In the
# plane of (right about i, right about j) the thresholds run from (0, ζ_j), where all is predicted
# j, to (ζ_i, 0). Their concave hull is what randomised classifiers attain (Hiranandani 2021,
# Proposition 3.2 and Definition 4.5); turning it by 180° gives the lower boundary.


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
    def of(cls, proba: FloatArray, mass: FloatArray, i: int, j: int) -> Frontier:
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


class Chain:
    """A concave chain of points, the first coordinate rising and the second falling.

    What a direction (a, b) gains along an edge (dx, dy) is ``a·dx + b·dy``. For positive a and b
    these gains turn from gains into losses once, at the vertex that is best, so that it is found by
    bisection; for other directions an end of the chain is best.
    """

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        edges = np.diff(points, axis=0)
        # The angle at which an edge gains nothing falls along the chain, but for rounding.
        self._angles = np.maximum.accumulate(-np.arctan2(edges[:, 0], -edges[:, 1]))

    def best(self, directions: FloatArray) -> IntArray:
        """Return the position of the best point for each direction (b, 2), the first of equals."""
        last = len(self.points) - 1
        angles = np.arctan2(directions[:, 1], directions[:, 0])
        middle = np.searchsorted(self._angles, -angles)
        near = np.clip(middle[:, None] + np.arange(-2, 3), 0, last)
        ends = np.broadcast_to([0, last], (len(near), 2))
        tried = np.sort(np.hstack([near, ends]), axis=1)
        values = np.einsum("bcd,bd->bc", self.points[tried], directions)
        return np.asarray(tried[np.arange(len(tried)), np.argmax(values, axis=1)])


# --- Two classes: the confusions of many rules from one sort of the items.
#
# A rule of gains W predicts the second class where ``p₁·(W₁₁ − W₁₀) ≥ p₀·(W₀₀ − W₀₁)``: from some
# odds ``p₁/p₀`` on, or up to some odds. With the items sorted by their odds and their masses
# cumulated, the confusion of a rule is found by bisection.

# Items whose odds are this near to the threshold, relative to the gains, are decided one by one,
# as the rule itself decides: where a tie goes depends on the last digit.
_NEAR = 1e-14
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


def falling_odds(proba: FloatArray) -> tuple[FloatArray, IntArray | None]:
    """Return the odds of the second class, negated and sorted, and the order of the items.

    The order is None where the items stand in it already.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        key = -(proba[:, 1] / proba[:, 0])
    key[np.isnan(key)] = -1.0  # neither class is possible
    if (key[1:] >= key[:-1]).all():
        return key, None
    order = np.argsort(key)
    return key[order], order


def taken(rows: IntArray, *arrays: Any) -> tuple[Any, ...]:
    """Return some rows of arrays; None where None was given."""
    # Several times faster than indexing, which copies rows of two numbers one by one.
    return tuple(None if array is None else np.take(array, rows, axis=0) for array in arrays)


def first_of_equals(proba: FloatArray) -> IntArray:
    """Return the positions of rows (n, k) that differ from the row before."""
    new = np.zeros(len(proba), dtype=bool)
    new[:1] = True
    for column in proba.T:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


class _Cut(NamedTuple):
    """What rules (b,) decide at positions: the window between ``start`` and ``end`` is in doubt."""

    upward: BoolArray  # whether the second class is predicted before the window, or after it
    start: IntArray
    end: IntArray


@dataclass(frozen=True, eq=False)
class OddsOrder:
    """Items of two classes by falling odds of the second class; equal ones are one."""

    key: FloatArray  # (n,): the odds, negated
    proba: FloatArray  # (n, 2)
    sums: FloatArray  # (n+1, rows): mass of the first 0, 1, … n items

    @classmethod
    def of(cls, proba: FloatArray, mass: FloatArray) -> OddsOrder:
        """Sort the items."""
        key, order = falling_odds(proba)
        if order is not None:
            proba, mass = taken(order, proba, mass)
        sums = running_sums(mass)
        kept = first_of_equals(proba)
        if len(kept) < len(key):
            key, proba = taken(kept, key, proba)
            sums = np.take(sums, np.append(kept, len(sums) - 1), axis=0)
        return cls(key, proba, sums)

    def confusions(self, gains: FloatArray) -> FloatArray:
        """Return the confusions (b, rows, 2) of the rules of gains (b, 2, 2)."""
        cut = self._cut(gains)
        first, last, total = self.sums[cut.start], self.sums[cut.end], self.sums[-1]
        tables = np.empty((len(gains), len(total), 2))
        up = cut.upward[:, None]
        tables[:, :, 1] = np.where(up, first, total - last)
        tables[:, :, 0] = np.where(up, total - last, first)
        for b in np.flatnonzero(cut.end > cut.start):
            window = slice(cut.start[b], cut.end[b])
            mass = np.diff(self.sums[cut.start[b] : cut.end[b] + 1], axis=0)
            second = decide(self.proba[window], gains[b]) == 1
            tables[b, :, 1] += mass[second].sum(axis=0)
            tables[b, :, 0] += mass[~second].sum(axis=0)
        return tables

    def _cut(self, gains: FloatArray) -> _Cut:
        """Return where each rule changes its decision, and the window in which rounding counts."""
        rise = gains[:, 1, 1] - gains[:, 1, 0]  # what the second class gains where it is true
        fall = gains[:, 0, 0] - gains[:, 0, 1]  # and loses where it is not
        upward = rise >= 0
        size, cost = np.abs(rise), np.where(upward, fall, -fall)
        slack = _NEAR * np.abs(gains).sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            low = (cost - slack[:, 0]) / (size + slack[:, 1])
            high = (cost + slack[:, 0]) / (size - slack[:, 1])
        low[np.isnan(low)] = high[np.isnan(high)] = -np.inf  # no gains at all: a tie, for all

        def place(odds: FloatArray) -> IntArray:
            # A tie goes to the second class: it is before the cut of an upward rule.
            before, after = (np.searchsorted(self.key, -odds, side=side) for side in _SIDES)
            return np.where(upward, after, before)

        # Where the second class may gain nothing but rounding, all items are in doubt.
        unclear = (slack[:, 1] > 0) & (size <= slack[:, 1])
        return _Cut(
            upward,
            np.where(unclear, 0, place(high)),
            np.where(unclear, len(self.key), place(low)),
        )


# --- Cumulated masses whose rounding does not grow with the number of items.

_SUM_BLOCK = 256


def running_sums(masses: FloatArray) -> FloatArray:
    """Return the sums (n+1, rows) of the first 0, 1, … n rows of masses (n, rows) of at least 0.

    Ten million times the same mass, added one by one, is off by 1e-10: every addition is rounded
    the same way. So blocks are cumulated apart, and their totals in the same manner: three levels
    of 256 additions each for ten million items. No sum is less than the one before.
    """
    sums = np.zeros((len(masses) + 1, masses.shape[1]))
    for column, mass in zip(sums.T, masses.T, strict=True):
        column[1:] = _cumulated(np.ascontiguousarray(mass))
        np.maximum.accumulate(column, out=column)  # blocks may meet a digit too low
    return sums


def _cumulated(mass: FloatArray) -> FloatArray:
    n_blocks = len(mass) // _SUM_BLOCK
    if n_blocks < 2:
        return np.asarray(mass.cumsum())
    sums = np.empty_like(mass)
    whole = n_blocks * _SUM_BLOCK
    inside = sums[:whole].reshape(n_blocks, _SUM_BLOCK)
    np.cumsum(mass[:whole].reshape(n_blocks, _SUM_BLOCK), axis=1, out=inside)
    before = _cumulated(inside[:, -1].copy())
    inside[1:] += before[:-1, None]
    sums[whole:] = before[-1] + mass[whole:].cumsum()
    return sums


def totals(masses: FloatArray) -> FloatArray:
    """Return the sum of each column of masses (n, rows), rounded as little as sums of pairs are."""
    # NumPy adds in pairs along one dimension, and row by row along the first of two.
    return np.array([column.sum() for column in masses.T])


def upper_hull(points: FloatArray) -> IntArray:
    """Return the positions of the vertices of the upper hull of a falling curve.

    Parameters
    ----------
    points : array (n, 2)
        Points whose first coordinate never falls and whose second never rises from one point to
        the next, such as the correct predictions of two classes while a threshold moves.

    Notes
    -----
    With ``t = x − y`` as the abscissa every step goes forward, and the hull's slopes in t are the
    falling least-squares fit of the slopes of the steps, each weighed by its length in t (pool
    adjacent violators; Robertson, Wright & Dykstra 1988, Theorem 1.2.1), which SciPy has compiled.
    """
    from scipy.optimize import isotonic_regression

    steps = np.diff(points, axis=0)
    length = steps[:, 0] - steps[:, 1]
    moving = np.flatnonzero(length > 0)
    if moving.size == 0:
        return np.array([0, len(points) - 1]) if len(points) > 1 else np.arange(len(points))
    slopes = (steps[moving, 0] + steps[moving, 1]) / length[moving]
    fitted = isotonic_regression(slopes, weights=length[moving], increasing=False).x
    falls = np.flatnonzero(np.diff(fitted) < -_ROUNDING)
    # The vertex before a step that moves is where the step starts.
    return np.concatenate([[0], moving[falls + 1], [len(points) - 1]])
