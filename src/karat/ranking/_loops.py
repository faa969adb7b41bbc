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
    left, right = np.empty(n1, np.int32), np.empty(n1, np.int32)  # half the memory of int64
    low = high = 0
    for i in range(n1):
        score = positive[i]
        while low < n0 and negative[low] < score:
            low += 1
        high = max(high, low)
        while high < n0 and negative[high] <= score:
            high += 1
        left[i], right[i] = low, high
    return left, right
