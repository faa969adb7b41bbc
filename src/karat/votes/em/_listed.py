"""Votes as lists of the cells that each pattern looks up: for crowds, copies and gold labels."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.em._law import VoteLaw
from karat.votes.tables import VoteTable

__all__ = ["Listed", "ListedProblem", "vote_cells"]

_LEAST = 1e-12  # no probability is smaller, so that the products of 16 of them do not underflow
# Patterns × cells × components up to which dense products are as fast as compiled loops: a small
# table is not worth the second that compiling takes.
_DENSE = 1 << 16


@dataclass(frozen=True)
class Listed:
    """The cells of each pattern, one after another; see `VoteTable`.

    Tables of up to ``dense_up_to`` patterns × cells × components are multiplied out by NumPy,
    larger ones go through compiled loops; the numbers are the same.
    """

    table: VoteTable
    cell: IntArray
    group: IntArray
    n_rows: int
    dense_up_to: int = _DENSE

    @property
    def items(self) -> float:
        """Number of items."""
        return max(float(self.table.count.sum()), 1.0)

    def totals(self, mass: FloatArray) -> FloatArray:
        """Return the mass (c, patterns) of every cell: (cells, c)."""
        return self.sum_cells(np.ascontiguousarray(mass.T))

    def expect(self, cells: FloatArray, weight: FloatArray) -> "ListedExpectation":
        """Return what the votes say of every pattern."""
        return ListedExpectation(self, *self.posterior(cells, weight))

    def posterior(self, cells: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(votes) and P(component | votes) of every pattern."""
        # In one layout: loops are compiled anew for each.
        cells = np.ascontiguousarray(np.maximum(cells, _LEAST))
        weight = np.ascontiguousarray(np.maximum(weight, _LEAST))
        if self.table.n_patterns * cells.size <= self.dense_up_to:
            return self._dense_posterior(cells, weight)
        from karat.votes.em._loops import pattern_posterior

        return pattern_posterior(
            self.table.start, self.cell, self.table.gold, self.group, cells, weight
        )

    def _dense_posterior(
        self, cells: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        logits = self._votes @ np.log(cells).T + np.log(weight)
        gold = self.table.gold[:, None]
        if gold.max(initial=-1) >= 0:
            logits[(gold >= 0) & (gold != self.group)] = -np.inf
        top = logits.max(axis=1)
        proba = np.exp(logits - top[:, None])
        total = proba.sum(axis=1)
        return top + np.log(total), proba / total[:, None]

    @cached_property
    def _votes(self) -> FloatArray:
        """Patterns × cells: 1 where the pattern has such a vote."""
        votes = np.zeros((self.table.n_patterns, self.n_rows))
        votes[self.table.pattern_of_vote, self.cell] = 1.0
        return votes

    def sum_cells(self, mass: FloatArray) -> FloatArray:
        """Return the mass (patterns, c) of every cell: (cells, c)."""
        if mass.size * self.n_rows <= self.dense_up_to:
            return np.asarray(self._votes.T @ mass)
        from karat.votes.em._loops import cell_totals

        return cell_totals(self.table.start, self.cell, np.ascontiguousarray(mass), self.n_rows)


@dataclass(frozen=True, slots=True)
class ListedExpectation:
    """Log P(votes) and P(component | votes) of every pattern."""

    design: Listed
    value: FloatArray
    proba: FloatArray

    @property
    def total(self) -> float:
        """The log-likelihood of all items."""
        # BLAS would fight over the cores.
        return float(np.einsum("p,p", self.design.table.count, self.value))

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Return the expected items (c,) and votes (cells, c)."""
        mass = self.proba * self.design.table.count[:, None]
        return np.einsum("pc->c", mass), self.design.sum_cells(mass)


@dataclass(frozen=True, slots=True)
class ListedProblem:
    """A table of votes, a law, and the cells in which the law's parameters are looked up."""

    table: VoteTable
    law: VoteLaw
    design: Listed

    @classmethod
    def of(cls, table: VoteTable, law: VoteLaw, *, dense_up_to: int = _DENSE) -> Self:
        """Put a table and a law together; ``dense_up_to`` as in `Listed`."""
        rows = table.n_voters * table.n_outcomes * (3 if law.copies else 1)
        heard = table.heard
        cell = vote_cells(heard, law.parent)
        return cls(table, law, Listed(heard, cell, law.group, rows, dense_up_to))


def vote_cells(table: VoteTable, parent: IntArray | None) -> IntArray:
    """Return the cell of each vote: own, or apart from or equal to the vote of the parent."""
    cell = table.voter * table.n_outcomes + table.outcome
    if parent is None or (parent < 0).all():
        return cell
    block = table.n_voters * table.n_outcomes
    pattern = table.pattern_of_vote
    place = pattern * table.n_voters + table.voter  # ascending: voters are sorted in a pattern
    wanted = pattern * table.n_voters + parent[table.voter]
    at = np.searchsorted(place, wanted).clip(max=len(place) - 1)
    heard = (parent[table.voter] >= 0) & (place[at] == wanted)
    same = table.outcome[at] == table.outcome
    return np.asarray(cell + block * np.where(heard, np.where(same, 2, 1), 0))
