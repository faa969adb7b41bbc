"""True labels of some items: null or -1 where there is none."""

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, IntArray
from karat._validate._columns import read_column
from karat._validate._labels import encode_labels
from karat.exceptions import LabelError

__all__ = ["encode_gold", "present_gold"]


def present_gold(y_true: Column) -> tuple[AnyArray, BoolArray]:
    """Return a column of true labels, and where there is one (null and -1 mean there is none)."""
    array, mask = read_column(y_true, "y_true", null=-1)
    absent = np.zeros(len(array), dtype=bool) if mask is None else mask.copy()
    absent |= array == ("-1" if array.dtype.kind == "U" else -1)
    if absent.all():
        raise LabelError("y_true is missing in every row; pass the true label of some items")
    # What is absent takes the first label that is there, so that the column has one type.
    filled = np.where(absent, array[~absent][0], array)
    (codes,), order = encode_labels({"y_true": filled})
    return order[codes], ~absent


def encode_gold(y_true: Column, classes: AnyArray) -> IntArray:
    """Return true labels as codes of ``classes``, -1 where there is none."""
    values, present = present_gold(y_true)
    (codes,), _ = encode_labels({"y_true": values}, classes)
    return np.where(present, codes, -1)
