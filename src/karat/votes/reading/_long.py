"""Votes from a long table: one row per vote."""

import warnings
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._typing import AnyArray, BoolArray, Column, Frame, IntArray
from karat._validate import check_null, encode_labels, native_frame, read_column, shown
from karat.exceptions import ColumnError, KaratWarning, LabelError
from karat.statistics.kernels import distinct_rows
from karat.votes.reading._ballots import Ballots, same_lists
from karat.votes.reading._passed_values import PassedValues
from karat.votes.reading._threshold import above, thresholds, two_classes

__all__ = ["LONG_NAMES", "long_columns", "read_long"]


_LONG = ("item", "classifier", "vote")
# What a long table may call an item, a voter and a vote, karat's own names first; all three names
# of a line must be there.
LONG_NAMES = (
    _LONG,
    ("item", "judge", "verdict"),
    ("task", "worker", "label"),
    ("task", "worker", "answer"),
)


def long_columns(votes: Frame, name: str = "votes") -> dict[str, Any] | None:
    """Return the columns of a long table, by karat's names; None of a frame that is none.

    A long table has the columns item, classifier and vote, or task, worker and label (or answer),
    or item, judge and verdict.
    """
    frame = native_frame(votes, name)
    if frame is None:
        return None
    names = set(frame.columns)
    called = dict(zip(_LONG, _LONG, strict=True))
    if not {"classifier", "vote"} <= names:
        known = next((line for line in LONG_NAMES if set(line) <= names), None)
        if known is None:
            return None
        called = dict(zip(known, _LONG, strict=True))
    return {
        called.get(c, c): frame[c].to_native()
        for c in frame.columns
        if isinstance(c, str) and (c in called or c not in _LONG)
    }


def read_long(
    columns: dict[str, Any],
    classes: Column | None,
    labels: AnyArray | None,
    *,
    threshold: Any = None,
    null: str = "not asked",
) -> Ballots:
    """Read the columns item, classifier, vote and perhaps domain of a long table."""
    if "item" not in columns:
        raise ColumnError(
            "votes has the columns 'classifier' and 'vote' and no 'item'; a long table needs "
            "item, classifier and vote"
        )
    keys = {name: columns[name] for name in ("classifier", "item", "domain") if name in columns}
    codes, names = {}, {}
    for key, column in keys.items():
        (codes[key],), found = encode_labels({key: column})
        names[key] = PassedValues.of_column(column, codes[key], len(found))
    vote = columns["vote"]
    if threshold is not None:
        limits = np.array(thresholds(threshold, names["classifier"].tolist()))
        values, mask = read_column(vote, "vote")
        vote = above(values, mask, limits[codes["classifier"]], "column 'vote'")
        classes = two_classes(classes)
    outcome, order = _outcomes(vote, classes, labels, abstains=check_null(null))
    item, items = codes["item"], names["item"]
    if "domain" in codes:
        # Items are identified within their domain, so two domains may number theirs alike.
        pairs = np.stack([codes["domain"], codes["item"]], axis=1)
        item, first = distinct_rows(pairs, int(pairs.max()) + 2)
        items = PassedValues.of_rows(columns["item"], first)
    asked = outcome >= 0
    start, voter, said = _sorted_votes(
        item[asked], codes["classifier"][asked], outcome[asked], items, names["classifier"]
    )
    lists, first_list = same_lists(start, voter, said, len(order) + 1)
    return Ballots(
        classes=order,
        voters=names["classifier"],
        n_items=len(items),
        items=items,
        start=start,
        voter=voter,
        outcome=said,
        list_of_item=first_list[lists],
        item_of_row=item,
        domain_column=(codes["domain"], names["domain"]) if "domain" in codes else None,
    )


def _outcomes(
    vote: Column, classes: Column | None, labels: AnyArray | None, *, abstains: bool
) -> tuple[IntArray, AnyArray]:
    """Return the outcome of each row: a class, their number for an abstention, -1 if not asked."""
    array, mask = read_column(vote, "vote", null=-1)
    absent: BoolArray = np.zeros(len(array), dtype=bool) if mask is None else mask
    no_class = absent | (array == ("-1" if array.dtype.kind == "U" else -1))
    if no_class.all():
        raise LabelError("no row of votes holds a vote for a class; pass at least one")
    filled = np.where(no_class, array[~no_class][0], array)
    columns: dict[str, Column] = {"vote": filled}
    if labels is not None and classes is None:
        columns["y_true"] = labels
    codes, order = encode_labels(columns, classes)
    outcome = codes[0].astype(np.int64)
    outcome[no_class] = len(order)
    if not abstains:
        outcome[absent] = -1
    return outcome, order


def _sorted_votes(
    item: IntArray,
    voter: IntArray,
    outcome: IntArray,
    items: PassedValues,
    voters: PassedValues,
) -> tuple[IntArray, IntArray, IntArray]:
    """Sort the votes by item and voter, and keep one of each pair."""
    order = np.lexsort((voter, item))
    item, voter, outcome = item[order], voter[order], outcome[order]
    repeats = (item[1:] == item[:-1]) & (voter[1:] == voter[:-1])
    if repeats.any():
        clash = np.flatnonzero(repeats & (outcome[1:] != outcome[:-1]))
        if clash.size:
            warnings.warn(
                f"{clash.size:,} repeated vote{'s' * (clash.size > 1)} contradict"
                f"{'s' * (clash.size == 1)} an earlier one, first that of classifier "
                f"{shown(voters.take(voter[clash[:1]])[0])} on item "
                f"{shown(items.take(item[clash[:1]])[0])}; the last one counts. Drop repeats "
                "before the call to choose otherwise",
                KaratWarning,
                stacklevel=caller_level(),
            )
        last = np.append(~repeats, True)  # the sort is stable, so the last vote is the latest
        item, voter, outcome = item[last], voter[last], outcome[last]
    start = np.searchsorted(item, np.arange(len(items) + 1)).astype(np.int64)
    return start, voter.astype(np.int64), outcome
