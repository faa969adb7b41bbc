"""Votes of few labelers on many patterns, as tables of blocks of labelers.

Labelers are cut into blocks. Within a block few combinations of votes occur, so the logarithms are
added up, and the expected counts split, once per combination and not once per pattern: a pass
costs two table look-ups per block, pattern and component. The products are so small that `einsum`
is used for them: the threads of a BLAS would wait for each other longer than they compute.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.statistics.kernels import distinct_votes
from karat.votes.tables import outcomes_of, safe_log

__all__ = ["Blocks"]

# A block's table stays in the processor's first cache, a chunk's temporaries in its second.
_TABLE = 4096
_CHUNK = 1 << 14
_DENSE = 1 << 15
# Look-ups that take as long as what a pass does with the tables, however few patterns there are.
_TABLES = 2500


class BlocksExpectation(NamedTuple):
    """The log-likelihood, and the expected items (c,) and votes (cells, c)."""

    total: float
    mass: FloatArray
    votes: FloatArray

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Return the expected items and votes."""
        return self.mass, self.votes


@dataclass(frozen=True, slots=True)
class Blocks:
    """The combination of votes of each pattern in each block, and what each combination holds.

    ``tables[b][r, (labeler, outcome)]`` is 1 where combination r of block b has this vote; a vote
    that was not asked for is in no column.
    """

    ids: list[IntArray]
    tables: list[FloatArray]
    count: FloatArray

    @classmethod
    def of_codes(
        cls, codes: IntArray, count: FloatArray, k: int, *, size: int | None = None
    ) -> Self:
        """Cut the labelers of a matrix of codes into blocks of ``size``, by default what is fast.

        The outcomes are k classes and abstention.
        """
        m = codes.shape[1]
        if size is None:
            size = _size_for(codes, k)
        ids, tables = [], []
        for start in range(0, m, size):
            here = codes[:, start : start + size]
            block, first = distinct_votes(here, k)
            ids.append(block)
            tables.append(_one_hot(here[first], k))
        return cls(ids, tables, count)

    @property
    def items(self) -> float:
        """Number of items."""
        return float(self.count.sum())

    @staticmethod
    def cost(codes: IntArray, k: int) -> float:
        """Return the look-ups of a pass over these codes: one for each pattern and block."""
        size = _size_for(codes, k)
        return float(_TABLES + len(codes) * -(-codes.shape[1] // size))

    def totals(self, mass: FloatArray) -> FloatArray:
        """Return the mass (c, patterns) of every cell: (cells, c)."""
        sums = [
            np.asarray([np.bincount(ids, weights=row, minlength=len(hot)) for row in mass])
            for ids, hot in zip(self.ids, self.tables, strict=True)
        ]
        return self._split(sums)

    def expect(self, cells: FloatArray, weight: FloatArray) -> BlocksExpectation:
        """Return the log-likelihood, and the expected items (c,) and votes (cells, c).

        ``cells[c, cell]`` is the probability of a vote, ``weight`` that of a component.
        """
        scores = self._scores(safe_log(cells))
        scores[0] += safe_log(weight)[:, None]
        sums = [np.zeros((len(weight), len(hot))) for hot in self.tables]
        tops = [table.max(axis=0) for table in scores]
        ratios = [np.exp(table - top) for table, top in zip(scores, tops, strict=True)]
        total = 0.0
        for at in range(0, len(self.count), _CHUNK):
            part = slice(at, at + _CHUNK)
            ids = [block[part] for block in self.ids]
            count = self.count[part]
            joint, log_evidence = _posterior_of(scores, tops, ratios, ids)
            total += float((count * log_evidence).sum())
            joint *= count
            for sum_, block in zip(sums, ids, strict=True):
                for c in range(len(weight)):
                    sum_[c] += np.bincount(block, weights=joint[c], minlength=sum_.shape[1])
        return BlocksExpectation(total, sums[0].sum(axis=1), self._split(sums))

    def _scores(self, logs: FloatArray) -> list[FloatArray]:
        """Add up ``logs[c, cell]`` over each combination of each block: (c, combinations)."""
        scores, start = [], 0
        for hot in self.tables:
            scores.append(np.einsum("yc,rc->yr", logs[:, start : start + hot.shape[1]], hot))
            start += hot.shape[1]
        return scores

    def _split(self, sums: list[FloatArray]) -> FloatArray:
        """Turn the mass of each block's combinations into that of cells."""
        parts = [
            np.einsum("yr,rc->yc", mass, hot) for mass, hot in zip(sums, self.tables, strict=True)
        ]
        return np.concatenate(parts, axis=1).T


def _size_for(codes: IntArray, k: int) -> int:
    values = k + 1 + int(bool((codes < -1).any()))
    return _block_size(len(codes), codes.shape[1], values)


def _block_size(n_patterns: int, m: int, values: int) -> int:
    """Return how many labelers make a block, so that its table is small beside the patterns."""
    if n_patterns * m * values <= _DENSE:
        return m
    rows = np.clip(n_patterns / 8, 256, _TABLE)
    most = max(1, int(np.log(rows) / np.log(values)))
    return -(-m // -(-m // most))  # blocks of about the same size


def _one_hot(codes: IntArray, k: int) -> FloatArray:
    """Return (p, m·(k+1)) indicators of each labeler's outcome; the last one is abstention."""
    hot = outcomes_of(codes, k)[:, :, None] == np.arange(k + 1)
    return np.asarray(hot.reshape(len(codes), -1) * 1.0)


def _posterior_of(
    scores: list[FloatArray],
    tops: list[FloatArray],
    ratios: list[FloatArray],
    ids: list[IntArray],
) -> tuple[FloatArray, FloatArray]:
    """Return P(component | z) of shape (c, patterns) and log P(z).

    Likelihood ratios within each block are multiplied, which needs no exponential per pattern;
    where blocks contradict each other so much that the product vanishes, logarithms are added.
    """
    joint = ratios[0].take(ids[0], axis=1)
    shift = tops[0].take(ids[0])
    for ratio, top, block in zip(ratios[1:], tops[1:], ids[1:], strict=True):
        joint *= ratio.take(block, axis=1)
        shift += top.take(block)
    evidence = joint.sum(axis=0)
    if evidence.min() < 1e-200:
        joint = scores[0].take(ids[0], axis=1)
        for table, block in zip(scores[1:], ids[1:], strict=True):
            joint += table.take(block, axis=1)
        shift = joint.max(axis=0)
        # Numbers too small to be normal are slow.
        joint = np.exp(np.maximum(joint - shift, -600.0))
        evidence = joint.sum(axis=0)
    joint /= evidence
    return joint, shift + np.log(evidence)
