"""Votes as users pass them: a wide table, a long one, or counts of patterns."""

from dataclasses import replace
from typing import Any

import numpy as np

from karat._typing import AnyArray, Column, Frame
from karat._validate import (
    check_classes,
    check_null,
    check_same_length,
    check_weights,
    collected_alone,
    is_lazy,
    named,
    native_frame,
    union_of_values,
)
from karat.exceptions import ColumnError, DataError, LabelError, LazyFrameError
from karat.statistics import Patterns
from karat.statistics.kernels import distinct_votes, effective_counts, recode, summed
from karat.statistics.reading import find_patterns
from karat.votes.reading._ballots import Ballots
from karat.votes.reading._keys import refuse_identifiers, split_keys
from karat.votes.reading._long import long_columns, read_long
from karat.votes.reading._passed_values import PassedValues
from karat.votes.reading._threshold import cut_columns

__all__ = ["read_ballots", "read_weak_labels"]


def read_ballots(
    votes: Any,
    classes: Column | None = None,
    *,
    labels: AnyArray | None = None,
    threshold: Any = None,
    null: str = "not asked",
) -> Ballots:
    """Read votes; ``labels`` are gold labels, whose values count as classes too."""
    check_null(null)
    also = None if labels is None else {"y_true": labels}
    if isinstance(votes, Patterns):
        _check_counted(votes, null, by_row=False)
        if threshold is not None:
            raise DataError("votes are counts of patterns and threshold= cuts probabilities")
        found = _recoded(votes, classes, also)
        if found.squares is not None:
            found = replace(found, counts=effective_counts(found.counts, found.squares))
        return Ballots.of_patterns(found, counted=True)
    frame = native_frame(votes, "votes")
    columns = None if frame is None else long_columns(frame)
    if columns is not None:
        return read_long(columns, classes, labels, threshold=threshold, null=null)
    names: list[str] | None = None
    keys, frame = (None, None) if frame is None else split_keys(frame)
    wide: Any = votes if frame is None else frame
    refuse_identifiers(wide, classes if threshold is None else (), "votes")
    voters = None if frame is None else PassedValues.of_columns(frame)
    if threshold is not None:
        listed = None if voters is None else voters.tolist()
        wide, names, classes = cut_columns(wide, threshold, classes, listed)
    try:
        found = find_patterns(wide, classes, also=also, name="votes", null=null)
    except ColumnError as error:
        if "not a class label" in str(error):
            raise ColumnError(
                f"{error}. Probabilities are cut only when you ask: threshold="
            ) from error
        raise
    found = found if names is None else replace(found, names=tuple(names))
    return Ballots.of_patterns(found, voters=voters, keys=keys)


def read_weak_labels(
    weak_labels: Frame | Patterns,
    classes: Column | None = None,
    *,
    sample_weight: Column | None = None,
    also: dict[str, AnyArray] | None = None,
    null: str = "not asked",
    by_row: bool = False,
    beside_rows: bool = False,
) -> Patterns:
    """Read weak labels as dense patterns; the items of a long table are sorted by their names.

    ``by_row`` says that the rows are matched with other rows, or answered one by one, and
    ``beside_rows`` that other columns have one row per item, which a long table has not.
    """
    if isinstance(weak_labels, Patterns):
        weight = check_weights(sample_weight)
        _check_counted(weak_labels, null, by_row=by_row or beside_rows or weight is not None)
        found = _recoded(weak_labels, classes, also)
        if weight is None:
            return found
        check_same_length(weak_labels=found.ids, sample_weight=weight)
        size = len(found.patterns)
        counts, squares = (summed(found.ids, w, size) for w in (weight, weight**2))
        return replace(found, counts=counts, squares=squares)
    lazy = is_lazy(weak_labels)
    weak_labels = collected_alone(weak_labels, "weak_labels", sample_weight, *(also or {}).values())
    frame = native_frame(weak_labels, "weak_labels")
    columns = None if frame is None else long_columns(frame)
    if columns is None:
        wide: Any = weak_labels if frame is None else _without_names(frame)
        refuse_identifiers(wide, classes, "weak_labels")
        found = find_patterns(wide, classes, sample_weight=sample_weight, also=also, null=null)
        return replace(found, in_order=not lazy)
    if beside_rows:
        raise ColumnError(
            "weak_labels is a long table, one row per vote, and the predictions have one row per "
            "item; pass karat.votes.read_patterns(weak_labels), and the predictions in the sorted "
            "order of its items"
        )
    labels = None if also is None else union_of_values(also)
    ballots = read_long(columns, classes, labels, null=null)
    weight = ballots.per_item(check_weights(sample_weight), "sample_weight")
    return ballots.patterns(weight)


def _without_names(frame: Any) -> Any:
    """Return a wide frame without the column ``item``, which names its rows and is no labeler."""
    return frame.drop("item") if "item" in frame.columns and len(frame.columns) > 1 else frame


def _check_counted(found: Patterns, null: str, *, by_row: bool) -> None:
    """Refuse counts of patterns where the single rows are needed."""
    if check_null(null) and (found.patterns == -2).any():
        raise DataError(
            "weak_labels are counts of patterns in which nulls are already not asked, so "
            "null='abstain' comes too late; pass it where the rows are counted"
        )
    if not by_row:
        return
    if not found.in_order:
        raise LazyFrameError(
            "weak_labels are patterns of a lazy frame, whose rows come in no fixed order, so they "
            "cannot be matched with other rows; collect the frame once and count its patterns then"
        )
    if not np.array_equal(found.counts, np.bincount(found.ids, minlength=len(found.counts))):
        raise DataError(
            "weak_labels are patterns counted with weights, so the weight of a single row is not "
            "known any more; pass the rows themselves, with sample_weight="
        )


def _recoded(found: Patterns, classes: Column | None, also: dict[str, AnyArray] | None) -> Patterns:
    """Return counted patterns as codes of the wanted classes."""
    known = found.classes
    if classes is None and not also:
        return found
    order = (
        union_of_values({"votes": known, **(also or {})})
        if classes is None
        else check_classes(classes)
    )
    if np.array_equal(order, known):
        return found  # rows of counts by domain may be equal, and stay apart
    listed = order.tolist()
    missing = [label for label in known.tolist() if label not in listed]
    if missing:
        raise LabelError(
            f"the votes hold {named(missing)}, which is not among the classes {named(listed)}; "
            "name all classes"
        )
    codes = recode(found.patterns, np.array([listed.index(c) for c in known.tolist()]))
    place, first = distinct_votes(codes, len(order))  # another order of classes sorts otherwise
    counts = np.empty_like(found.counts)
    counts[place] = found.counts
    squares = None
    if found.squares is not None:
        squares = np.empty_like(found.squares)
        squares[place] = found.squares
    return replace(
        found, patterns=codes[first], counts=counts, squares=squares, ids=place[found.ids],
        classes=order,
    )  # fmt: skip
