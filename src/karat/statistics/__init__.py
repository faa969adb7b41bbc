"""Sufficient statistics: the small tables that every question is reduced to.

All of them can be merged: the statistic of two parts, added, is the statistic of the whole.
"""

from karat.statistics._confusion import confusion
from karat.statistics._pattern_counts import pattern_counts
from karat.statistics._patterns import patterns
from karat.statistics._rates import rates
from karat.statistics._roc_counts import roc_counts
from karat.statistics._scan_roc_counts import scan_roc_counts
from karat.statistics.joint_result import JointRocCounts
from karat.statistics.pattern_result import PatternCounts, Patterns
from karat.statistics.result import Confusion, Rates, RocCounts
from karat.statistics.vote_result import VoteCounts

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
