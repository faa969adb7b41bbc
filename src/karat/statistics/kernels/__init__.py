"""Counting on arrays that are already checked and encoded: no checks here.

`joint_counts` and `soft_counts` fill tables from codes; `distinct_rows` and `distinct_votes` find
the patterns of a matrix of codes by a table while it is small and by a sort beyond that.
"""

from karat.statistics.kernels._counts import joint_counts, soft_counts
from karat.statistics.kernels._distinct import (
    distinct_rows,
    distinct_votes,
    recode,
    tie_groups,
)

__all__ = [
    "distinct_rows",
    "distinct_votes",
    "joint_counts",
    "recode",
    "soft_counts",
    "tie_groups",
]
