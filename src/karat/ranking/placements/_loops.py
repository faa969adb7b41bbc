"""Splitting and merging many scores, compiled by numba; import only when there are many."""

from karat._compiled import compiled
from karat._typing import BoolArray, FloatArray, IntArray

__all__ = ["merge", "split"]


@compiled
def split(score: FloatArray, positive: BoolArray, ones: FloatArray, zeros: FloatArray) -> None:
    """Write the scores of positives into ``ones`` and those of negatives into ``zeros``."""
    i = j = row = 0
    while i < len(ones) and j < len(
        zeros
    ):  # both are written, one is kept: a branch would be mispredicted
        ones[i] = zeros[j] = score[row]
        up = int(positive[row])
        i += up
        j += 1 - up
        row += 1
    ones[i:] = score[row : row + len(ones) - i]
    zeros[j:] = score[row : row + len(zeros) - j]


@compiled
def merge(
    positive: FloatArray, negative: FloatArray, left: IntArray, right: IntArray, before: int
) -> None:
    """Write how many negatives are below each positive, and below or level with it.

    ``before`` more negatives are below all of them.
    """
    n1, n0 = len(positive), len(negative)
    i = low = 0
    while i < n1 and low < n0:  # one index advances, by arithmetic: a branch would be mispredicted
        below = int(negative[low] < positive[i])
        left[i] = before + low + below
        low += below
        i += 1 - below
    left[i:] = before + n0
    for i in range(n1):
        level = left[i] - before
        if i > 0 and positive[i] == positive[i - 1]:
            level = right[i - 1] - before
        while level < n0 and negative[level] == positive[i]:
            level += 1
        right[i] = before + level
