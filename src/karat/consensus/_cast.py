"""Votes as they were cast: a list of (item, voter, outcome), or a matrix of them."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_number,
    encode_labels,
    encode_votes,
    read_column,
    read_columns,
)
from karat._validate._columns import named, native_frame, shown
from karat.consensus._frames import backend_of, to_frame
from karat.exceptions import ColumnError, DataError, KaratWarning, LabelError
from karat.statistics._kernels import distinct_rows

__all__ = ["Cast", "read_long", "read_wide"]


@dataclass(frozen=True, slots=True)
class Cast:
    """The votes cast; ``outcome`` is a class, or the number of classes for an abstention.

    Sorted by item, then voter. A wide matrix is kept as its distinct rows, so that ten million
    items cost ten million numbers and not as many lists.
    """

    classes: AnyArray
    classifiers: tuple[str, ...]
    n_items: int
    item_names: AnyArray | None
    start: IntArray  # votes of list i are start[i]:start[i+1]
    voter: IntArray
    outcome: IntArray
    list_of_item: IntArray  # which list an item has
    item_of_row: IntArray | None  # long form: the item of each row passed
    domain_column: tuple[IntArray, AnyArray] | None

    @property
    def abstentions(self) -> bool:
        """Whether anybody abstained."""
        return bool((self.outcome == len(self.classes)).any())

    def drop_abstentions(self) -> Self:
        """Return the votes with each abstention as if it had not been asked for."""
        keep = self.outcome < len(self.classes)
        if keep.all():
            return self
        start = np.concatenate([[0], np.cumsum(keep)])[self.start]
        voter, outcome = self.voter[keep], self.outcome[keep]
        same, first = _same_lists(start, voter, outcome, len(self.classes))
        lists = first[same][self.list_of_item]  # lists that differed by an abstention are one now
        return replace(self, start=start, voter=voter, outcome=outcome, list_of_item=lists)

    def per_item(self, values: AnyArray | None, name: str, absent: Any = None) -> AnyArray | None:
        """Return one value per item from a column with one value per row that was passed."""
        if values is None:
            return None
        rows = self.n_items if self.item_of_row is None else len(self.item_of_row)
        if len(values) != rows:
            from karat.exceptions import LengthMismatchError

            raise LengthMismatchError(
                f"votes has {rows:,} rows and {name} has {len(values):,}; pass one value per row"
            )
        if self.item_of_row is None:
            return values
        found = np.full(self.n_items, absent if absent is not None else 0, dtype=values.dtype)
        given = slice(None) if absent is None else values != absent
        items = self.item_of_row[given]
        found[items] = values[given]
        apart = np.flatnonzero(found[items] != values[given])
        if apart.size:
            assert self.item_names is not None
            item = items[apart[0]]
            raise DataError(
                f"{name} has two values for the item {shown(self.item_names[item])}; in a long "
                "table give every row of an item the same one"
            )
        return found

    def weighted_out(self, weight: AnyArray | None) -> bool:
        """Whether no item with a vote has a positive weight."""
        if weight is None:
            return False
        voted = np.diff(self.start)[self.list_of_item] > 0
        return not bool((weight[voted] > 0).any())

    def patterns_of(
        self, items: IntArray, gold: IntArray
    ) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Return the distinct patterns (votes and gold) of some items.

        An item of each pattern, as a position in ``items``; start, voter and outcome of the
        patterns' votes; and the pattern of each item.
        """
        lists = self.list_of_item[items]
        key = np.stack([lists, gold[items]], axis=1)
        pattern, first = distinct_rows(key, int(key.max(initial=0)) + 2)
        chosen = lists[first]
        lengths = np.diff(self.start)[chosen]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(start[-1]) - np.repeat(start[:-1], lengths)
        votes = np.repeat(self.start[chosen], lengths) + within
        return first, start, self.voter[votes], self.outcome[votes], pattern


