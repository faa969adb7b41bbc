"""Sufficient statistics: the small tables that every question is reduced to.

All of them can be merged: the statistic of two parts, added, is the statistic of the whole. What
`patterns` and `rates` return is described with them, and stands in `karat.statistics.patterns` and
`karat.statistics.result`; `karat.scan` counts the same in tables of any size.
"""

from karat.statistics._confusion import confusion, rates
from karat.statistics._roc import JointRocCounts, roc_counts
from karat.statistics.patterns import PatternCounts, pattern_counts, patterns
from karat.statistics.result import Confusion, RocCounts
from karat.statistics.votes import VoteCounts

__all__ = [
    "Confusion",
    "JointRocCounts",
    "PatternCounts",
    "RocCounts",
    "VoteCounts",
    "confusion",
    "pattern_counts",
    "patterns",
    "rates",
    "roc_counts",
]
