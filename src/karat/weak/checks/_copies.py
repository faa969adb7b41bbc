"""Labelers that are copies of one another, where a label model has failed."""

from typing import NamedTuple

import numpy as np

from karat.votes.agreement import near_copies
from karat.votes.tables import VoteTable
from karat.weak.checks._evidence import Evidence

__all__ = ["CopiedPair", "copied_pairs"]


class CopiedPair(NamedTuple):
    """A labeler and its nearest copy, as a pair of the agreement, and all labelers of the block."""

    pair: int
    block: tuple[int, ...]


def copied_pairs(evidence: Evidence) -> list[CopiedPair]:
    """Return the blocks of near copies, by the rule of `karat.votes.agreement.near_copies`.

    Two labelers that are nearly always right agree as often as a labeler and its copy; the rule,
    which looks at the labelers outside a block, does not mistake them for one.
    """
    k = len(evidence.found.classes)
    table = VoteTable.of_codes(evidence.found.patterns, evidence.found.counts, k)
    figures, found = evidence.agreement, []
    for block in near_copies(table).blocks:
        inside = np.isin(figures.first, block) & np.isin(figures.second, block)
        pairs = np.flatnonzero(inside & (figures.n > 0))
        found.append(CopiedPair(int(pairs[figures.observed[pairs].argmax()]), block))
    return found
