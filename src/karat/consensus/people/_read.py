"""What people and a judge answered, from wide and long tables, as one matrix."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    encode_labels,
    named,
    native_frame,
    read_column,
    read_columns,
    shown,
    union_of_values,
)
from karat.exceptions import ColumnError, DataError, LabelError, LengthMismatchError, ShapeError
from karat.votes.reading import PassedValues, split_keys

__all__ = ["Answers", "read_answers"]

_WHO = ("classifier", "annotator", "worker", "person")
_WHAT = ("vote", "answer", "label", "rating", "score")


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers as numbers: codes of labels or the ratings themselves, NaN where there is none."""

    judge: FloatArray  # (items,)
    people: FloatArray  # (items, people)
    names: tuple[Any, ...]  # of the people, as they were passed
    judge_name: Any


@dataclass(frozen=True, slots=True)
class _Said:
    """Answers in a list: who, on which item, what."""

    item: IntArray
    who: IntArray
    value: AnyArray
    absent: BoolArray


def read_answers(judge: Any, people: Frame, *, numeric: bool) -> Answers:
    """Read the answers of people, wide or long, and of a judge on the same items."""
    frame = native_frame(people, "people")
    long = None if frame is None else _long_names(frame)
    if frame is not None and long is not None:
        said, names, places = _read_long(frame, long)
    else:
        said, names, places = _read_wide(people, frame)
    n, others = len(places), list(range(len(names)))
    own, name = _taken_out(judge, names, said), "judge"
    if own is not None:
        name = judge
        others.remove(names.index(judge))
    else:
        own = _read_judge(judge, places, wide=long is None)
        name = _judge_name(judge)
    if len(others) < 2:
        raise ShapeError(
            f"people has {len(others)} column{'s' * (len(others) != 1)} beside the judge; the test "
            "leaves one person out and compares with the others, so it needs at least two"
        )
    _refuse_repeats(said, names, list(places))
    numbers = _numbers if numeric else _codes
    said_value, own_value = numbers(said, own)
    matrix = np.full((n, len(names)), np.nan)
    matrix[said.item, said.who] = said_value
    column = np.full(n, np.nan)
    column[own.item] = own_value
    if not numeric:  # an abstention of a person is no answer; one of the judge agrees with nobody
        matrix[matrix < 0] = np.nan
    return Answers(column, matrix[:, others], tuple(names[j] for j in others), name)


def _long_names(frame: Any) -> dict[str, str] | None:
    """Return the columns of a long table: item, who and what; None if the table is wide."""
    columns = [c for c in frame.columns if isinstance(c, str)]
    who = [c for c in _WHO if c in columns]
    what = [c for c in _WHAT if c in columns]
    if "item" not in columns or not who or not what:
        return None
    return {"item": "item", "who": who[0], "what": what[0]}


def _read_long(frame: Any, names: Mapping[str, str]) -> tuple[_Said, list[Any], dict[Any, int]]:
    (item,), _ = encode_labels({"item": frame[names["item"]].to_native()})
    (who,), found = encode_labels({names["who"]: frame[names["who"]].to_native()})
    value, mask = read_column(frame[names["what"]].to_native(), names["what"], null=-1)
    listed = PassedValues.of_column(frame[names["who"]].to_native(), who, len(found)).tolist()
    items = PassedValues.of_column(frame[names["item"]].to_native(), item, int(item.max()) + 1)
    absent = np.zeros(len(value), dtype=bool) if mask is None else mask
    places = {name: i for i, name in enumerate(items.tolist())}
    return _Said(item, who, value, absent), listed, places


def _read_wide(people: Any, frame: Any) -> tuple[_Said, list[Any], dict[Any, int]]:
    keys, frame = (None, None) if frame is None else split_keys(frame)
    wide = people if frame is None else frame
    columns, names = read_columns(wide, "people", null=-1, each="column per person")
    n, listed = len(columns[0][0]), list(names)
    values = {str(j): v for j, (v, m) in enumerate(columns) if m is None or not m.all()}
    if not values:
        raise LabelError("no cell of people holds an answer; pass at least two per item")
    kinds = {v.dtype.kind == "U" for v in values.values()}
    if len(kinds) > 1:
        union_of_values(values)  # says which column is text and which holds numbers
    text = kinds == {True}
    parts = [v if str(j) in values else np.zeros(n) for j, (v, _) in enumerate(columns)]
    value = np.concatenate([p.astype(str) for p in parts] if text else parts)
    absent = np.concatenate([np.zeros(n, dtype=bool) if m is None else m for _, m in columns])
    if frame is not None:
        listed = PassedValues.of_columns(frame).tolist()
    item = np.tile(np.arange(n), len(columns))
    named_by = range(n) if keys is None or keys.items is None else keys.items.tolist()
    places = {name: i for i, name in enumerate(named_by)}
    return _Said(item, np.repeat(np.arange(len(columns)), n), value, absent), listed, places


