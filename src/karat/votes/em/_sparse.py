"""Votes of many labelers of whom few speak: only what is unusual is looked up.

Each labeler has a *usual* outcome, the one that most patterns hold: for a rule, that it abstains.
The logarithms of the usual outcomes are added up once for all patterns, and a pattern corrects the
sum for the labelers that did something else; so a pass costs as much as there are unusual votes.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.em._blocks import BlocksExpectation
from karat.votes.tables import outcomes_of, safe_log

__all__ = ["Sparse"]


@dataclass(frozen=True, slots=True)
class Sparse:
    """What each pattern changes in the usual outcomes, as a sparse matrix of patterns × cells.

    A labeler has a cell for each class and, last, for abstention; not being asked has no cell.
    ``usual`` are the cells that are taken for granted, one of each labeler that has such a cell.
    ``change[z, cell]`` is 1 for an unusual outcome of pattern z and -1 for the usual one in its
    place. ``gold`` is the class of a pattern whose items were labelled, -1 otherwise.
    """

    change: Any
    by_cell: Any
    usual: IntArray
    count: FloatArray
    gold: IntArray

    @classmethod
    def of_codes(
        cls, codes: IntArray, count: FloatArray, k: int, gold: IntArray | None = None
    ) -> Self:
        """Find the usual outcomes of a matrix of codes, and list the others."""
        from scipy.sparse import csr_array

        m, outcomes = codes.shape[1], outcomes_of(codes, k)
        usual = usual_outcomes(codes, k)
        pattern, labeler = np.nonzero(outcomes != usual)
        added, dropped = outcomes[pattern, labeler], usual[labeler]
        asked, granted = added <= k, dropped <= k
        cell = (k + 1) * np.concatenate([labeler[asked], labeler[granted]])
        cell += np.concatenate([added[asked], dropped[granted]])
        row = np.concatenate([pattern[asked], pattern[granted]])
        ones = np.repeat([1.0, -1.0], [asked.sum(), granted.sum()])
        change = csr_array((ones, (row, cell)), shape=(len(codes), m * (k + 1)))
        cells = ((k + 1) * np.arange(m) + usual)[usual <= k]
        none = np.full(len(codes), -1) if gold is None else gold
        return cls(change, change.T.tocsr(), cells, count, none)

    @property
    def items(self) -> float:
        """Number of items."""
        return float(self.count.sum())

    @property
    def cost(self) -> float:
        """Look-ups of a pass, in those of `Blocks`."""
        return 0.5 * float(self.change.nnz)

    def totals(self, mass: FloatArray) -> FloatArray:
        """Return the mass (c, patterns) of every cell: (cells, c)."""
        return self._cells(np.ascontiguousarray(mass.T), mass.sum(axis=1))

    def expect(self, cells: FloatArray, weight: FloatArray) -> BlocksExpectation:
        """Return the log-likelihood, and the expected items (c,) and votes (cells, c)."""
        logs = np.ascontiguousarray(safe_log(cells).T)
        scores = self.change @ logs
        scores += np.einsum("uc->c", logs[self.usual]) + safe_log(weight)
        # A loop over the few components; NumPy's own reductions of short rows are slow.
        top = scores[:, 0].copy()
        for column in scores.T[1:]:
            np.maximum(top, column, out=top)
        joint = np.exp(scores - top[:, None])
        known = self.gold >= 0
        if known.any():
            self._keep_gold(joint, scores, top, known)
        evidence = np.einsum("pc->p", joint)
        total = float((self.count * (top + np.log(evidence))).sum())
        joint *= (self.count / evidence)[:, None]
        mass = np.einsum("pc->c", joint)
        return BlocksExpectation(total, mass, self._cells(joint, mass))

    def _keep_gold(
        self, joint: FloatArray, scores: FloatArray, top: FloatArray, known: Any
    ) -> None:
        """Give labelled patterns to their class, however improbable their votes make it."""
        rows, label = np.flatnonzero(known), self.gold[known]
        top[rows] = scores[rows, label]
        joint[rows] = 0.0
        joint[rows, label] = 1.0

    def _cells(self, mass: FloatArray, total: FloatArray) -> FloatArray:
        """Return the mass (patterns, c) of every cell: (cells, c); ``total`` is its sum."""
        votes = np.asarray(self.by_cell @ mass)
        votes[self.usual] = np.maximum(votes[self.usual] + total, 0.0)
        return votes


def usual_outcomes(codes: IntArray, k: int) -> IntArray:
    """Return the outcome of each labeler that most patterns hold: (m,)."""
    m, slots = codes.shape[1], k + 2
    places = outcomes_of(codes, k) + slots * np.arange(m)
    counts = np.bincount(places.reshape(-1), minlength=m * slots).reshape(m, slots)
    return np.asarray(counts.argmax(axis=1))
