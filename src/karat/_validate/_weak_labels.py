"""Weak labels and votes: an n×m matrix of labels in which -1 abstained and null was not asked."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, Frame, IntArray
from karat._validate._columns import named, read_columns, shown
from karat._validate._labels import check_classes, look_up, union_of_values, whole_numbers
from karat._validate._options import refuse_option
from karat.exceptions import ColumnError, LabelError

__all__ = ["ABSTAINED", "NOT_ASKED", "WeakLabels", "check_null", "encode_weak_labels"]

# What a matrix of codes holds where there is no vote for a class.
ABSTAINED = -1
NOT_ASKED = -2


class WeakLabels(NamedTuple):
    """A vote matrix as codes of ``classes``, ABSTAINED or NOT_ASKED.

    ``complete`` says that nobody was left out, so that no code is NOT_ASKED.
    """

    codes: IntArray
    classes: AnyArray
    names: list[Any]
    complete: bool


def check_null(null: Any) -> bool:
    """Check a user's ``null=`` and return whether a null is an abstention."""
    if not isinstance(null, str) or null not in ("not asked", "abstain"):
        refuse_option(
            null,
            "null",
            "'not asked', if the labeler did not see the item, or 'abstain', if it saw the item "
            "and did not vote",
        )
    return null == "abstain"


class _Votes(NamedTuple):
    """One column: its values, where it abstains (-1), and where nothing was asked (null)."""

    values: AnyArray
    abstains: BoolArray
    absent: BoolArray | None

    @property
    def without_vote(self) -> BoolArray:
        """Where there is no vote for a class."""
        return self.abstains if self.absent is None else self.abstains | self.absent


def encode_weak_labels(
    weak_labels: Frame,
    classes: Column | None = None,
    *,
    also: dict[str, AnyArray] | None = None,
    name: str = "weak_labels",
    null: str = "not asked",
) -> WeakLabels:
    """Encode a vote matrix; ``also`` holds label columns whose values count as classes too."""
    abstains = check_null(null)
    votes, order, names = _read(weak_labels, classes, also, name)
    if order.dtype.kind in "iu" and np.array_equal(order, np.arange(len(order))):
        codes = _already_codes(weak_labels, len(order))
        if codes is not None:
            return WeakLabels(codes, order, names, True)
    codes = _codes(votes, order, names, name)
    complete = True
    for j, column in enumerate(votes):
        if column.absent is not None and not abstains:
            codes[column.absent, j] = NOT_ASKED
            complete = complete and not column.absent.any()
    return WeakLabels(codes, order, names, complete)


def _read(
    weak_labels: Frame, classes: Column | None, also: dict[str, AnyArray] | None, name: str
) -> tuple[list[_Votes], AnyArray, list[Any]]:
    """Return the columns, the classes in order and the names."""
    columns, names = read_columns(weak_labels, name, null=-1, each="column per labeler")
    votes = [_votes(a, m, f"{name} column {c!r}") for (a, m), c in zip(columns, names, strict=True)]
    order = check_classes(classes) if classes is not None else _classes_of(votes, names, also, name)
    if (order == ("-1" if order.dtype.kind == "U" else -1)).any():
        source = "classes" if classes is not None else " and ".join(also or ())
        raise LabelError(
            f"{source} holds the label -1, which in {name} means that a labeler abstains; give "
            "that class another name"
        )
    return votes, order, names


def _codes(votes: list[_Votes], order: AnyArray, names: list[Any], name: str) -> IntArray:
    small = np.int8 if len(order) < 127 else np.int32
    codes = np.empty((len(votes[0].values), len(votes)), dtype=small, order="F")
    for j, column in enumerate(votes):
        codes[:, j] = _code(
            column.values, column.without_vote, order, f"{name} column {names[j]!r}"
        )
    return codes


def _votes(array: AnyArray, mask: BoolArray | None, name: str) -> _Votes:
    """Return the values of one labeler, and where it abstains or was not asked."""
    if array.dtype.kind == "f":
        try:
            array = whole_numbers(array, name, mask)
        except LabelError as error:
            raise ColumnError(
                f"{error}. If this column is not a labeler, pass the vote columns only"
            ) from error
    if mask is not None and array.dtype.kind in "iu":
        array = np.where(mask, 0, array.astype(np.int64))
    abstains = array == ("-1" if array.dtype.kind == "U" else -1)
    if array.dtype.kind == "i" and array.min() < -1:
        row = int(np.flatnonzero(array < -1)[0])
        raise LabelError(
            f"{name} row {row} holds {shown(array[row])}; expected a class, or -1 where the "
            "labeler abstained, or null where it was not asked"
        )
    return _Votes(array, abstains, mask)


def _classes_of(
    votes: list[_Votes],
    names: list[Any],
    also: dict[str, AnyArray] | None,
    name: str,
) -> AnyArray:
    """Return the sorted labels that occur, abstention apart."""
    seen = {
        f"{name} column {c!r}": _distinct(column.values, column.without_vote)
        for column, c in zip(votes, names, strict=True)
    }
    seen |= also or {}
    seen = {key: values for key, values in seen.items() if values.size}
    if not seen:
        raise LabelError(
            f"every vote in {name} abstains or is null; pass at least one vote, or name the "
            "classes with classes="
        )
    return union_of_values(seen)


def _distinct(values: AnyArray, abstains: BoolArray) -> AnyArray:
    """Return the distinct votes of one labeler."""
    if values.dtype.kind in "iu" and int(values.max()) < 1 << 16:
        # Shift by one so that the abstention -1 has a bin of its own, then drop that bin.
        only_abstentions = int(abstains.sum()) == int((values == -1).sum())
        cast = values if only_abstentions else values[~abstains]
        counts = np.bincount(cast.astype(np.intp) + 1)
        return np.flatnonzero(counts[1:])
    return np.unique(values[~abstains])


def _already_codes(weak_labels: Any, n_classes: int) -> IntArray | None:
    """Return an integer matrix as it is, if its values are the codes: no copy for large data."""
    if type(weak_labels) is not np.ndarray or not np.can_cast(weak_labels.dtype, np.int64):
        return None
    return weak_labels if int(weak_labels.max()) < n_classes else None


def _code(values: AnyArray, abstains: BoolArray, classes: AnyArray, name: str) -> IntArray:
    if abstains.all():
        return np.full(len(values), -1)
    if (values.dtype.kind == "U") != (classes.dtype.kind == "U"):
        first = int(np.flatnonzero(~abstains)[0])
        raise ColumnError(
            f"{name} row {first} holds {shown(values[first])} and the classes are "
            f"{named(list(classes))}; pass the vote columns only, labelled like the classes"
        )
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[~abstains] = look_up_at(values, ~abstains, classes, name)
    return codes


def look_up_at(values: AnyArray, where: BoolArray, classes: AnyArray, name: str) -> IntArray:
    """Look up the chosen rows, so that a message names the row of the whole column."""
    filled = np.where(where, values, classes[0]) if not where.all() else values
    return look_up(filled, classes, name)[where]
