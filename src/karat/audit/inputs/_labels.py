"""What people filled in: positions of items and classes, or the first mistake."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import named, nearest_class, shown
from karat.audit.inputs._items import Items
from karat.exceptions import ColumnError, DataError, LabelError

__all__ = ["Told", "find_items", "read_labels"]

_ITEM, _LABEL = "item", "label"
Find = Callable[[list[Any]], list[int]]


class Told(NamedTuple):
    """Positions of labelled items, their classes, and how many cells were empty."""

    at: IntArray
    label: IntArray
    empty: int
    probability: FloatArray | None = None


def read_labels(labels: Any, items: Items, find: Find) -> Told:
    """Read a mapping from item to label, or a frame with the columns item and label.

    ``find`` gives the positions of named items. Cells without a label are left out: a file may be
    filled in bit by bit.
    """
    names, values = _columns(labels)
    place = _positions(names, items, find)
    code_of = _class_reader(items.classes.tolist())
    at: list[int] = []
    codes: list[int] = []
    known: dict[int, int] = {}
    for row, (position, value) in enumerate(zip(place, values, strict=True)):
        if _is_empty(value):
            continue
        code = code_of(value)
        if code is None:
            raise LabelError(
                f"the label of item {shown(names[row])} (row {row}) is {shown(value)}; expected "
                f"one of the classes {named(items.classes.tolist())}, or an empty cell"
                f"{nearest_class(value, items.classes.tolist())}"
            )
        if known.setdefault(position, code) != code:
            raise LabelError(
                f"item {shown(names[row])} is labelled {shown(items.classes[known[position]])} "
                f"and, in row {row}, {shown(items.classes[code])}; expected one label per item. "
                "Settle which is right"
            )
        at.append(position)
        codes.append(code)
    unique, first = np.unique(np.array(at, dtype=np.int64), return_index=True)
    picked = np.array(codes, dtype=np.int64)[first] if len(unique) else np.zeros(0, np.int64)
    return Told(unique, picked, len(values) - len(at))


def _columns(labels: Any) -> tuple[list[Any], list[Any]]:
    if isinstance(labels, Mapping):
        return list(labels.keys()), list(labels.values())
    import narwhals as nw

    frame = nw.from_native(labels, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise ColumnError(
            f"labels is {type(labels).__name__}; expected a mapping such as {{17: 'spam'}}, or a "
            "frame with the columns item and label, as ask() returns it"
        )
    for wanted in (_ITEM, _LABEL):
        if wanted not in frame.columns:
            raise ColumnError(
                f"labels has the columns {frame.columns} and no {wanted!r}; fill in the table that "
                "ask() returned, with a column 'label'"
            )
    return frame[_ITEM].to_list(), frame[_LABEL].to_list()


def _positions(names: list[Any], items: Items, find: Find) -> list[int]:
    """Return where each named item stands, or say how many are unknown and the first."""
    found = find(names)
    unknown = [name for name, at in zip(names, found, strict=True) if at < 0]
    if unknown:
        what = f"ids, such as {shown(items.ids[0])}" if items.ids is not None else (
            f"rows 0 to {items.n - 1}"
        )  # fmt: skip
        raise DataError(
            f"{len(unknown)} of {len(names)} items are not in the data (first "
            f"{shown(unknown[0])}); expected {what}. Are these labels of other data?"
        )
    return found


def find_items(names: list[Any], n: int, places: dict[Any, int] | None) -> list[int]:
    """Return the positions of items by their ids, or by row without ids; -1 for what is none.

    An id may have turned from a number into text in a file, or back; text such as 0007 is an id
    of its own, and is never read as a number where ids are text.
    """
    if places is None:
        return [_row(name, n) for name in names]
    found = [_place(name, places) for name in names]
    if -1 in found and not isinstance(next(iter(places)), str):
        texts = {str(key): at for key, at in places.items()}  # such as dates, in a file
        found = [texts.get(str(name).strip(), -1) if at < 0 else at
                 for name, at in zip(names, found, strict=True)]  # fmt: skip
    return found


def _place(name: Any, places: dict[Any, int]) -> int:
    kinds = [name, str(name)]
    if (row := _whole(name)) is not None:
        kinds.append(row)
    return next((places[kind] for kind in kinds if kind in places), -1)


def _row(name: Any, n: int) -> int:
    row = _whole(name)
    return row if row is not None and 0 <= row < n else -1


def _whole(name: Any) -> int | None:
    try:
        return int(name) if float(name) == int(name) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _class_reader(classes: list[Any]) -> Callable[[Any], int | None]:
    """Return a function that gives the code of a label, None for what is no class.

    1, 1.0, True and '1' from a file are one label, unless two classes would then be one.
    """
    exact = {str(c): code for code, c in enumerate(classes)}
    loose: dict[str, int | None] = {}
    for code, c in enumerate(classes):
        key = _key(c)
        loose[key] = None if key in loose else code

    def code_of(value: Any) -> int | None:
        text = str(value).strip()
        return exact[text] if text in exact else loose.get(_key(value))

    return code_of


def _key(value: Any) -> str:
    """Return a value as text, with one text for 1, 1.0, True and '1'."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    text = str(value).strip()
    if text.endswith(".0") and text[:-2].lstrip("-").isdigit():
        return text[:-2]
    return {"True": "1", "False": "0", "true": "1", "false": "0"}.get(text, text)


def _is_empty(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())
