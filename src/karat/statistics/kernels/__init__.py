"""Counting on arrays that are already checked and encoded: no checks here.

`joint_counts` and `soft_counts` fill tables from codes; `effective_counts` and `added_squares` keep
the squares of weights beside their sums, so that no limit depends on the unit of weights;
`distinct_rows` and `distinct_votes` find the patterns of a matrix of codes by a table while it is
small and by a sort beyond that.
"""

from karat.statistics.kernels._counts import (
    added_squares,
    effective_counts,
    joint_counts,
    soft_counts,
    summed,
)
from karat.statistics.kernels._distinct import (
    distinct_rows,
    distinct_votes,
    recode,
    tie_groups,
)

__all__ = [
    "added_squares",
    "distinct_rows",
    "distinct_votes",
    "effective_counts",
    "joint_counts",
    "recode",
    "soft_counts",
    "summed",
    "tie_groups",
]
