"""Counts from what users pass: checked, encoded and counted in one step.

`count_labels` counts truth against prediction for `confusion` and `rates`; `find_patterns` reduces
a vote matrix to its distinct rows for `patterns`, `pattern_counts` and the packages of votes.
"""

from karat.statistics.reading._labels import count_labels
from karat.statistics.reading._patterns import find_patterns

__all__ = ["count_labels", "find_patterns"]
