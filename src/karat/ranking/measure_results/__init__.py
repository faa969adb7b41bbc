"""From what users pass to a `RankingMeasure`: rows, groups, classes and labels.

`measured_ranking` is all that the public functions do after their options are checked;
`read_labels_apart` reads labels that a row may have together.
"""

from karat.ranking.measure_results._checks import check_cut, read_models
from karat.ranking.measure_results._compared import compared_rankings
from karat.ranking.measure_results._labels import (
    Labels,
    clustered_limits,
    read_labels_apart,
)
from karat.ranking.measure_results._measured import (
    check_rows,
    measured_ranking,
    measured_rows,
    rows_of,
)

__all__ = [
    "Labels",
    "check_cut",
    "check_rows",
    "clustered_limits",
    "compared_rankings",
    "measured_ranking",
    "measured_rows",
    "read_labels_apart",
    "read_models",
    "rows_of",
]
