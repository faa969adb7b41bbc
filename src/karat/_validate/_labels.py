"""Class labels and groups: from anything to codes 0..k-1 and a sorted array of classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, IntArray
from karat._validate._columns import named, read_column, shown
from karat._validate._options import check_pos_label
from karat._validate._text import quoted_text
from karat.exceptions import LabelError

__all__ = [
    "as_label_values",
    "binary_order",
    "check_classes",
    "encode_groups",
    "encode_labels",
    "look_up",
    "require_two_classes",
    "union_of_values",
]

# Integer labels that span no more than this are encoded by a table instead of a sort.
_TABLE = 1 << 20
# More classes than this are nearly always identifiers passed by mistake; k×k tables need memory.
_MOST_CLASSES = 10_000


def encode_labels(
    columns: Mapping[str, Column], classes: Column | None = None
) -> tuple[list[IntArray], AnyArray]:
    """Encode label columns together: codes of each, and the classes in order.

    ``classes`` fixes the order; without it the classes are those found, sorted.
    """
    values = {name: as_label_values(*read_column(c, name), name) for name, c in columns.items()}
    order = union_of_values(values) if classes is None else check_classes(classes)
    return [look_up(v, order, name) for name, v in values.items()], order


def encode_groups(
    groups: Column | None, *, name: str = "groups"
) -> tuple[IntArray | None, AnyArray | None]:
    """Encode groups: codes and the sorted names, or (None, None) if there are none.

    ``name`` is the argument that messages speak of, such as ``clusters``.
    """
    if groups is None:
        return None, None
    (codes,), names = encode_labels({name: groups})
    return codes, names


def require_two_classes(classes: AnyArray, *names: str) -> None:
    """Refuse a single class, or very many: both nearly always mean a slip in the data."""
    if len(classes) > _MOST_CLASSES:
        raise LabelError(
            f"{' and '.join(names)} hold {len(classes):,} classes (first "
            f"{named(list(classes[:3]))}); expected at most {_MOST_CLASSES:,}. Are these "
            "identifiers, not labels?"
        )
    if len(classes) < 2:
        raise LabelError(
            f"{' and '.join(names)} hold{'s' if len(names) == 1 else ''} one class only, "
            f"{shown(classes[0])}; expected at least two. If the others just do not occur here, "
            f"name them all, for example classes=[{shown(classes[0])}, ...]"
        )


def check_classes(classes: Column) -> AnyArray:
    """Check a user's ``classes=``: no repeats, one type, at least two."""
    order = as_label_values(*read_column(classes, "classes"), "classes")
    unique, counts = np.unique(order, return_counts=True)
    if len(unique) < len(order):
        raise LabelError(
            f"classes holds {shown(unique[counts > 1][0])} twice; list each class once"
        )
    require_two_classes(order, "classes")
    return order


def binary_order(classes: AnyArray, pos_label: Any, *, name: str = "y_true") -> AnyArray:
    """Return two classes with the positive one last (the larger one by default)."""
    if len(classes) != 2:
        raise LabelError(
            f"{name} holds {len(classes)} class{'es' * (len(classes) > 1)}, "
            f"{named(list(classes))}; expected two. Name them with classes= if one does not occur"
        )
    if pos_label is None:
        return classes
    return classes if check_pos_label(pos_label, classes) == 1 else classes[::-1]


def as_label_values(array: AnyArray, mask: AnyArray | None, name: str) -> AnyArray:
    """Check that a column holds labels, none missing; whole floats become integers."""
    if mask is not None:
        row = int(np.flatnonzero(mask)[0])
        raise LabelError(
            f"{name} row {row} is missing ({int(mask.sum())} missing in all); drop these rows "
            "or fill them in before the call"
        )
    return whole_numbers(array, name) if array.dtype.kind == "f" else array


