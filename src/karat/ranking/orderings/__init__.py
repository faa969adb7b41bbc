"""Rows in the order of their scores, as every measure of a ranking but the area reads them.

`Ordering` holds how many positives and negatives stand at and above each score that a positive has;
`ordering_of` makes it from `LabelledScores`. `Selection` says which rows a cut takes.
"""

from karat.ranking.orderings._ordering import Ordering, ordering_of
from karat.ranking.orderings._selection import Selection, selected_by_share, selected_by_threshold

__all__ = [
    "Ordering",
    "Selection",
    "ordering_of",
    "selected_by_share",
    "selected_by_threshold",
]
