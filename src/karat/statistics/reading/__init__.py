"""Counts from what users pass: checked, encoded and counted in one step.

`count_labels` counts truth against prediction for `confusion` and `rates`; `find_patterns` reduces
a vote matrix to its distinct rows for `patterns`, `pattern_counts` and the packages of votes;
`count_votes` counts votes by domain and true label.
"""

from karat.statistics.reading._labels import count_labels
from karat.statistics.reading._patterns import find_patterns
from karat.statistics.reading._votes import count_votes

__all__ = ["count_labels", "count_votes", "find_patterns"]
