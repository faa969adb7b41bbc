"""From checked rows or placements to a `WeightedAUC`: value, limits, curve and warnings.

`AreaOptions` holds the checked options of an area. `area_result` takes the scores of one ranking,
`area_result_of_counts` placements of counts, and `areas_of_labels` several classes or labels with a
column of scores each; of two classes `positive_column` is enough.
"""

from karat.ranking.area_results._area_options import AreaOptions, check_area_options
from karat.ranking.area_results._area_result import (
    area_result,
    area_result_of_counts,
)
from karat.ranking.area_results._one_against_the_rest import (
    areas_of_labels,
    positive_column,
)

__all__ = [
    "AreaOptions",
    "area_result",
    "area_result_of_counts",
    "areas_of_labels",
    "check_area_options",
    "positive_column",
]