def read_wide(
    votes: Frame, classes: Column | None, labels: AnyArray | None, threshold: Any
) -> Cast:
    """Read one row per item and one column per voter."""
    if threshold is not None:
        votes, classes = _cut(votes, threshold, classes)
    also = None if labels is None else {"y_true": labels}
    try:
        found = encode_votes(votes, classes, also=also)
    except ColumnError as error:
        if "not a class label" in str(error):
            raise ColumnError(
                f"{error}. Probabilities are cut only when you ask: threshold="
            ) from (error)
        raise
    k = len(found.classes)
    ids, first = distinct_rows(found.codes, k + 2)
    matrix = found.codes[first].astype(np.int64)
    row, voter = np.nonzero(matrix >= 0)
    start = np.searchsorted(row, np.arange(len(matrix) + 1)).astype(np.int64)
    return Cast(
        classes=found.classes,
        classifiers=tuple(found.names),
        n_items=len(ids),
        item_names=None,
        start=start,
        voter=voter.astype(np.int64),
        outcome=matrix[row, voter],
        list_of_item=ids,
        item_of_row=None,
        domain_column=None,
    )


def _cut(votes: Frame, threshold: Any, classes: Column | None) -> tuple[Any, Column]:
    """Return votes 0 and 1 from probabilities, null where there is none."""
    columns, names = read_columns(votes, "votes", each="column per voter")
    limits = _limits(threshold, names)
    matrix = np.full((len(columns[0][0]), len(names)), np.nan)
    for j, (values, mask) in enumerate(columns):
        matrix[:, j] = _above(values, mask, limits[j], f"votes column {names[j]!r}")
    backend = backend_of(votes)
    if backend is None:
        return matrix, _two(classes)
    data: dict[str, AnyArray | list[Any]] = {name: matrix[:, j] for j, name in enumerate(names)}
    return to_frame(data, backend), _two(classes)


def _two(classes: Column | None) -> Column:
    """Return the two classes that a threshold makes."""
    if classes is not None and len(check_classes(classes)) != 2:
        raise DataError(f"threshold= makes two classes and classes= names {shown(classes)}")
    return [0, 1] if classes is None else classes


def _limits(threshold: Any, names: Sequence[str]) -> list[float]:
    """Return the threshold of each voter."""
    if isinstance(threshold, Mapping):
        unknown = [c for c in names if c not in threshold]
        if unknown:
            raise ColumnError(f"threshold= has none for {named(unknown)}; give one per voter")
        cuts = [threshold[c] for c in names]
    elif isinstance(threshold, Sequence | np.ndarray) and not isinstance(threshold, str):
        cuts = list(threshold)
        if len(cuts) != len(names):
            raise ColumnError(
                f"threshold= has {len(cuts)} values and votes has {len(names)} voters; give one "
                "number, or one per voter"
            )
    else:
        cuts = [threshold] * len(names)
    return [check_number(t, "threshold") for t in cuts]


def _above(values: AnyArray, mask: BoolArray | None, limit: Any, name: str) -> FloatArray:
    """Return 1 where a probability is at least the limit, 0 below, NaN where there is none."""
    if values.dtype.kind not in "biuf":
        raise ColumnError(f"{name} holds text (first {shown(values[0])}); threshold= cuts numbers")
    above = np.where(values == -1, -1.0, values >= limit)  # -1 still means that it abstains
    return above if mask is None else np.where(mask, np.nan, above)


