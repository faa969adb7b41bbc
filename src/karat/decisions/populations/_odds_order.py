"""Two classes: the confusions of many rules from one sort of the items.

A rule of gains W predicts the second class where ``p₁·(W₁₁ − W₁₀) ≥ p₀·(W₀₀ − W₀₁)``: from some
odds ``p₁/p₀`` on, or up to some odds. With the items sorted by their odds and their masses
cumulated, the confusion of a rule is found by bisection.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.decisions.populations._running_sums import running_sums
from karat.decisions.rules import decide

__all__ = ["OddsOrder", "falling_odds", "first_of_equals", "taken"]

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
    def of(cls, proba: FloatArray, mass: FloatArray) -> "OddsOrder":
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
