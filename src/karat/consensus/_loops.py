"""The expectation step over vote patterns: NumPy on few votes, compiled by numba on many.

Import only when needed. A small table is not worth the second that compiling takes.
"""

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray
from karat.consensus._arrays import PatternArrays
from karat.consensus._gibbs_loops import _TINY, responsibility

__all__ = ["cell_table", "expect", "pattern_log_likelihood"]

_last: tuple[IntArray, IntArray, FloatArray] | None = None  # start, cell and what they make
_SMALL = 1 << 16  # patterns × cells × components up to which dense products are as fast


def cell_table(theta: FloatArray, copied: FloatArray, table: FloatArray) -> None:
    """Fill the probability of every cell in each component, as `fill_cells` does in the sweeps.

    ``theta`` is voters × outcomes × components, ``table`` components × cells.
    """
    own = np.maximum(theta, _TINY).transpose(2, 0, 1)
    blocks = table.reshape(len(table), -1, *own.shape[1:])
    blocks[:, 0] = own
    if blocks.shape[1] > 1:
        kappa = copied[:, None]
        np.maximum((1 - kappa) * own, _TINY, out=blocks[:, 1])
        blocks[:, 2] = kappa + (1 - kappa) * own


def pattern_log_likelihood(
    start: IntArray,
    cell: IntArray,
    gold: IntArray,
    group: IntArray,
    table: FloatArray,
    weight: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return log P(votes) and P(component | votes) of every pattern."""
    if len(gold) * table.size <= _SMALL:
        return _dense_likelihood(start, cell, gold, group, table, weight)
    patterns = PatternArrays(start, cell, np.empty(0), gold, group)
    value, proba = np.empty(len(gold)), np.empty((len(gold), len(weight)))
    _pattern_likelihoods(patterns, table, np.ascontiguousarray(weight), value, proba)
    return value, proba


def expect(
    start: IntArray, cell: IntArray, count: FloatArray, proba: FloatArray, rows: int
) -> FloatArray:
    """Return the expected number of votes of each cell in each component."""
    if proba.size * rows <= _SMALL:
        return np.asarray(_votes_by_pattern(start, cell, rows).T @ (count[:, None] * proba))
    counts = np.zeros((rows, proba.shape[1]))
    # Arrays of another layout would be compiled for once more.
    _expect(start, cell, np.ascontiguousarray(count), np.ascontiguousarray(proba), counts)
    return counts


def _votes_by_pattern(start: IntArray, cell: IntArray, rows: int) -> FloatArray:
    """Return patterns × cells: 1 where the pattern has such a vote.

    A climb asks for the same one hundreds of times, so the last one is kept.
    """
    global _last
    last = _last  # read once: another thread may replace it
    if last is not None and last[0] is start and last[1] is cell and last[2].shape[1] == rows:
        return last[2]
    votes = np.zeros((len(start) - 1, rows))
    votes[np.repeat(np.arange(len(start) - 1), np.diff(start)), cell] = 1.0
    _last = (start, cell, votes)
    return votes


def _dense_likelihood(
    start: IntArray,
    cell: IntArray,
    gold: IntArray,
    group: IntArray,
    table: FloatArray,
    weight: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    logits = _votes_by_pattern(start, cell, table.shape[1]) @ np.log(table).T
    logits += np.log(np.maximum(weight, _TINY))
    if gold.max(initial=-1) >= 0:
        logits[(gold[:, None] >= 0) & (gold[:, None] != group)] = -np.inf
    top = logits.max(axis=1)
    proba = np.exp(logits - top[:, None])
    total = proba.sum(axis=1)
    proba /= total[:, None]
    return top + np.log(total), proba


@compiled
def _pattern_likelihoods(
    patterns: PatternArrays,
    table: FloatArray,
    weight: FloatArray,
    value: FloatArray,
    proba: FloatArray,
) -> None:
    for p in range(len(value)):
        value[p] = responsibility(patterns, p, table, weight, proba[p])


@compiled
def _expect(
    start: IntArray, cell: IntArray, count: FloatArray, proba: FloatArray, counts: FloatArray
) -> None:
    for p in range(len(count)):
        for v in range(start[p], start[p + 1]):
            for c in range(proba.shape[1]):
                counts[cell[v], c] += count[p] * proba[p, c]
