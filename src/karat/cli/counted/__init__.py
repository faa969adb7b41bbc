"""Commands on files of counts, which ``karat count`` wrote where the rows are.

`is_counts` tells such a file from one of rows. The functions here answer as the commands do on
rows, from the counts alone; what needs the rows (true labels, differences) is refused or named.
"""

from karat.cli.counted._answers import (
    counted_areas,
    counted_bounds,
    counted_judges,
    refuse_flags,
)
from karat.sources.stored import is_counts

__all__ = ["counted_areas", "counted_bounds", "counted_judges", "is_counts", "refuse_flags"]
