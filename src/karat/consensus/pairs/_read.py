"""Verdicts on pairs of answers, shown in two orders, from wide and long tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_classes,
    encode_labels,
    named,
    native_frame,
    read_column,
    read_columns,
    shown,
)
from karat.exceptions import ColumnError, DataError, EmptyDataError, LabelError, LengthMismatchError
from karat.votes.reading import PassedValues, split_keys

__all__ = ["PairVerdicts", "read_pairs"]

_WHO = ("classifier", "judge", "annotator", "worker")
_WHAT = ("vote", "verdict", "label", "answer")
_BOTH = (("verdict_order1", "verdict_order2"), ("vote_order1", "vote_order2"))
_TIES = ("tie", "draw", "equal", "both", "neither", "same")


@dataclass(frozen=True, slots=True)
class PairVerdicts:
    """Verdicts as numbers: +1 for the first answer, -1 for the second, 0 for neither."""

    score: FloatArray  # (2 orders, items, judges), NaN where not asked; repeats are averaged
    classes: AnyArray  # what the two answers are called
    judges: PassedValues
    items: PassedValues | None  # None: the rows of wide tables
    item_of_row: IntArray  # the item of each row that was passed
    domain: Any  # the column of domains, one per row, None if there is none
    repeats: int  # verdicts beyond the first of a judge on an item in an order

    @property
    def n_items(self) -> int:
        """Number of pairs."""
        return int(self.score.shape[1])

    def per_item(self, values: Column | Mapping[Any, Any] | None, name: str) -> list[Any]:
        """Return one value per item, None where there is none; a column has one per row."""
        found: list[Any] = [None] * self.n_items
        if values is None:
            return found
        listed = list(range(self.n_items)) if self.items is None else self.items.tolist()
        if isinstance(values, Mapping):
            place = {item: i for i, item in enumerate(listed)}
            unknown = [item for item in values if item not in place]
            if unknown:
                raise DataError(
                    f"{name} names the item {shown(unknown[0])}, which has no verdict; items are "
                    f"{named(listed[:3])}"
                )
            for item, value in values.items():
                found[place[item]] = value
            return found
        array, mask = read_column(values, name)
        if len(array) != len(self.item_of_row):
            raise LengthMismatchError(
                f"the verdicts have {len(self.item_of_row):,} rows and {name} has {len(array):,}; "
                "pass one value per row, or a mapping from item to value"
            )
        for row, item in enumerate(self.item_of_row.tolist()):
            if mask is None or not mask[row]:
                found[item] = array[row].item()
        return found


def read_pairs(
    verdicts: Frame,
    swapped: Frame | None,
    *,
    classes: Column | None,
    says: str,
    first_order: Any,
) -> PairVerdicts:
    """Read verdicts: two wide tables, or one long table with the order in a column or in two."""
    check_choice(says, "says", ("answer", "position"))
    frame = native_frame(verdicts, "verdicts")
    if swapped is not None:
        one, two = _wide(verdicts, "verdicts"), _wide(swapped, "swapped")
        order = np.repeat([0, 1], [len(one.item), len(two.item)])
        item = np.concatenate(
            [one.item, _same(two.items, one.items, "pairs", two.n, one.n)[two.item]]
        )
        same = _same(two.judges, one.judges, "judges", len(two.judges), len(one.judges))
        who = np.concatenate([one.who, same[two.who]])
        value, absent = (
            np.concatenate([getattr(w, f) for w in (one, two)]) for f in ("value", "absent")
        )
        judges, items, rows, domain = one.judges, one.items, np.arange(one.n), one.domain
    else:
        item, who, order, value, absent, judges, items, rows = _long(frame, first_order)
        domain = frame["domain"].to_native() if "domain" in frame.columns else None
    code, order_of = _sides(value, absent, classes)
    if says == "position":  # what is named is where the answer stood: turn it in the second order
        code = np.where(order == 1, -code, code)
    score, repeats = _averaged(
        item, who, order, code, absent, (len(rows) if items is None else len(items)), len(judges)
    )
    return PairVerdicts(score, order_of, judges, items, rows, domain, repeats)


class _Wide(NamedTuple):
    """One wide table as lists of verdicts."""

    item: IntArray
    who: IntArray
    value: AnyArray
    absent: Any
    n: int
    judges: PassedValues
    items: PassedValues | None
    domain: Any


def _wide(table: Any, name: str) -> _Wide:
    """Read a column per judge; a column ``item`` or ``domain`` is no judge."""
    frame, items, domain = native_frame(table, name), None, None
    if frame is not None:
        domain = frame["domain"].to_native() if "domain" in frame.columns else None
        (items, _), frame = split_keys(frame)
    wide = table if frame is None else frame
    columns, names = read_columns(wide, name, null=-1, each="column per judge")
    n = len(columns[0][0])
    judges = PassedValues(np.array(names)) if frame is None else PassedValues.of_columns(frame)
    text = any(v.dtype.kind == "U" for v, m in columns if m is None or not m.all())
    values = np.concatenate([v.astype(str) if text else v for v, _ in columns])
    absent = np.concatenate([np.zeros(n, bool) if m is None else m for _, m in columns])
    item, who = np.tile(np.arange(n), len(columns)), np.repeat(np.arange(len(columns)), n)
    return _Wide(item, who, values, absent, n, judges, items, domain)


def _same(
    mine: PassedValues | None, theirs: PassedValues | None, what: str, n: int, wanted: int
) -> IntArray:
    """Return where each of the pairs, or judges, of the swapped table stands in the first one."""
    if n != wanted:
        raise LengthMismatchError(
            f"verdicts has {wanted:,} {what} and swapped has {n:,}; pass the same {what} in both"
        )
    if mine is None or theirs is None:
        return np.arange(n)
    place = {name: i for i, name in enumerate(theirs.tolist())}
    other = [name for name in mine.tolist() if name not in place]
    if other:
        raise ColumnError(
            f"swapped has the {what} {named(other)}, which verdicts has not; name them alike"
        )
    return np.array([place[name] for name in mine.tolist()])


def _long(frame: Any, first_order: Any) -> tuple[Any, ...]:
    """Return the columns of a long table as lists, with the order of each verdict."""
    columns = [] if frame is None else [c for c in frame.columns if isinstance(c, str)]
    who = next((c for c in _WHO if c in columns), None)
    both = next((pair for pair in _BOTH if set(pair) <= set(columns)), None)
    what = next((c for c in _WHAT if c in columns), None)
    if (
        "item" not in columns
        or who is None
        or (both is None and (what is None or "order" not in columns))
    ):
        raise ColumnError(
            f"verdicts has the columns {named(columns)}; expected a long table with 'item', "
            "'judge', 'order' and 'verdict' (or 'verdict_order1' and 'verdict_order2'), or two "
            "wide tables, one per order: swapped="
        )
    (item,), _ = encode_labels({"item": frame["item"].to_native()})
    (judge,), found = encode_labels({who: frame[who].to_native()})
    items = PassedValues.of_column(frame["item"].to_native(), item, int(item.max()) + 1)
    judges = PassedValues.of_column(frame[who].to_native(), judge, len(found))
    if both is not None:
        parts = [read_column(frame[c].to_native(), c, null=-1) for c in both]
        value = np.concatenate([v for v, _ in parts])
        absent = np.concatenate([np.zeros(len(v), bool) if m is None else m for v, m in parts])
        order = np.repeat([0, 1], len(item))
        return np.tile(item, 2), np.tile(judge, 2), order, value, absent, judges, items, item
    assert what is not None
    (order,), orders = encode_labels({"order": frame["order"].to_native()})
    value, mask = read_column(frame[what].to_native(), what, null=-1)
    listed = orders.tolist()
    if len(listed) != 2:
        raise LabelError(
            f"order holds {named(listed)}; expected two values, one for each order of a pair"
        )
    if first_order is not None:
        if first_order not in listed:
            raise LabelError(f"first_order is {shown(first_order)} and order holds {named(listed)}")
        order = np.where(order == listed.index(first_order), 0, 1)
    absent = np.zeros(len(value), bool) if mask is None else mask
    return item, judge, order, value, absent, judges, items, item


def _sides(value: AnyArray, absent: Any, classes: Column | None) -> tuple[FloatArray, AnyArray]:
    """Return +1, -1 or 0 of each verdict, and what the two answers are called."""
    if absent.all():
        raise EmptyDataError("no verdict is given; pass at least one per order")
    text = value.dtype.kind == "U"
    if value.dtype.kind == "f":
        value = np.where(absent, 0, value).astype(np.int64)
    nothing = absent | (value == ("-1" if text else -1))
    if text:
        words, word = np.unique(value.astype(str), return_inverse=True)
        nothing |= np.isin(np.char.lower(words), _TIES)[word]
    order = np.unique(value[~nothing]) if classes is None else check_classes(classes)
    if len(order) != 2:
        raise LabelError(
            f"the verdicts name {named(order.tolist())}; expected two answers, a tie ('tie') and "
            "-1 for no verdict. Name the two with classes="
        )
    known = nothing | np.isin(value, order)
    if not known.all():
        raise LabelError(
            f"a verdict is {shown(value[~known][0])}, which is neither of {named(order.tolist())} "
            "nor a tie"
        )
    code = np.where(nothing, 0.0, np.where(value == order[0], 1.0, -1.0))
    return code, order


def _averaged(
    item: IntArray, who: IntArray, order: IntArray, code: FloatArray, absent: Any, n: int, m: int
) -> tuple[FloatArray, int]:
    """Return the mean of the repeats, orders × items × judges, and how many repeats there are."""
    there = ~absent
    cell = (order[there] * n + item[there]) * m + who[there]
    count = np.bincount(cell, minlength=2 * n * m)
    total = np.bincount(cell, weights=code[there], minlength=2 * n * m)
    mean = np.divide(total, count, out=np.full(2 * n * m, np.nan), where=count > 0)
    return mean.reshape(2, n, m), int(np.maximum(count - 1, 0).sum())
