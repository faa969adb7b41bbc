"""Labels that a row may have together, and limits that take the entries of one row together.

`read_labels_apart` reads one column of 0 and 1, and one of scores, for each label into `Labels`;
`classes_apart` reads classes as such labels; `clustered_limits` limits what is pooled over labels.
"""

from karat.ranking.labels._classes import classes_apart
from karat.ranking.labels._labels import Labels, clustered_limits, read_labels_apart

__all__ = ["Labels", "classes_apart", "clustered_limits", "read_labels_apart"]
