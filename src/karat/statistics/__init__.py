"""Sufficient statistics: the small tables that every question is reduced to.

All of them can be merged: the statistic of two parts, added, is the statistic of the whole.
"""

from karat.statistics._confusion import confusion, rates
from karat.statistics._roc import JointRocCounts, roc_counts, scan_roc_counts
from karat.statistics.patterns import PatternCounts, Patterns, pattern_counts, patterns
from karat.statistics.result import Confusion, Rates, RocCounts
from karat.statistics.votes import VoteCounts

__all__ = [
    "Confusion",
    "JointRocCounts",
    "PatternCounts",
    "Patterns",
    "Rates",
    "RocCounts",
    "VoteCounts",
    "confusion",
    "pattern_counts",
    "patterns",
    "rates",
    "roc_counts",
    "scan_roc_counts",
]
