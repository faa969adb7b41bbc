"""Counts from a lazy table, each in one scan.

The engine groups the rows by the columns of a question; only the distinct combinations come back,
and the functions of `karat.statistics` count these, weighted by how often each occurs. So checks,
classes and the meaning of nulls are the same for 200 rows in memory and for 10⁹ on a cluster.
Scores are many: where the rows are in this process they are counted in a table of hashes, which
`warm` compiles beforehand.
"""

from karat.sources.counting._counts import confusion_of, pattern_counts_of, vote_counts_of
from karat.sources.counting._grouped import Grouped, RowWeight, grouped, with_value
from karat.sources.counting._joint import joint_counts_of
from karat.sources.counting._roc import MOST_SCORES, roc_counts_of
from karat.sources.counting._warm import warm

__all__ = [
    "MOST_SCORES",
    "Grouped",
    "RowWeight",
    "confusion_of",
    "grouped",
    "joint_counts_of",
    "pattern_counts_of",
    "roc_counts_of",
    "vote_counts_of",
    "warm",
    "with_value",
]
