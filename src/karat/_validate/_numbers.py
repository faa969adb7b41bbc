"""Scores, probabilities and weights."""

from functools import reduce
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate._columns import all_finite, named, read_column, read_columns, shown
from karat._validate._frames import refuse_lazy
from karat._validate._options import check_choice
from karat._validate._text import quoted_text
from karat.exceptions import (
    ColumnError,
    DataError,
    ProbabilityError,
    ScoreError,
    ShapeError,
    WeightError,
)

__all__ = [
    "check_finite_matrix",
    "check_probabilities",
    "check_score_columns",
    "check_scores",
    "check_weighting",
    "check_weights",
]


def _as_floats(values: Column, name: str, error: type[DataError]) -> FloatArray:
    """Return a column of finite numbers as float64."""
    array, mask = read_column(values, name)
    if array.dtype.kind == "U":
        raise error(f"{name} holds text ({quoted_text(array, mask)}); expected numbers")
    floats = array.astype(np.float64, copy=False)
    if mask is None and all_finite(floats):
        return floats
    broken = ~np.isfinite(floats)
    if mask is not None:
        broken = broken | mask
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        what = "missing or NaN" if mask is not None and mask[row] else shown(floats[row])
        raise error(
            f"{name} row {row} is {what} ({int(broken.sum())} such rows in all); expected "
            "finite numbers. Drop these rows or fill them in"
        )
    return floats


def check_scores(y_score: Column, name: str = "y_score") -> FloatArray:
    """Check real scores, one per row."""
    return _as_floats(y_score, name, ScoreError)


def check_score_columns(
    scores: Frame, name: str, *, each: str, classes: AnyArray | None = None
) -> dict[Any, FloatArray]:
    """Check several columns of real scores; with ``classes``, one for each and in their order."""
    columns, names = read_columns(scores, name, each=each)
    if len(set(names)) < len(names):
        raise ColumnError(f"{name} has the columns {named(names)}; expected every name once")
    if classes is not None and len(columns) != len(classes):
        raise ShapeError(
            f"{name} has {len(columns)} columns and there are {len(classes)} classes "
            f"{named(list(classes))}; pass one column per class, and classes= to name them"
        )
    floats = {
        column: check_scores(
            array if mask is None else np.ma.array(array, mask=mask), f"{name} column {column!r}"
        )
        for column, (array, mask) in zip(names, columns, strict=True)
    }
    if classes is None:
        return floats
    return dict(
        zip(
            classes.tolist(),
            _in_class_order(list(floats.values()), names, classes, name),
            strict=True,
        )
    )


def check_weights(sample_weight: Column | None, name: str = "sample_weight") -> FloatArray | None:
    """Check sample weights: finite, none negative, not all zero."""
    if sample_weight is None:
        return None
    weights = _as_floats(sample_weight, name, WeightError)
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise WeightError(
            f"{name} row {row} is {shown(weights[row])}; expected weights of at least 0. "
            "Drop the row or give it the weight 0"
        )
    if not weights.any():
        raise WeightError(f"{name} is zero in every row; give at least one row a weight")
    return weights


def check_weighting(
    weighting: str | None, weights: FloatArray | None, name: str = "sample_weight"
) -> bool:
    """Return whether weights are importances, as they are unless said to be numbers of rows."""
    kind = check_choice(weighting, "weighting", ("frequency", "importance"), none=True)
    if weights is None:
        return False
    if kind != "frequency":
        return True
    broken = np.flatnonzero(weights != np.floor(weights))
    if broken.size:
        raise WeightError(
            f"{name} row {broken[0]} is {weights[broken[0]]:g} and weighting='frequency' counts "
            "rows; pass whole numbers, or weighting='importance'"
        )
    return False


def check_probabilities(
    proba: Frame, name: str, *, classes: AnyArray | None = None, n_classes: int | None = None
) -> FloatArray:
    """Check class probabilities: n×k, within [0, 1], each row summing to 1."""
    columns, names = read_columns(proba, name, each="column per class")
    k = n_classes if classes is None else len(classes)
    if k is not None and len(columns) != k:
        which = "" if classes is None else f" {named(list(classes))}"
        raise ShapeError(
            f"{name} has {len(columns)} columns and there are {k} classes{which}; pass one "
            "column of probabilities per class, and classes= if some class does not occur here"
        )
    if classes is not None:
        columns = _in_class_order(columns, names, classes, name)
    precision = max((np.finfo(a.dtype).eps for a, _ in columns if a.dtype.kind == "f"), default=0.0)
    floats = [_as_floats_of(a, m, f"{name} column {j}") for j, (a, m) in enumerate(columns)]
    matrix = np.column_stack(floats)
    # Rounding of the type that was passed is fine: a float32 softmax does not sum to 1 exactly.
    tolerance = max(1e-6, 4.0 * matrix.shape[1] * float(precision))
    if matrix.min() < -tolerance or matrix.max() > 1 + tolerance:
        outside = (matrix < -tolerance) | (matrix > 1 + tolerance)
        row, column = (int(i) for i in np.argwhere(outside)[0])
        raise ProbabilityError(
            f"{name} row {row}, column {column} is {shown(matrix[row, column])}; expected "
            "probabilities between 0 and 1. Apply a softmax, or pass labels"
        )
    sums = reduce(np.add, floats)  # faster than along rows of few columns
    if max(sums.max() - 1.0, 1.0 - sums.min()) > tolerance:
        row = int(np.flatnonzero(np.abs(sums - 1.0) > tolerance)[0])
        raise ProbabilityError(
            f"{name} row {row} sums to {sums[row]:.6g}; expected 1. Divide each row by its sum, "
            "or add the column that is missing"
        )
    return np.clip(matrix, 0.0, 1.0, out=matrix)


def _in_class_order(
    columns: list[Any], passed: list[Any], classes: AnyArray, name: str
) -> list[Any]:
    """Put columns that are named after the classes into the order of the classes."""
    # A column may be called '1' where the class is 1.
    order, names = [str(c) for c in classes.tolist()], [str(column) for column in passed]
    known = [column for column in names if column in order]
    if names == [str(j) for j in range(len(names))] or not known:
        return columns  # positions, or names of another kind: the caller's order counts
    if sorted(names) != sorted(order):
        raise ColumnError(
            f"{name} has the columns {named(names)} and the classes are {named(order)}; name "
            "every column after its class, or none"
        )
    return [columns[names.index(c)] for c in order]


def _as_floats_of(array: AnyArray, mask: AnyArray | None, name: str) -> FloatArray:
    if mask is not None:
        row = int(np.flatnonzero(mask)[0])
        raise ProbabilityError(f"{name} row {row} is missing or NaN; drop the row or fill it in")
    return _as_floats(array, name, ProbabilityError)


def check_finite_matrix(values: Any, name: str) -> FloatArray:
    """Check a small matrix of numbers, such as the weights of a metric."""
    refuse_lazy(**{name: values})
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"{name} is {shown(values)}; expected a matrix of numbers") from error
    if not np.isfinite(matrix).all():
        first = tuple(int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
        raise DataError(f"{name} holds {matrix[first]} at {first}; expected finite numbers")
    return matrix
