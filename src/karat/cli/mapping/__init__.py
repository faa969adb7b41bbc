"""The table of ``karat calibration --calibrated``: the file with calibrated probabilities.

`labelled` keeps the rows to measure and fit on, `mapped_table` adds the columns.
"""

from karat.cli.mapping._mapped_table import (
    MappedTable,
    check_new_columns,
    labelled,
    mapped_table,
)

__all__ = ["MappedTable", "check_new_columns", "labelled", "mapped_table"]
