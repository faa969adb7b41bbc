"""Counting, on arrays that are already checked and encoded."""

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray

__all__ = ["added_squares", "effective_counts", "joint_counts", "soft_counts", "summed"]

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


def summed(codes: IntArray, weights: AnyArray, size: int) -> FloatArray:
    """Return the sum of the weights of each code."""
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64)


def effective_counts(
    counts: AnyArray, squares: AnyArray, part: IntArray | None = None
) -> FloatArray:
    """Return sums of weights in a unit in which they add up to Kish's number, (Σw)² / Σw².

    ``squares`` are the sums of squared weights. With ``part``, the codes of parts of the data that
    are measured apart, each part has a unit of its own.
    """
    where = np.zeros(len(counts), dtype=np.intp) if part is None else part
    total, square = (np.bincount(where, x) for x in (counts, squares))
    return np.asarray(counts * (total / np.where(square > 0, square, 1.0))[where])


def added_squares(
    mine: AnyArray | None, my_rows: AnyArray, theirs: AnyArray | None, their_rows: AnyArray
) -> AnyArray | None:
    """Return the sums of squared weights of two parts; rows that were counted weigh 1 each."""
    if mine is None and theirs is None:
        return None
    return np.asarray(
        (my_rows if mine is None else mine) + (their_rows if theirs is None else theirs)
    )