def _taken_out(judge: Any, names: list[Any], said: _Said) -> _Said | None:
    """Return the judge's answers where it is named among those of the people."""
    if not isinstance(judge, str | int) or isinstance(judge, bool):
        return None
    if judge not in names:
        raise ColumnError(
            f"judge is {shown(judge)}, and people has {named(names)}; name one of them, or pass "
            "the judge's answers"
        )
    mine = said.who == names.index(judge)
    return _Said(said.item[mine], said.who[mine], said.value[mine], said.absent[mine])


def _read_judge(judge: Any, places: Mapping[Any, int], *, wide: bool) -> _Said:
    """Return the judge's answers from a column, a mapping or a frame with items."""
    frame = None if isinstance(judge, Mapping) else native_frame(judge, "judge")
    column: Column = judge
    if isinstance(judge, Mapping):
        items, column = list(judge), list(judge.values())
    elif frame is not None and "item" in frame.columns:
        what = [c for c in _WHAT if c in frame.columns]
        if not what:
            raise ColumnError(
                f"judge has the columns {named(frame.columns)}; expected 'item' and 'vote'"
            )
        items, column = frame["item"].to_list(), frame[what[0]].to_native()
    elif wide:
        items = list(places)  # in the order of the rows
    else:
        raise ColumnError(
            "people is a long table, so the judge's answers need items too; pass a mapping from "
            "item to answer, a frame with the columns 'item' and 'vote', or the judge's name"
        )
    value, mask = read_column(column, "judge", null=-1)
    if len(value) != len(items):
        raise LengthMismatchError(
            f"people has {len(items):,} rows and judge has {len(value):,}; pass one answer per row"
        )
    known = np.array([item in places for item in items], dtype=bool)
    if not known.any():
        raise DataError(
            f"judge and people share no item: judge has {named(items[:3])}, people has "
            f"{named(list(places)[:3])}"
        )
    at = np.array([places[item] for item, k in zip(items, known, strict=True) if k])
    absent = np.zeros(len(value), dtype=bool) if mask is None else mask
    return _Said(at, np.zeros(len(at), dtype=np.int64), value[known], absent[known])


def _judge_name(judge: Any) -> Any:
    """Return the one name that the judge's own frame gives it, else "judge"."""
    frame = None if isinstance(judge, Mapping) else native_frame(judge, "judge")
    who = [] if frame is None else [c for c in _WHO if c in frame.columns]
    names = frame[who[0]].unique().to_list() if frame is not None and who else []
    return names[0] if len(names) == 1 else "judge"


def _refuse_repeats(said: _Said, names: list[Any], items: list[Any]) -> None:
    """Refuse two answers of one person on one item."""
    there = ~said.absent
    key = said.item[there] * len(names) + said.who[there]
    found, counts = np.unique(key, return_counts=True)
    if (counts > 1).any():
        item, who = divmod(int(found[counts > 1][0]), len(names))
        raise DataError(
            f"{shown(names[who])} answers the item {shown(items[item])} twice; keep one answer per "
            "person and item"
        )


def _codes(said: _Said, own: _Said) -> tuple[FloatArray, FloatArray]:
    """Return labels as codes, -1 for an abstention and NaN for no answer."""
    parts = {"people": said, "judge": own}
    there = {name: s.value[~s.absent] for name, s in parts.items() if (~s.absent).any()}
    if len(there) < 2:
        raise LabelError("the judge gives no answer; pass at least one")
    kinds = {a.dtype.kind == "U" for a in there.values()}
    order = (
        union_of_values(there) if len(kinds) > 1 else np.unique(np.concatenate([*there.values()]))
    )
    codes = []
    for s in parts.values():
        places = np.searchsorted(order, np.where(s.absent, order[0], s.value)).astype(np.float64)
        gone = s.value == ("-1" if s.value.dtype.kind == "U" else -1)
        codes.append(np.where(s.absent, np.nan, np.where(gone, -1.0, places)))
    return codes[0], codes[1]


def _numbers(said: _Said, own: _Said) -> tuple[FloatArray, FloatArray]:
    """Return ratings as numbers, NaN for no answer; text is read as the number it shows."""
    found = []
    for name, s in (("people", said), ("judge", own)):
        filled = np.where(s.absent, "0" if s.value.dtype.kind == "U" else 0, s.value)
        try:
            number = filled.astype(np.float64)
        except ValueError as error:
            raise LabelError(
                f"{name} holds an answer that is no number ({error}), and alignment='rmse' "
                "compares ratings; use alignment='accuracy' for labels"
            ) from error
        if not np.isfinite(number).all():
            raise LabelError(f"{name} holds an infinite rating; ratings are finite numbers")
        found.append(np.where(s.absent, np.nan, number))
    return found[0], found[1]
