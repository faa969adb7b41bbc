"""Parting and merging many scores, compiled by numba; import only when there are many."""

import numpy as np
from numba import njit

from karat._typing import BoolArray, FloatArray, IntArray

__all__ = ["merge", "part"]


@njit(cache=True, nogil=True)
def part(score: FloatArray, positive: BoolArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the scores of the n positives and those of the negatives."""
    ones, zeros = (
        np.empty(n + 1),
        np.empty(len(score) - n + 1),
    )
    i = j = 0
    for row in range(len(score)):  # both are written, one counts: no branch to guess wrong
        ones[i] = zeros[j] = score[row]
        up = int(positive[row])
        i += up
        j += 1 - up
    return ones[:-1], zeros[:-1]


@njit(cache=True, nogil=True)
def merge(positive: FloatArray, negative: FloatArray) -> tuple[IntArray, IntArray]:
    """Return how many negatives are below each positive, and below or level with it."""
    n1, n0 = len(positive), len(negative)
    left = np.full(n1, n0, np.int32)  # half the memory of int64
    i = low = 0
    while i < n1 and low < n0:  # either moves on, by arithmetic: a branch would be guessed wrong
        below = int(negative[low] < positive[i])
        left[i] = low + below
        low += below
        i += 1 - below
    right = left.copy()
    for i in range(n1):
        if i > 0 and positive[i] == positive[i - 1]:
            right[i] = right[i - 1]
        while right[i] < n0 and negative[right[i]] == positive[i]:
            right[i] += 1
    return left, right
