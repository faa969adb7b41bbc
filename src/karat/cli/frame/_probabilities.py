"""Class probabilities from the columns of ``--score`` or ``--prob``."""

from typing import Any

import numpy as np

from karat._code import Coded
from karat._validate import check_scores, refuse_option
from karat.cli.frame._table import InputTable
from karat.exceptions import ProbabilityError

__all__ = ["check_score_or_prob", "read_probabilities"]


def check_score_or_prob(score: str | None, prob: list[str] | None) -> None:
    """Refuse both flags at once: they say the same thing."""
    if score is not None and prob:
        refuse_option(score, "--score", f"no --prob with it, and there is --prob {prob[0]}")


def read_probabilities(
    table: InputTable, truth: Any, score: str | None, prob: list[str] | None, positive: Any
) -> tuple[Coded, list[Any]]:
    """Return the matrix of class probabilities and the classes in the order of its columns.

    ``--prob`` names columns in the order of the sorted labels. Of two classes the positive one
    comes second, whatever its name.
    """
    check_score_or_prob(score, prob)
    classes = truth.drop_nulls().unique().sort().to_list()
    if positive is not None and len(classes) != 2:
        refuse_option(positive, "--pos-label", f"two classes with it, and there are {classes}")
    order = classes if positive in (None, classes[-1]) else classes[::-1]
    if score is not None:
        column = table.column("--score", score)
        if len(classes) != 2:
            expected = f"two classes with it, and there are {classes}; pass one --prob per class"
            refuse_option(score, "--score", expected)
        second = check_scores(column, f"--score {score}")
        if (outside := np.flatnonzero((second < 0) | (second > 1))).size:
            raise ProbabilityError(
                f"--score {score}: data row {outside[0] + 1} is {second[outside[0]]:g} "
                f"({outside.size:,} such rows in all); expected probabilities between 0 and 1"
            )
        code = f"np.column_stack([1 - frame[{score!r}], frame[{score!r}]])"
        return Coded(np.column_stack([1.0 - second, second]), code), order
    columns = table.names("--prob", prob, ("prob",))
    matrix = table.columns("--prob", columns)
    if len(columns) != len(classes):
        expected = f"one column for each of the {len(classes)} classes {classes}, in this order"
        refuse_option(columns, "--prob", expected)
    columns = columns if order == classes else columns[::-1]
    return Coded(matrix.select(columns).to_numpy(), f"frame[{columns}].to_numpy()"), order
