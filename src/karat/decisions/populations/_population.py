"""What a classifier can be measured on: class probabilities to decide by, masses to count."""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions.populations._frontier import Frontier
from karat.decisions.populations._odds_order import OddsOrder
from karat.decisions.populations._running_sums import totals
from karat.decisions.rules import decide

__all__ = ["Best", "Population"]

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
