"""``karat auc --measure``: average precision, cuts, net benefit and cost of a file's scores.

`MEASURES` are the names on the command line; `measured_scores` measures every column of scores,
compares them, and returns the answer of the command; `compared_section` compares models;
`row_weights` are the options of a function that weighs rows.
"""

from karat.cli.rankings._measures import (
    MEASURES,
    check_flags,
    compared_section,
    measured_scores,
    row_weights,
)

__all__ = ["MEASURES", "check_flags", "compared_section", "measured_scores", "row_weights"]
