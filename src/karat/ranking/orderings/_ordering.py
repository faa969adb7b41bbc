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
    taken : array (steps,)
        Positives of this score or a higher one.
    rows : array (steps,)
        All rows of this score or a higher one.
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
    taken: FloatArray
    rows: FloatArray
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

    def counts_at(self, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positives and negatives whose score is at least each threshold."""
        ascending = self.score[::-1]
        steps = len(ascending) - np.searchsorted(ascending, thresholds, side="left")
        ones = np.where(steps > 0, self.taken[np.maximum(steps, 1) - 1], 0.0)
        below = np.searchsorted(self.negative, thresholds, side="left")
        if self.negative_share is None:
            zeros = (len(self.negative) - below) * (self.n_negative / len(self.negative))
        else:
            zeros = (1.0 - self.negative_share[below]) * self.n_negative
        return ones, np.asarray(zeros, dtype=float)

    def positives_among(self, rows: FloatArray) -> FloatArray:
        """Return how many positives are among the first of the rows; ties count in proportion."""
        step = np.searchsorted(self.rows, rows).clip(0, len(self.rows) - 1)
        size = self.positive[step] + self.tied[step]
        part = np.clip((rows - (self.rows[step] - size)) / size, 0.0, 1.0)
        return np.asarray(self.taken[step] - self.positive[step] * (1.0 - part))


def ordering_of(rows: LabelledScores) -> Ordering:
    """Return the ordering of rows that were checked."""
    placed = rows.placed()  # this sorts the positives in place where rows have no weights
    weighted = rows.positive_weight is not None
    positive = np.sort(rows.positive) if weighted else rows.positive
    n1, n0 = _sizes(rows)
    differ = positive[1:] != positive[:-1]
    apart = bool(differ.all())
    left, right, score, mass = placed.left, placed.right, positive, placed.mass
    last = np.append(np.flatnonzero(differ), len(positive) - 1) if not apart else np.zeros(0, int)
    if not apart:
        left, right, score = left[last], right[last], score[last]
    if mass is not None:
        count = np.diff(np.cumsum(mass)[last], prepend=0.0) * n1 if not apart else mass * n1
    else:
        count = np.ones(len(score)) if apart else np.diff(last, prepend=-1).astype(float)
    if placed.share is None:
        tied, above = (right - left).astype(float), (placed.n_steps - right).astype(float)
    else:
        below, upto = placed.share[left], placed.share[right]
        tied, above = (upto - below) * n0, (1.0 - upto) * n0
    count, tied, above = (np.ascontiguousarray(x[::-1]) for x in (count, tied, above))
    taken = np.cumsum(count)
    assert placed.negative is not None
    return Ordering(
        score[::-1], count, tied, above, taken, taken + above + tied, n1, n0, placed.negative,
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
