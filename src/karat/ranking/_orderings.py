"""Rows in the order of their scores, as every measure of a ranking but the area reads them.

`Ordering` holds how many positives and negatives stand at and above each score that a positive has;
`ordering_of` makes it from `LabelledScores`, `ordering_of_counts` from counts. `Selection` says
which rows a cut takes.
"""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.ranking.placements import LabelledScores
from karat.statistics import RocCounts


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
    negative_upto : array (negatives + 1,) or None
        The negatives up to each, from 0 to ``n_negative``; None if each counts as one.
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
    negative_upto: FloatArray | None

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
        if self.negative_upto is None:
            zeros = (len(self.negative) - below) * (self.n_negative / len(self.negative))
        else:
            zeros = self.negative_upto[-1] - self.negative_upto[below]
        return ones, np.asarray(zeros, dtype=float)

    def positives_among(self, rows: FloatArray) -> FloatArray:
        """Return how many positives are among the first of the rows; ties count in proportion."""
        step = np.searchsorted(self.rows, rows).clip(0, len(self.rows) - 1)
        size = self.positive[step] + self.tied[step]
        part = np.clip((rows - (self.rows[step] - size)) / size, 0.0, 1.0)
        return np.asarray(self.taken[step] - self.positive[step] * (1.0 - part))


def ordering_of(rows: LabelledScores) -> Ordering:
    """Return the ordering of rows that were checked.

    Counts are sums of the weights as they were passed: whole weights give whole numbers, equal to
    those of repeated rows to the last digit, so that measures may compare them.
    """
    placed = rows.placed()  # this sorts the positives in place where rows have no weights
    n1, n0 = _sizes(rows)
    ones, zeros = rows.positive_weight, rows.negative_weight
    positive, upto = rows.positive, None
    if ones is not None and zeros is not None:
        order = np.argsort(positive)
        positive, ones = positive[order], ones[order]
        upto = _counted(zeros[np.argsort(rows.negative)], n0)
    differ = positive[1:] != positive[:-1]
    apart = bool(differ.all())
    left, right, score = placed.left, placed.right, positive
    last = np.append(np.flatnonzero(differ), len(positive) - 1) if not apart else np.zeros(0, int)
    if not apart:
        left, right, score = left[last], right[last], score[last]
    if ones is not None:
        count = np.diff(_counted(ones, n1)[last + 1 if not apart else slice(1, None)], prepend=0.0)
    else:
        count = np.ones(len(score)) if apart else np.diff(last, prepend=-1).astype(float)
    if upto is None:
        tied, above = (right - left).astype(float), (placed.n_steps - right).astype(float)
    else:
        tied, above = upto[right] - upto[left], upto[-1] - upto[right]
    count, tied, above = (np.ascontiguousarray(x[::-1]) for x in (count, tied, above))
    taken = np.cumsum(count)
    assert placed.negative is not None
    return Ordering(
        score[::-1], count, tied, above, taken, taken + above + tied, n1, n0, placed.negative, upto
    )


def ordering_of_counts(counts: RocCounts) -> Ordering:
    """Return the ordering of exact counts of both classes, which is that of their rows.

    Importances are brought to the scale of the effective number of rows, as those of rows are.
    """
    mass = [np.asarray(c, dtype=float) for c in (counts.positives, counts.negatives)]
    if counts.squares is not None:
        scale = float((counts.sizes / counts.totals).min())
        mass = [scale * m for m in mass]
    ones, zeros = (m > 0 for m in mass)
    return ordering_of(
        LabelledScores(counts.scores[ones], counts.scores[zeros], mass[0][ones], mass[1][zeros])
    )


def _counted(weights: FloatArray, n: float) -> FloatArray:
    """Return the sums of weights up to each, on the scale of n rows; exact where n is the sum."""
    total = np.concatenate([[0.0], np.cumsum(weights, dtype=float)])
    return total if total[-1] == n else total * (n / total[-1])


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


# --- Which rows a cut takes: the highest share of them, or all from a score on.


@dataclass(frozen=True, slots=True)
class Selection:
    """How much of each row a cut takes: 1 above it, 0 below, a part where rows are level with it.

    ``share`` is that of all rows; None where the cut is a score, so that the share is random.
    """

    taken: FloatArray
    share: float | None


def selected_by_share(score: FloatArray, weight: FloatArray, share: float) -> Selection:
    """Take the highest share of the rows; rows that are level at the cut are taken in part."""
    order = np.argsort(-score)
    reached = np.searchsorted(np.cumsum(weight[order]), share * weight.sum() * (1 - 1e-12))
    cut = score[order[min(int(reached), len(score) - 1)]]
    taken = (score > cut).astype(float)
    level = score == cut
    room = share * weight.sum() - weight[score > cut].sum()
    taken[level] = min(1.0, max(0.0, room / weight[level].sum()))
    return Selection(taken, share)


def selected_by_threshold(score: FloatArray, threshold: float) -> Selection:
    """Take the rows whose score is at least the threshold."""
    return Selection((score >= threshold).astype(float), None)
