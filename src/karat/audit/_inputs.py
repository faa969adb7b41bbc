"""What an audit is given: predictions, ids, what other sources say of the truth, and labels.

`read_items` checks all of it and turns probabilities, votes or scores into one guess of the truth
of every item; `fingerprints` tell the data of a saved audit from others; `read_labels` turns what
people filled in into positions and classes, with the first mistake named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from karat._sentences import Argument, Expected, Given, Remedy, Row
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_probabilities,
    check_same_length,
    check_score_columns,
    check_scores,
    encode_groups,
    encode_labels,
    encode_weak_labels,
    is_matrix,
    named,
    nearest_class,
    order_classes,
    read_column,
    refuse_option,
    require_two_classes,
    shown,
)
from karat.exceptions import ColumnError, DataError, LabelError, ProbabilityError
from karat.metrics.base import MetricBase


def fingerprints(items: Items) -> dict[str, str]:
    """Return a digest of each part of the data, by the name of the argument."""
    parts = {
        "classes": items.classes,
        "y_pred": items.called,
        "against": items.other,
        "groups": items.group,
        "ids": items.ids,
        items.source or "proba": None if items.guess is None else np.round(items.guess, 9),
    }
    return {name: _digest(values) for name, values in parts.items() if values is not None}


def _digest(values: AnyArray) -> str:
    if values.dtype.kind in "US":
        raw = "\x1f".join(values.tolist()).encode()
    else:
        raw = np.ascontiguousarray(
            values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
        ).tobytes()
    return hashlib.sha256(repr(values.shape).encode() + raw).hexdigest()[:20]


# --- What people filled in: positions of items and classes, or the first mistake.

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
            Argument("labels"),
            f" is {type(labels).__name__}; expected ",
            Expected(
                "a mapping such as {17: 'spam'}, or a frame with the columns item and "
                "label, as ask() returns it"
            ),
        )
    for wanted in (_ITEM, _LABEL):
        if wanted not in frame.columns:
            raise ColumnError(
                Argument("labels"),
                f" has the columns {named(frame.columns)} and no {wanted!r}",
                Remedy("fill in the table that ask() returned, with a column 'label'"),
            )
    return frame[_ITEM].to_list(), frame[_LABEL].to_list()


def _positions(names: list[Any], items: Items, find: Find) -> list[int]:
    """Return where each named item stands, or say how many are unknown and the first."""
    found = find(names)
    unknown = [name for name, at in zip(names, found, strict=True) if at < 0]
    if unknown:
        what = (
            f"ids, such as {shown(items.ids[0])}"
            if items.ids is not None
            else (f"rows 0 to {items.n - 1}")
        )
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
        found = [
            texts.get(str(name).strip(), -1) if at < 0 else at
            for name, at in zip(names, found, strict=True)
        ]
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


# --- Predictions of all items, and a guess of the truth of each.

_RIGHT = 0.8  # chance that a prediction is taken to be right where nothing is known of it
_STEEP = 1.5  # log-odds for one standard deviation of a score


class Items(NamedTuple):
    """All items of an audit: predictions as codes, names as they were passed, guesses of the truth.

    ``guess`` (n, k) is P(Y) of each item by ``source``; None where nothing is known.
    """

    classes: AnyArray
    called: IntArray
    other: IntArray | None
    group: IntArray | None
    group_names: AnyArray | None
    ids: AnyArray | None
    guess: FloatArray | None
    source: str | None

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.called)

    def names(self, at: IntArray) -> AnyArray:
        """Return the ids of items, or their positions."""
        return np.asarray(at if self.ids is None else self.ids[at])


def read_items(
    y_pred: Column,
    *,
    proba: Column | Frame | None,
    votes: Frame | None,
    scores: Column | Frame | None,
    against: Column | None,
    ids: Column | None,
    groups: Column | None,
    classes: Column | None,
    pos_label: Any,
    metric: MetricBase,
) -> Items:
    """Check what was passed to an audit."""
    given = [
        name
        for name, value in (("proba", proba), ("votes", votes), ("scores", scores))
        if value is not None
    ]
    if len(given) > 1:
        refuse_option(given[1], given[1], f"None: {given[0]}= says already what the truth may be")
    columns = {"y_pred": y_pred} | ({} if against is None else {"against": against})
    order = None if classes is None else check_classes(classes)
    codes, found = encode_labels(columns, order)
    if order is None and votes is not None:
        # Votes may name classes that the predictions do not have.
        seen = encode_weak_labels(votes).classes
        codes, found = encode_labels(columns, np.union1d(found, seen))
    require_two_classes(found, *columns)
    given_order = found
    found = metric._order_of(found, pos_label=pos_label, stated=order is not None, name="y_pred")
    one_column = (proba is not None and not is_matrix(proba)) or scores is not None
    if one_column and len(found) == 2 and metric.classes is None and not metric.depends_on_order:
        found = order_classes(found, pos_label, stated=order is not None, name="y_pred").classes
    codes, found = encode_labels(columns, found)
    group, names = encode_groups(groups)
    named = None if ids is None else _read_ids(ids)
    check_same_length(
        y_pred=codes[0], against=None if against is None else codes[1], groups=group, ids=named
    )
    guess = _guess(found, given_order, codes[0], proba, votes, scores)
    check_same_length(y_pred=codes[0], **{given[0] if given else "proba": guess})
    return Items(
        found,
        codes[0],
        None if against is None else codes[1],
        group,
        names,
        named,
        guess,
        given[0] if given else None,
    )


def _read_ids(ids: Column) -> AnyArray:
    array, mask = read_column(ids, "ids")
    if mask is not None:
        raise DataError(
            Argument("ids"),
            Row(int(np.flatnonzero(mask)[0])),
            " is missing",
            Remedy("name every item"),
        )
    unique, counts = np.unique(array, return_counts=True)
    if len(unique) < len(array):
        twice = unique[counts > 1]
        raise DataError(
            Argument("ids"),
            " holds ",
            Given(twice[0]),
            f" twice ({len(twice)} such ids in all); expected ",
            Expected("every id once"),
            Remedy("Pass another column, or none to count rows", after=". "),
        )
    return array


def _guess(
    classes: AnyArray, given: AnyArray, called: IntArray, proba: Any, votes: Any, scores: Any
) -> FloatArray | None:
    """Return P(Y) of every item by the one source that was passed."""
    if proba is not None:
        if is_matrix(proba):
            # Columns without names are in the order of the classes as passed, or sorted.
            table = check_probabilities(proba, "proba", classes=given)
            at = [given.tolist().index(c) if c in given else -1 for c in classes.tolist()]
            filled = np.column_stack([table, np.zeros(len(table))])
            return np.asarray(filled[:, at])
        p = check_scores(proba, "proba")
        outside = np.flatnonzero((p < 0) | (p > 1))
        if len(classes) != 2 or len(outside):
            what = f"row {outside[0]} is {p[outside[0]]:g}" if len(outside) else "has one column"
            raise ProbabilityError(
                f"proba {what} and there are {len(classes)} classes; expected one column of "
                "probabilities per class, or, of two classes, that of the positive one"
            )
        return np.stack([1 - p, p], axis=1)
    if votes is not None:
        from karat.weak import DetectorLabelModel

        model = DetectorLabelModel().fit(votes, classes=classes)
        return np.asarray(model.predict_proba(votes), dtype=np.float64)
    return None if scores is None else _pooled(classes, called, scores)


def _pooled(classes: AnyArray, called: IntArray, scores: Any) -> FloatArray:
    """Return P(Y=1) from scores of the positive class: the mean of their log-odds."""
    if len(classes) != 2:
        refuse_option(
            "scores",
            "scores",
            f"two classes with it, and there are {len(classes)}; pass proba=, one column per class",
        )
    if is_matrix(scores):
        columns = list(check_score_columns(scores, "scores", each="model").values())
    else:
        columns = [check_scores(scores, "scores")]
    logits = []
    rate = np.clip(called.mean(), 0.003, 0.997)
    for column in columns:
        if column.min() >= 0 and column.max() <= 1:
            p = np.clip(column, 1e-6, 1 - 1e-6)
            logits.append(np.log(p / (1 - p)))
        else:
            spread = column.std() or 1.0
            logits.append(_STEEP * (column - column.mean()) / spread + np.log(rate / (1 - rate)))
    p = 1 / (1 + np.exp(-np.mean(logits, axis=0)))
    return np.stack([1 - p, p], axis=1)


def assumed(items: Items) -> FloatArray:
    """Return the guess, or one that trusts every prediction, and either system, alike."""
    k = len(items.classes)
    if items.guess is not None:
        return items.guess
    table = np.full((k, k), (1 - _RIGHT) / (k - 1)) + (_RIGHT - (1 - _RIGHT) / (k - 1)) * np.eye(k)
    if items.other is not None:
        return np.asarray((table[items.called] + table[items.other]) / 2)
    return np.asarray(table[items.called])
