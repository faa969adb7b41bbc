"""Adding two statistics of a kind, counted on different parts of the data.

Both are brought to the same labels, groups and patterns, and then their counts are added. Parts
that were counted differently (other labelers, another order of classes) are refused.
"""

from karat.statistics.merging._merge import (
    MergedPatterns,
    merge_groups,
    merge_patterns,
    spread,
    union,
)

__all__ = ["MergedPatterns", "merge_groups", "merge_patterns", "spread", "union"]
