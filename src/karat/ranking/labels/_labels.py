"""Labels that a row may have together: one column of 0 and 1, and one of scores, for each."""

import math
from typing import Any, NamedTuple

import numpy as np

from karat._typing import BoolArray, Column, FloatArray
from karat._validate import (
    check_same_length,
    check_score_columns,
    check_weighting,
    check_weights,
    named,
    read_columns,
    refuse_option,
)
from karat._validate import is_matrix as is_score_matrix
from karat.exceptions import ColumnError, DataError, LabelError, ShapeError

__all__ = ["Labels", "clustered_limits", "no_groups", "read_labels_apart"]


class Labels(NamedTuple):
    """Columns of labels and of scores by the name of the label, and the weights of rows."""

    positive: dict[Any, BoolArray]
    score: dict[Any, FloatArray]
    weight: FloatArray | None
    approximate: bool
    skipped: dict[Any, str]
    alike: tuple[tuple[BoolArray, FloatArray], ...] = ()  # labels that all rows have, or none

    def only_these(self, *, groups: Any, pos_label: Any) -> None:
        """Refuse what has no meaning beside several labels."""
        if pos_label is not None:
            refuse_option(pos_label, "pos_label", "None where y_true has one column per label")
        no_groups(groups)

    def pooled(self) -> tuple[BoolArray, FloatArray, FloatArray | None]:
        """Return the entries of all labels, label after label."""
        positive = [*self.positive.values(), *(has for has, _ in self.alike)]
        score = [*self.score.values(), *(values for _, values in self.alike)]
        weight = None if self.weight is None else np.tile(self.weight, len(positive))
        return np.concatenate(positive), np.concatenate(score), weight


def read_labels_apart(
    y_true: Any, y_score: Any, sample_weight: Column | None, weighting: str | None
) -> Labels | None:
    """Return the labels where ``y_true`` has a column for each, and None where it is one column.

    Labels that all rows have, or none, are skipped with the reason.
    """
    if not is_score_matrix(y_score) or not _is_table(y_true):
        return None
    columns, names = read_columns(y_true, "y_true", each="column per label")
    labels: list[Any] = list(names)
    if isinstance(y_true, list | tuple | np.ndarray):
        labels = list(range(len(names)))  # columns without names
    scores = check_score_columns(y_score, "y_score", each="column per label")
    if len(scores) != len(names):
        raise ShapeError(
            f"y_true has {len(names)} columns and y_score has {len(scores)}; pass one column of "
            "scores per label"
        )
    if set(scores) == set(names):
        scores = {name: scores[name] for name in names}
    elif set(scores) & set(names) and not isinstance(y_score, list | tuple | np.ndarray):
        raise ColumnError(
            f"y_score has the columns {named(list(scores))} and the labels are "
            f"{named(list(names))}; name every column after its label, or none"
        )
    weight = check_weights(sample_weight)
    check_same_length(
        y_true=columns[0][0], y_score=next(iter(scores.values())), sample_weight=weight
    )
    positive, kept, skipped, alike = {}, {}, {}, []
    for name, score, (values, mask) in zip(labels, scores.values(), columns, strict=True):
        has = _has_label(values, mask, name)
        if has.all() or not has.any():
            skipped[name] = f"{'all' if has.all() else 'none'} of {len(has)} rows have it"
            alike.append((has, score))
            continue
        positive[name], kept[name] = has, score
    if not positive:
        raise LabelError(
            "every label of y_true is 0 in all rows or 1 in all rows; a ranking needs both. Pass "
            "rows of both kinds"
        )
    return Labels(positive, kept, weight, check_weighting(weighting, weight), skipped, tuple(alike))


def _is_table(y_true: Any) -> bool:
    """Return whether labels have several columns, numbers or flags."""
    if isinstance(y_true, list | tuple):
        return is_score_matrix(y_true)
    shape = getattr(y_true, "shape", ())
    return isinstance(shape, tuple) and len(shape) > 1 and shape[1] > 1


def _has_label(values: Any, mask: Any, name: Any) -> BoolArray:
    """Return which rows have a label, from 0 and 1."""
    array = np.asarray(values)
    broken = np.zeros(len(array), bool) if mask is None else np.asarray(mask)
    known = broken | (array == 0) | (array == 1) if array.dtype.kind in "biuf" else broken
    if broken.any() or not known.all():
        row = int(np.flatnonzero(broken | ~known)[0])
        shown = "missing" if broken[row] else repr(array[row].item())
        raise LabelError(
            f"y_true column {name!r} row {row} is {shown}; expected 0 or 1, whether the row has "
            "the label"
        )
    return np.asarray(array == 1)


def clustered_limits(
    value: float, effects: FloatArray, has_label: BoolArray, rows: int, delta: float
) -> tuple[float, float]:
    """Return limits on the scale of log-odds where the entries of one row belong together.

    ``effects`` are those of the entries times what they count, label after label; a row adds the
    sum of its own. One more row, half right and half wrong, is counted with those that have a
    label.
    """
    from scipy.special import expit, logit, stdtrit

    by_row = effects.reshape(-1, rows).sum(axis=0)
    n = float(has_label.reshape(-1, rows).any(axis=0).sum())
    centre = (n * value + 0.5) / (n + 1)
    error = math.sqrt(float(by_row @ by_row) + 0.25 / (n + 1) ** 2)
    reach = -float(stdtrit(max(n - 1, 1.0), delta / 2)) * error / (centre * (1 - centre))
    lower, upper = (float(expit(logit(centre) + sign * reach)) for sign in (-1, 1))
    return min(lower, value), max(upper, value)


def no_groups(groups: Any) -> None:
    """Refuse groups beside several classes or labels."""
    if groups is not None:
        raise DataError("groups= is for two classes and one column of scores; leave it out")
