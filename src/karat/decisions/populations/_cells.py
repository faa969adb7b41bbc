"""Items joined into cells, where there are many."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions.populations._odds_order import falling_odds, first_of_equals, taken
from karat.decisions.populations._population import Population
from karat.decisions.populations._running_sums import running_sums

__all__ = ["compressed", "order_of_many"]

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
    from karat.decisions.populations._cell_loops import cut_into_cells

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
