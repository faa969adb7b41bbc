"""Positives and negatives at and above each score that a positive has."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.ranking.placements import LabelledScores

__all__ = ["Ordering", "ordering_of"]


@dataclass(frozen=True, slots=True)
class Ordering:
    """The distinct scores of positives, the highest first, with the rows beside them.

    Between two of them stand negatives alone, whose order no measure looks at. Rows are counted on
    the scale of ``n_positive`` and ``n_negative``, what limits may count on.

    Attributes
    ----------
    score : array (steps,)
        The scores, descending.
    positive, tied : array (steps,)
        Positives, and negatives, of exactly this score.
    above : array (steps,)
        Negatives of a higher score.
    n_positive, n_negative : float
        Rows of each class; Kish's effective number where weights are importances.
    negative : array (negatives,)
        The scores of the negatives, ascending.
    negative_share : array (negatives + 1,) or None
        The share of the negatives up to each, from 0 to 1; None if all count alike.
    """

    score: FloatArray
    positive: FloatArray
    tied: FloatArray
    above: FloatArray
    n_positive: float
    n_negative: float
    negative: FloatArray
    negative_share: FloatArray | None

    @property
    def n(self) -> float:
        """All rows."""
        return self.n_positive + self.n_negative

    @property
    def prevalence(self) -> float:
        """The share of positives."""
        return self.n_positive / self.n

    def taken(self) -> tuple[FloatArray, FloatArray]:
        """Return positives and all rows that have each score or a higher one."""
        positives = np.cumsum(self.positive)
        return positives, positives + self.above + self.tied

    def counts_at(self, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positives and negatives whose score is at least each threshold."""
        ascending, positives = self.score[::-1], np.cumsum(self.positive)
        steps = len(ascending) - np.searchsorted(ascending, thresholds, side="left")
        ones = np.concatenate([[0.0], positives])[steps]
        below = np.searchsorted(self.negative, thresholds, side="left")
        if self.negative_share is None:
            zeros = (len(self.negative) - below) * (self.n_negative / len(self.negative))
        else:
            zeros = (1.0 - self.negative_share[below]) * self.n_negative
        return ones, np.asarray(zeros, dtype=float)

    def positives_among(self, rows: FloatArray) -> FloatArray:
        """Return how many positives are among the first of the rows; ties count in proportion."""
        positives, rows_taken = self.taken()
        before = rows_taken - self.positive - self.tied
        x = np.column_stack([before, rows_taken]).ravel()
        y = np.column_stack([positives - self.positive, positives]).ravel()
        return np.interp(rows, x, y, left=0.0)


def ordering_of(rows: LabelledScores) -> Ordering:
    """Return the ordering of rows that were checked."""
    placed = rows.placed()  # this sorts the positives in place where rows have no weights
    weighted = rows.positive_weight is not None
    positive = np.sort(rows.positive) if weighted else rows.positive
    last = np.flatnonzero(np.append(np.diff(positive) > 0, True))
    n1, n0 = _sizes(rows)
    left, right = placed.left[last], placed.right[last]
    if placed.share is None:
        tied, above = (right - left).astype(float), (placed.n_steps - right).astype(float)
    else:
        below, upto = placed.share[left], placed.share[right]
        tied, above = (upto - below) * n0, (1.0 - upto) * n0
    mass = np.diff(np.append(-1, last)).astype(float)
    if placed.mass is not None:
        mass = np.diff(np.concatenate([[0.0], np.cumsum(placed.mass)[last]])) * n1
    assert placed.negative is not None
    return Ordering(
        positive[last][::-1], mass[::-1], tied[::-1], above[::-1], n1, n0, placed.negative,
        placed.share,
    )  # fmt: skip


def _sizes(rows: LabelledScores) -> tuple[float, float]:
    """Return the numbers of rows; of importances, effective ones that keep the share of positives.

    Both classes are scaled alike, by the class of the lower effective number (Kish) per weight.
    """
    n1, n0 = rows.sizes
    if not rows.approximate or rows.positive_weight is None or rows.negative_weight is None:
        return n1, n0
    ones, zeros = float(rows.positive_weight.sum()), float(rows.negative_weight.sum())
    scale = min(n1 / ones, n0 / zeros)
    return scale * ones, scale * zeros
