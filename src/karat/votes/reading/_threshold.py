"""Probabilities cut into votes, when a user asks for it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame
from karat._validate import (
    check_classes,
    check_number,
    named,
    quoted_text,
    read_columns,
    refuse_option,
    shown,
)
from karat.exceptions import ColumnError, DataError

__all__ = ["above", "cut_columns", "thresholds", "two_classes"]


def cut_columns(
    votes: Frame, threshold: Any, classes: Column | None, voters: Sequence[Any] | None = None
) -> tuple[FloatArray, list[str], Column]:
    """Return votes 0 and 1 from columns of probabilities, NaN where there is none.

    ``voters`` holds the names of the columns as they were passed, where they may be no text.
    """
    columns, names = read_columns(votes, "votes", each="column per voter")
    limits = thresholds(threshold, names if voters is None else voters)
    matrix = np.full((len(columns[0][0]), len(names)), np.nan)
    for j, (values, mask) in enumerate(columns):
        matrix[:, j] = above(values, mask, limits[j], f"votes column {names[j]!r}")
    return matrix, names, two_classes(classes)


def two_classes(classes: Column | None) -> Column:
    """Return the two classes that a threshold makes."""
    if classes is not None and len(check_classes(classes)) != 2:
        raise DataError(f"threshold= makes two classes and classes= names {shown(classes)}")
    return [0, 1] if classes is None else classes


def thresholds(threshold: Any, voters: Sequence[Any]) -> list[float]:
    """Return the threshold of each voter; the keys of a mapping are voters, or their text."""
    if isinstance(threshold, Mapping):
        keys = [v if v in threshold else str(v) for v in voters]
        if set(keys) != set(threshold):
            refuse_option(threshold, "threshold", f"one number per voter: {named(voters)}")
        cuts = [threshold[key] for key in keys]
    elif isinstance(threshold, Sequence | np.ndarray) and not isinstance(threshold, str):
        cuts = list(threshold)
        if len(cuts) != len(voters):
            refuse_option(threshold, "threshold", f"one number, or one per voter: {named(voters)}")
    else:
        cuts = [threshold] * len(voters)
    return [check_number(t, "threshold") for t in cuts]


def above(values: AnyArray, mask: BoolArray | None, limit: Any, name: str) -> FloatArray:
    """Return 1 where a probability is at least the limit, 0 below, NaN where there is none."""
    if values.dtype.kind not in "biuf":
        raise ColumnError(
            f"{name} holds text ({quoted_text(values, mask)}); threshold= cuts numbers"
        )
    above = np.where(values == -1, -1.0, values >= limit)  # -1 still means that it abstains
    return above if mask is None else np.where(mask, np.nan, above)