def whole_numbers(array: AnyArray, name: str, mask: AnyArray | None = None) -> AnyArray:
    """Turn floats that are whole numbers into integers, or say which row is not one."""
    present = array if mask is None else np.where(mask, 0.0, array)
    broken = ~np.isfinite(present) | (present != np.floor(present)) | (np.abs(present) > 2**53)
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        fix = (
            "threshold scores first, or pass class probabilities with one column per class "
            "where they are accepted"
            if name.startswith("y_")
            else "cut numbers into classes first, or pass them as text"
        )
        raise LabelError(
            f"{name} row {row} holds {shown(array[row])}, which is not a class label; {fix}"
        )
    return present.astype(np.int64)


def union_of_values(values: Mapping[str, AnyArray]) -> AnyArray:
    """Return the sorted distinct labels of all columns."""
    _check_one_kind(values)
    arrays = list(values.values())
    if all(a.dtype.kind in "biu" for a in arrays):
        found = _distinct_integers(arrays)
        return found.astype(bool) if all(a.dtype.kind == "b" for a in arrays) else found
    # A set of Python strings is several times faster than a sort of them.
    return np.array(sorted(set().union(*(set(a.tolist()) for a in arrays))))


def _check_one_kind(values: Mapping[str, AnyArray]) -> None:
    text = {name: a.dtype.kind == "U" for name, a in values.items()}
    if len(set(text.values())) > 1:
        is_text = next(name for name in text if text[name])
        is_number = next(name for name in text if not text[name])
        text_shown = quoted_text(values[is_text], distinct=True)
        raise LabelError(
            f"{is_text} holds text ({text_shown}) and {is_number} holds "
            f"numbers (first {shown(values[is_number][0])}); give both the same labels"
        )


def _distinct_integers(arrays: list[AnyArray]) -> IntArray:
    low = min(int(a.min()) for a in arrays)
    high = max(int(a.max()) for a in arrays)
    span = high - low + 1
    if span > _TABLE:
        return np.unique(np.concatenate([np.unique(a) for a in arrays]))
    present = np.zeros(span, dtype=bool)
    present[[0, -1]] = True
    if span > 2:
        for a in arrays:
            present |= np.bincount(_offset(a, low), minlength=span) > 0
    return np.flatnonzero(present).astype(np.int64) + low


def _offset(array: AnyArray, low: int) -> IntArray:
    """Return ``array - low`` as indices, without a copy when there is nothing to do."""
    indices = array.astype(np.intp, copy=False)
    return indices - low if low else indices


def look_up(values: AnyArray, classes: AnyArray, name: str) -> IntArray:
    """Return the position of each value in ``classes``."""
    _check_one_kind({name: values, "classes": classes})
    if values.dtype.kind in "biu" and classes.dtype.kind in "biu":
        codes = _look_up_integers(values, classes.astype(np.int64))
    else:
        codes = _look_up_text(values, classes)
    unknown = codes < 0
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise LabelError(
            f"{name} row {row} holds {shown(values[row])}, which is not among the classes "
            f"{named(list(classes))}; add it to classes= or drop the row"
        )
    return codes


def _look_up_integers(values: AnyArray, classes: IntArray) -> IntArray:
    low, high = int(classes.min()), int(classes.max())
    if high - low >= _TABLE:
        return _look_up_sorted(values, classes)
    inside = int(values.min()) >= low and int(values.max()) <= high
    if inside and np.array_equal(classes, np.arange(low, low + len(classes))):
        return _offset(values, low)
    table = np.full(high - low + 2, -1, dtype=np.intp)  # the last entry is for what is outside
    table[classes - low] = np.arange(len(classes))
    if inside:
        return table[_offset(values, low)]
    outside = (values < low) | (values > high)
    return table[np.where(outside, high - low + 1, values.astype(np.int64) - low)]


def _look_up_text(values: AnyArray, classes: AnyArray) -> IntArray:
    place = {label: code for code, label in enumerate(classes.tolist())}
    found = (place.get(v, -1) for v in values.tolist())
    return np.fromiter(found, dtype=np.intp, count=len(values))


def _look_up_sorted(values: AnyArray, classes: AnyArray) -> IntArray:
    order = np.argsort(classes)
    where = np.searchsorted(classes[order], values).clip(max=len(classes) - 1)
    codes = order[where]
    return np.where(classes[codes] == values, codes, -1)
