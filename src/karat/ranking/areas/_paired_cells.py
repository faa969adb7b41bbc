"""The error of a difference of two areas, from counts of each score and of both in cells."""

import math
from typing import NamedTuple

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat.ranking.areas._influence import influence
from karat.ranking.placements import place_counts
from karat.ranking.weights import Weight
from karat.statistics import JointRocCounts, RocCounts

__all__ = ["paired_errors"]


class _Side(NamedTuple):
    """One score within one class: cell means by cell, and the sum of squares within cells."""

    total: float  # Σ ψ², ψ with mean 0
    means: FloatArray
    within: float


def paired_errors(
    first: RocCounts, second: RocCounts, joint: JointRocCounts, weight: Weight
) -> tuple[float, float]:
    """Return the least and the greatest standard error of the difference that the counts allow.

    With the influence ψ of each row on either area, the variance needs Σ ψₐψ_b. Write ψ = m + d, m
    its mean in the cell. Σ mₐm_b is known from the joint counts, and the Cauchy–Schwarz inequality
    limits the rest: d of one score is orthogonal to all functions of its own cells, so it meets
    only what these leave of the other's m.
    """
    edges = joint.first_edges, joint.second_edges
    sides = [_sides(score, at, weight) for score, at in zip((first, second), edges, strict=True)]
    low = high = 0.0
    for c in (0, 1):
        a, b, counts = sides[0][c], sides[1][c], joint.counts[c].astype(np.float64)
        n = counts.sum()
        if n <= 1:
            return math.inf, math.inf
        cross = float(a.means @ counts @ b.means)
        slack = (
            math.sqrt(a.within * _left(counts, b.means))
            + math.sqrt(b.within * _left(counts.T, a.means))
            + math.sqrt(a.within * b.within)
        )
        known = a.total + b.total - 2 * cross
        low += max(known - 2 * slack, 0.0) / (n * (n - 1))
        high += max(known + 2 * slack, 0.0) / (n * (n - 1))
    return math.sqrt(low), math.sqrt(high)


def _left(counts: FloatArray, means: FloatArray) -> float:
    """Return Σ of squares of the column means that the rows' own means of them do not explain."""
    rows = counts.sum(axis=1)
    own = counts @ means / np.maximum(rows, 1.0)
    return max(float(counts.sum(axis=0) @ means**2 - rows @ own**2), 0.0)


def _sides(score: RocCounts, edges: AnyArray, weight: Weight) -> list[_Side]:
    """Return the influence of negatives and positives, by cells of the score."""
    ones, zeros = (np.asarray(c, dtype=np.float64) for c in (score.positives, score.negatives))
    of_ones, of_zeros = influence(place_counts(ones, zeros), weight)
    spread = np.zeros(len(ones))
    spread[ones > 0] = of_ones
    cell = np.searchsorted(edges, score.scores, side="right")
    found = []
    for counts, values in ((zeros, of_zeros), (ones, spread)):
        psi = values - counts @ values / counts.sum()
        size = np.bincount(cell, counts, len(edges) + 1)
        sums = np.bincount(cell, counts * psi, len(edges) + 1)
        means = sums / np.maximum(size, 1.0)
        total = float(counts @ psi**2)
        found.append(_Side(total, means, max(total - float(size @ means**2), 0.0)))
    return found
