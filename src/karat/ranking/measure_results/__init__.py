"""From what users pass to a `RankingMeasure`: rows, groups, classes and labels.

`measured_ranking` is all that the public functions do after their options are checked, and
`compared_rankings` what several models on the same rows need.
"""

from karat.ranking.measure_results._checks import check_cut, read_models
from karat.ranking.measure_results._compared import compared_rankings
from karat.ranking.measure_results._measured import (
    check_rows,
    measured_ranking,
    measured_rows,
    rows_of,
)

__all__ = [
    "check_cut",
    "check_rows",
    "compared_rankings",
    "measured_ranking",
    "measured_rows",
    "read_models",
    "rows_of",
]
