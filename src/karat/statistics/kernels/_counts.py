"""Counting, on arrays that are already checked and encoded."""

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray

__all__ = ["joint_counts", "soft_counts"]

# Rows are taken in chunks whose temporaries stay in the processor's cache.
_CHUNK = 1 << 15


def joint_counts(
    codes: list[IntArray], sizes: list[int], weight: FloatArray | None = None
) -> AnyArray:
    """Count (or sum the weights of) each combination of codes: shape ``sizes``."""
    cells = int(np.prod(sizes))
    counts = np.zeros(cells, dtype=np.int64 if weight is None else np.float64)
    step = max(_CHUNK, cells)
    for start in range(0, len(codes[0]), step):
        part = slice(start, start + step)
        index = codes[0][part]
        for code, size in zip(codes[1:], sizes[1:], strict=True):
            index = index * size + code[part]
        some = None if weight is None else weight[part]
        counts += np.bincount(index, weights=some, minlength=cells)
    return counts.reshape(sizes)


def soft_counts(
    codes: list[IntArray], sizes: list[int], proba: FloatArray, weight: FloatArray | None = None
) -> FloatArray:
    """Sum the rows of ``proba`` within each combination of codes: shape ``(*sizes, k)``."""
    weighted = proba if weight is None else proba * weight[:, None]
    columns = [joint_counts(codes, sizes, column) for column in weighted.T]
    return np.stack(columns, axis=-1)