def read_long(
    votes: Frame, classes: Column | None, labels: AnyArray | None, threshold: Any
) -> Cast | None:
    """Read a frame with columns item, classifier, vote and perhaps domain; None if it is wide."""
    columns = _named_columns(votes)
    if columns is None or not {"classifier", "vote"} <= set(columns):
        return None
    if "item" not in columns:
        raise ColumnError(
            "votes has the columns 'classifier' and 'vote' and no 'item'; a long table needs "
            "item, classifier and vote"
        )
    keys = {name: columns[name] for name in ("classifier", "item", "domain") if name in columns}
    codes, names = {}, {}
    for key, column in keys.items():
        (codes[key],), names[key] = encode_labels({key: column})
    vote = columns["vote"]
    if threshold is not None:
        limits = np.array(_limits(threshold, [str(c) for c in names["classifier"]]))
        values, mask = read_column(vote, "vote")
        vote = _above(values, mask, limits[codes["classifier"]], "column 'vote'")
        classes = _two(classes)
    outcome, order = _outcomes(vote, classes, labels)
    item, item_names, first = codes["item"], names["item"], None
    if "domain" in codes:
        # An item is told apart within its domain, so two domains may number theirs alike.
        pairs = np.stack([codes["domain"], codes["item"]], axis=1)
        item, first = distinct_rows(pairs, int(pairs.max()) + 2)
        item_names = names["item"][codes["item"][first]]
    asked = outcome >= 0
    start, voter, said = _sorted_votes(
        item[asked], codes["classifier"][asked], outcome[asked], len(item_names), item_names,
        names["classifier"],
    )  # fmt: skip
    lists, first_list = _same_lists(start, voter, said, len(order) + 1)
    kept = Cast(
        classes=order,
        classifiers=tuple(str(c) for c in names["classifier"]),
        n_items=len(item_names),
        item_names=item_names,
        start=start,
        voter=voter,
        outcome=said,
        list_of_item=first_list[lists],
        item_of_row=item,
        domain_column=None,
    )
    if first is None:
        return kept
    return replace(kept, domain_column=(codes["domain"], names["domain"]))


def _named_columns(votes: Frame) -> dict[str, Any] | None:
    frame = native_frame(votes, "votes")
    if frame is None:
        return None
    return {str(c): frame[c].to_native() for c in frame.columns if isinstance(c, str)}


def _outcomes(
    vote: Column, classes: Column | None, labels: AnyArray | None
) -> tuple[IntArray, AnyArray]:
    """Return the outcome of each row: a class, their number for -1, or -1 for null."""
    array, mask = read_column(vote, "vote", null=-1)
    absent: BoolArray = np.zeros(len(array), dtype=bool) if mask is None else mask
    abstains = (array == ("-1" if array.dtype.kind == "U" else -1)) & ~absent
    silent = absent | abstains
    if silent.all():
        raise LabelError("no row of votes holds a vote for a class; pass at least one")
    filled = np.where(silent, array[~silent][0], array)
    columns: dict[str, Column] = {"vote": filled}
    if labels is not None and classes is None:
        columns["y_true"] = labels
    codes, order = encode_labels(columns, classes)
    outcome = codes[0].astype(np.int64)
    outcome[abstains] = len(order)
    outcome[absent] = -1
    return outcome, order


def _sorted_votes(
    item: IntArray,
    voter: IntArray,
    outcome: IntArray,
    n_items: int,
    item_names: AnyArray,
    voter_names: AnyArray,
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
                f"{shown(voter_names[voter[clash[0]]])} on item "
                f"{shown(item_names[item[clash[0]]])}; the last one counts. Drop repeats before "
                "the call to choose otherwise",
                KaratWarning,
                stacklevel=6,
            )
        last = np.append(~repeats, True)  # the sort is stable, so the last vote is the latest
        item, voter, outcome = item[last], voter[last], outcome[last]
    start = np.searchsorted(item, np.arange(n_items + 1)).astype(np.int64)
    return start, voter.astype(np.int64), outcome


def _same_lists(
    start: IntArray, voter: IntArray, outcome: IntArray, outcomes: int
) -> tuple[IntArray, IntArray]:
    """Return the id of each item's list of votes, and the first item with that id.

    Lists are compared by two random sums of 64 bits; two different lists would share both once in
    2^128 pairs.
    """
    rng = np.random.default_rng(20160619)
    cell = voter * outcomes + outcome
    marks = rng.integers(0, 2**63, size=(2, int(cell.max(initial=0)) + 1), dtype=np.uint64)
    sums = []
    for mark in marks:
        running = np.concatenate([[np.uint64(0)], np.cumsum(mark[cell], dtype=np.uint64)])
        sums.append(running[start[1:]] - running[start[:-1]])
    order = np.lexsort(sums)
    a, b = sums[0][order], sums[1][order]
    fresh = np.append(True, (a[1:] != a[:-1]) | (b[1:] != b[:-1]))
    ids = np.empty(len(order), dtype=np.int64)
    ids[order] = np.cumsum(fresh) - 1
    return ids, order[fresh]
