"""The list of arrays that scikit-learn's classifiers of several labels return."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat._validate import check_same_length
from karat.exceptions import ProbabilityError, ShapeError

__all__ = ["is_list_of_arrays", "positive_columns"]

_ROUNDING = 1e-5


def is_list_of_arrays(values: Any) -> bool:
    """Whether this is one (n, 2) array a label, as ``MultiOutputClassifier.predict_proba`` gives.

    A list of rows has entries of one dimension; only entries of two dimensions are meant.
    """
    return (
        isinstance(values, list | tuple)
        and bool(values)
        and all(len(getattr(each, "shape", ())) == 2 for each in values)
    )


def positive_columns(values: Any) -> AnyArray:
    """Return the probability that each label is 1: the second column of each array."""
    arrays = [np.asarray(each) for each in values]
    for j, each in enumerate(arrays):
        if each.shape[1] == 1:
            raise ShapeError(
                f"y_prob[{j}] has shape {each.shape}: label {j} had one class only where the model "
                "was fitted, and the column does not say which. Pass an array of one column a "
                "label, with 0 for a label that never occurred"
            )
        if each.shape[1] != 2:
            raise ShapeError(
                f"y_prob is a list of arrays and y_prob[{j}] has shape {each.shape}; expected "
                "(n, 2) for each label, the probabilities of 0 and of 1, as "
                "MultiOutputClassifier.predict_proba returns"
            )
    check_same_length(**{f"y_prob[{j}]": each for j, each in enumerate(arrays)})
    found = np.column_stack([each[:, 1] for each in arrays])
    if found.dtype.kind == "f":
        _check_sums(arrays, found)
    return found


def _check_sums(arrays: list[FloatArray], found: FloatArray) -> None:
    off = np.abs(np.column_stack([each[:, 0] for each in arrays]) + found - 1)
    if (off > _ROUNDING).any():  # NaN is for the check of probabilities to name
        row, j = (int(i) for i in np.argwhere(off > _ROUNDING)[0])
        raise ProbabilityError(
            f"y_prob[{j}] row {row} sums to {arrays[j][row].sum():.6g}; expected the probabilities "
            "of 0 and of 1, which sum to 1"
        )
