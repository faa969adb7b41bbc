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
    """The unusual outcomes of each pattern, as a sparse matrix of patterns × slots.

    A labeler has a slot for each class, for abstention and, last, for not being asked, which has
    no cell. ``usual[j]`` is the outcome of labeler j that is taken for granted. ``gold`` is the
    class of a pattern whose items were labelled, -1 otherwise.
    """

    unusual: Any
    usual: IntArray
    count: FloatArray
    gold: IntArray
    outcomes: int

    @classmethod
    def of_codes(
        cls, codes: IntArray, count: FloatArray, k: int, gold: IntArray | None = None
    ) -> Self:
        """Find the usual outcomes of a matrix of codes, and list the others."""
        from scipy.sparse import csr_array

        m, slots = codes.shape[1], k + 2
        usual = usual_outcomes(codes, k)
        pattern, labeler = np.nonzero(outcomes_of(codes, k) != usual)
        slot = labeler * slots + outcomes_of(codes[pattern, labeler], k)
        start = np.searchsorted(pattern, np.arange(len(codes) + 1))
        ones = np.ones(len(slot))
        unusual = csr_array((ones, slot, start), shape=(len(codes), m * slots))
        none = np.full(len(codes), -1) if gold is None else gold
        return cls(unusual, usual, count, none, k + 1)

    @property
    def items(self) -> float:
        """Number of items."""
        return float(self.count.sum())

    @property
    def cost(self) -> float:
        """Look-ups of a pass, in those of `Blocks`."""
        return float(1.5 * self.unusual.nnz + 2.0 * len(self.count))

    def totals(self, mass: FloatArray) -> FloatArray:
        """Return the mass (c, patterns) of every cell: (cells, c)."""
        return self._cells(np.ascontiguousarray(mass.T))

    def expect(self, cells: FloatArray, weight: FloatArray) -> BlocksExpectation:
        """Return the log-likelihood, and the expected items (c,) and votes (cells, c)."""
        logs = np.zeros((len(self.usual), self.outcomes + 1, len(weight)))
        logs[:, : self.outcomes] = safe_log(cells).T.reshape(len(self.usual), self.outcomes, -1)
        granted = logs[np.arange(len(self.usual)), self.usual]
        corrections = (logs - granted[:, None]).reshape(-1, len(weight))
        scores = self.unusual @ corrections
        scores += granted.sum(axis=0) + safe_log(weight)
        top = scores.max(axis=1, keepdims=True)
        joint = np.exp(scores - top)
        known = self.gold >= 0
        if known.any():
            self._keep_gold(joint, scores, top, known)
        evidence = joint.sum(axis=1)
        total = float((self.count * (top[:, 0] + np.log(evidence))).sum())
        joint *= (self.count / evidence)[:, None]
        return BlocksExpectation(total, joint.sum(axis=0), self._cells(joint))

    def _keep_gold(
        self, joint: FloatArray, scores: FloatArray, top: FloatArray, known: Any
    ) -> None:
        """Give labelled patterns to their class, however improbable their votes make it."""
        rows, label = np.flatnonzero(known), self.gold[known]
        top[rows, 0] = scores[rows, label]
        joint[rows] = 0.0
        joint[rows, label] = 1.0

    def _cells(self, mass: FloatArray) -> FloatArray:
        """Return the mass (patterns, c) of every cell: (cells, c)."""
        labelers = np.arange(len(self.usual))
        votes = (self.unusual.T @ mass).reshape(len(labelers), self.outcomes + 1, -1)
        votes[labelers, self.usual] = np.maximum(mass.sum(axis=0) - votes.sum(axis=1), 0.0)
        return np.asarray(votes[:, : self.outcomes].reshape(-1, mass.shape[1]))


def usual_outcomes(codes: IntArray, k: int) -> IntArray:
    """Return the outcome of each labeler that most patterns hold: (m,)."""
    m, slots = codes.shape[1], k + 2
    places = outcomes_of(codes, k) + slots * np.arange(m)
    counts = np.bincount(places.reshape(-1), minlength=m * slots).reshape(m, slots)
    return np.asarray(counts.argmax(axis=1))
