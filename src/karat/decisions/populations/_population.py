"""What a classifier can be measured on: class probabilities to decide by, masses to count."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions.populations._frontier import Frontier
from karat.decisions.rules import last_argmax

__all__ = ["Best", "Population", "compressed"]

# Confusions of many rules are computed for this many entries at a time, to stay in cache.
_BLOCK = 2_000_000


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
    """

    proba: FloatArray
    mass: FloatArray

    @property
    def prior(self) -> FloatArray:
        """``P(Y=i)``."""
        return np.asarray(self.mass.sum(axis=0))

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

    def optimal(self, weights: FloatArray, *, entries: int = _BLOCK) -> FloatArray:
        """Return the confusions of the rules ``argmax_j Σ_i proba_i · weights[b, i, j]``.

        They are the best for these gains if the probabilities are right; see `best`. Scores are
        computed for about ``entries`` numbers at a time.
        """
        n, k = self.proba.shape
        tables = np.empty((len(weights), self.mass.shape[1], k))
        step = max(1, entries // (n * k))
        for start in range(0, len(weights), step):
            block = weights[start : start + step]
            flat = block.transpose(1, 0, 2).reshape(k, -1)
            decided = last_argmax((self.proba @ flat).reshape(n, len(block), k))
            for j in range(k):
                tables[start : start + step, :, j] = (decided == j).T.astype(float) @ self.mass
        return tables

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
        at, total = curve.corners, curve.predicted[-1]
        rise = gains[:, :, 1] - gains[:, :, 0]  # what it gains to predict the second class
        above = rise @ curve.predicted[at].T
        value = np.concatenate([above, (rise @ total)[:, None] - above], axis=1)
        found = np.argmax(value, axis=1)
        position, turned = at[found % len(at)], found >= len(at)
        second = np.where(
            turned[:, None], total - curve.predicted[position], curve.predicted[position]
        )
        tables = np.stack([total - second, second], axis=2)
        rules = np.stack([curve.rule(int(p)) for p in position])
        return Best(np.where(turned[:, None, None], rules[:, :, ::-1], rules), tables)


def compressed(population: Population, most: int = 25_000) -> Population:
    """Join items of nearly the same odds, to keep programs over many items fast.

    A classifier that decides by the cell is still a classifier, so confusions stay exact. Odds are
    rounded, and not probabilities, so that rare classes keep their order; with many classes more
    than ``most`` cells may be left. Two classes need no joining, as sorting them is cheap.
    """
    k = population.proba.shape[1]
    if len(population.proba) <= most or k == 2:
        return population
    logs = np.log(np.clip(population.proba, 1e-9, None))
    for step in (0.01, 0.05, 0.2):
        _, cell = np.unique(np.round(logs / step), axis=0, return_inverse=True)
        cell = cell.ravel()
        n_cells = int(cell.max()) + 1
        if n_cells <= most:
            break
    size = np.bincount(cell, minlength=n_cells)
    proba = [np.bincount(cell, population.proba[:, i], n_cells) / size for i in range(k)]
    masses = [np.bincount(cell, column, n_cells) for column in population.mass.T]
    return Population(np.column_stack(proba), np.column_stack(masses).astype(float))
