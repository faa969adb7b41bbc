"""From labels and scores to placements: where each positive stands among the negatives.

`read_labels`, `check_weighting` and `labelled_scores` read what users pass;
`LabelledScores.placed`, `place` and `place_counts` sort it into `Placements`, the sufficient
statistic of every area under the ROC curve. Large data go through compiled loops on two threads;
`compile_loops` compiles these beforehand.
"""

from karat.ranking.placements._compile_loops import compile_loops
from karat.ranking.placements._labelled_scores import (
    LabelledScores,
    check_weighting,
    labelled_scores,
    read_labels,
)
from karat.ranking.placements._placements import Placements, place, place_counts

__all__ = [
    "LabelledScores",
    "Placements",
    "check_weighting",
    "compile_loops",
    "labelled_scores",
    "place",
    "place_counts",
    "read_labels",
]
