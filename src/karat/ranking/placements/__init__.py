"""From labels and scores to placements: where each positive stands among the negatives.

`read_labels` and `labelled_scores` read what users pass;
`LabelledScores.placed`, `place` and `place_counts` sort it into `Placements`, the sufficient
statistic of every area under the ROC curve. Large data go through compiled loops on two threads;
`warm` compiles these beforehand.
"""

from karat.ranking.placements._labelled_scores import (
    LabelledScores,
    labelled_scores,
    read_labels,
)
from karat.ranking.placements._placements import Placements, place, place_counts
from karat.ranking.placements._warm import warm

__all__ = [
    "LabelledScores",
    "Placements",
    "labelled_scores",
    "place",
    "place_counts",
    "read_labels",
    "warm",
]
