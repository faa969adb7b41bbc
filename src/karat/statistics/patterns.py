"""Distinct rows of votes with how often each occurs, and the counting behind all statistics.

Bounds and label models need no more of the votes than this table, which is much shorter than
the data. Votes are codes: a class, -1 for an abstention, -2 for a vote that was not asked for. What
is counted of a matrix of codes stands at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from karat._result import Result, crossed, keeps_kind, vote_columns
from karat._sentences import Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_probabilities,
    check_same_length,
    check_weighting,
    check_weights,
    collected_alone,
    encode_groups,
    encode_labels,
    encode_weak_labels,
    is_lazy,
    is_matrix,
    refuse_lazy,
    require_two_classes,
)
from karat.exceptions import DataError, LabelError

# --- Distinct rows of votes with how often each occurs.
#
# Bounds and label models need no more of the votes than this table, which is much shorter than the
# data.

_MOST_CELLS = 1 << 28


@keeps_kind
def pattern_counts(
    y_pred: Column | Frame,
    weak_labels: Frame,
    groups: Column | None = None,
    *,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    classes: Column | None = None,
    null: str = "not asked",
) -> PatternCounts:
    """Count predictions within each pattern of weak labels.

    ``joint[z, j] = P(Z=z, Ŷ=j)``: all that bounds on a confusion metric need of the data.

    Parameters
    ----------
    y_pred : column (n,) or matrix (n, k)
        Predicted labels, or class probabilities of a randomised classifier.
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 where a labeler abstained, null where it was
        not asked.
    groups : column (n,), optional
        Group of each item; the table then has one block per group, groups first.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means: importances, of which the sums of squares are kept too; or
        numbers of equal rows.
    classes : column (k,), optional
        The classes in the wanted order; by default those found in predictions and votes, sorted.
    null : {"not asked", "abstain"}, default "not asked"
        What a null is. It is not asked unless said otherwise; -1 is always an abstention.

    Returns
    -------
    PatternCounts
        Counts, patterns and classes. Two of them can be added.

    Examples
    --------
    >>> t = pattern_counts([1, 0, 0], [[1, -1], [0, 1], [1, -1]])
    >>> t.patterns
    array([[ 0,  1],
           [ 1, -1]])
    >>> t.counts
    array([[1, 0],
           [1, 1]])
    """
    refuse_lazy(weak_labels=weak_labels)  # its rows are matched with the predictions
    soft = is_matrix(y_pred)
    found = {}
    if not soft and classes is None:
        _, predicted = encode_labels({"y_pred": y_pred})
        found = {"y_pred": predicted}
    votes = find_patterns(weak_labels, classes, also=found, null=null)
    order, ids = votes.classes, votes.ids
    require_two_classes(order, "weak_labels" if soft else "y_pred and weak_labels")
    if soft:
        predictions: AnyArray = check_probabilities(y_pred, "y_pred", classes=order)
    else:
        predictions = encode_labels({"y_pred": y_pred}, order)[0][0]
    weight = check_weights(sample_weight)
    important = check_weighting(weighting, weight)
    group_codes, group_names = encode_groups(groups)
    check_same_length(y_pred=predictions, weak_labels=ids, sample_weight=weight, groups=group_codes)
    codes, sizes = [ids], [len(votes.patterns)]
    _require_space(len(votes.patterns), len(order), group_names)
    if group_codes is not None and group_names is not None:
        codes, sizes = [group_codes, ids], [len(group_names), len(votes.patterns)]
    if soft:
        counts = soft_counts(codes, sizes, predictions, weight)
    else:
        counts = joint_counts([*codes, predictions], [*sizes, len(order)], weight)
    squares = None
    if weight is not None and important:
        squares = summed(ids, weight**2, len(votes.patterns))
    return PatternCounts(
        counts=counts,
        patterns=votes.patterns,
        classes=order,
        names=votes.names,
        groups=group_names,
        squares=squares,
    )


def _require_space(patterns: int, classes: int, groups: AnyArray | None) -> None:
    """Refuse a table that would not fit into memory."""
    blocks = 1 if groups is None else len(groups)
    cells = patterns * classes * blocks
    if cells > _MOST_CELLS:
        raise DataError(
            f"{patterns:,} patterns, {classes} classes and {blocks:,} groups make {cells:,} cells; "
            f"expected at most {_MOST_CELLS:,}. Count the groups apart, or use fewer labelers"
        )


@keeps_kind
def patterns(
    weak_labels: Frame,
    *,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    classes: Column | None = None,
    null: str = "not asked",
) -> Patterns:
    """Reduce a vote matrix to its distinct rows and how often each occurs.

    Parameters
    ----------
    weak_labels : matrix or frame (n, m)
        One row per item, one column per labeler; -1 where a labeler abstained, null where it was
        not asked.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means: importances, of which the sums of squares are kept too; or
        numbers of equal rows.
    classes : column (k,), optional
        The classes in the wanted order; by default those found, sorted.
    null : {"not asked", "abstain"}, default "not asked"
        What a null is. It is not asked unless said otherwise; -1 is always an abstention.

    Returns
    -------
    Patterns
        Patterns, counts, and the pattern of each row (of a lazy frame, in the order in which its
        rows came when it was collected). Two of them can be added.

    Notes
    -----
    Rows are read as numbers in base k+1 (k+2 with nulls) and ranked, by a table of counts while it
    is small and by a sort beyond that: O(n·m), and no copy of an integer matrix whose values are
    0..k-1 and -1.

    Examples
    --------
    >>> p = patterns([[1, -1], [0, 1], [1, -1]])
    >>> p.patterns
    array([[ 0,  1],
           [ 1, -1]])
    >>> p.counts.tolist(), p.ids.tolist()
    ([1, 2], [1, 0, 1])
    >>> patterns([[1, None], [0, -1]]).patterns.tolist()
    [[0, -1], [1, -2]]
    """
    return find_patterns(
        weak_labels, classes, sample_weight=sample_weight, weighting=weighting, null=null
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Patterns(Result):
    """The distinct rows of a vote matrix.

    Attributes
    ----------
    patterns : array (patterns, m)
        Each distinct row as codes of ``classes``, sorted; -1 where a labeler abstained, -2 where
        it was not asked.
    counts : array (patterns,)
        Rows, or their weights, with each pattern.
    ids : array (n,)
        The pattern of each row.
    classes : array (k,)
        What the codes stand for.
    names : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    in_order : bool
        Whether ``ids`` follow the rows that were passed. Those of a lazy frame come in no fixed
        order, so they cannot be matched with other columns.
    squares : array (patterns,) or None
        Sums of the squared weights of each pattern, where rows have importances; None where rows
        were counted.
    """

    patterns: IntArray
    counts: AnyArray
    ids: IntArray
    classes: AnyArray
    names: tuple[Any, ...]
    in_order: bool = field(default=True, compare=False)
    squares: FloatArray | None = None

    @property
    def n(self) -> float:
        """Number of rows, or the sum of their weights."""
        return float(self.counts.sum())

    def labels(self) -> AnyArray:
        """Return the patterns as labels, -1 where a labeler abstained, None where not asked."""
        table = np.array([*self.classes.tolist(), None, -1], dtype=object)
        return np.asarray(table[self.patterns])

    def __radd__(self, other: object) -> Patterns:
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    @keeps_kind
    def __add__(self, other: Patterns) -> Patterns:
        if not isinstance(other, Patterns):
            return NotImplemented
        merged = merge_patterns(self, other)
        counts = np.zeros(len(merged.patterns), dtype=np.result_type(self.counts, other.counts))
        counts[merged.mine] += self.counts
        counts[merged.theirs] += other.counts
        ids = np.concatenate([merged.mine[self.ids], merged.theirs[other.ids]])
        return Patterns(
            patterns=merged.patterns,
            counts=counts,
            ids=ids,
            classes=merged.classes,
            names=self.names,
            in_order=self.in_order and other.in_order,
            squares=_squares(self, other, merged),
        )

    def summary(self) -> str:
        """Return how many rows fall into how many patterns."""
        without_vote = self.counts[(self.patterns < 0).all(axis=1)].sum() / self.n
        return (
            f"{self.n:,.6g} rows of {len(self.names)} labelers fall into "
            f"{len(self.patterns):,} patterns; on {100 * without_vote:.1f} % nobody votes"
        )

    def _columns(self) -> dict[str, Any]:
        votes = vote_columns(self.names, self.patterns, self.classes)
        return {"count": self.counts} | votes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PatternCounts(Result):
    """Counts of (pattern of weak labels, prediction), with groups first if there are any.

    Attributes
    ----------
    counts : array (patterns, k) or (groups, patterns, k)
        Items, or their weights, with each pattern and prediction.
    patterns : array (patterns, m)
        Each distinct row of votes as codes of ``classes``, sorted; -1 where a labeler abstained,
        -2 where it was not asked.
    classes : array (k,)
        What predictions and votes stand for.
    names : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    groups : array (groups,) or None
        The order of the first axis.
    by_fold : array (folds, …) or None
        The same counts by fold, if items were split by their identifiers; their sum is ``counts``.
    squares : array (patterns,) or None
        Sums of the squared weights of each pattern, where items have importances; None where items
        were counted.
    """

    counts: AnyArray
    patterns: IntArray
    classes: AnyArray
    names: tuple[Any, ...]
    groups: AnyArray | None = None
    by_fold: AnyArray | None = None
    squares: FloatArray | None = None

    @property
    def n(self) -> float:
        """Number of items, or the sum of their weights."""
        return float(self.counts.sum())

    @property
    def joint(self) -> FloatArray:
        """``joint[z, j] = P(Z=z, Ŷ=j)``; with groups ``joint[g, z, j] = P(G=g, Z=z, Ŷ=j)``."""
        return np.asarray(self.counts / self.counts.sum())

    @keeps_kind
    def votes(self) -> Patterns:
        """Return the patterns with the counts of all predictions and groups: for label models."""
        by_pattern = self.counts.sum(axis=-1)
        return Patterns(
            patterns=self.patterns,
            counts=by_pattern if self.groups is None else by_pattern.sum(axis=0),
            ids=np.arange(0),
            classes=self.classes,
            names=self.names,
            in_order=False,
            squares=self.squares,
        )

    def __radd__(self, other: object) -> PatternCounts:
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    @keeps_kind
    def __add__(self, other: PatternCounts) -> PatternCounts:
        if not isinstance(other, PatternCounts):
            return NotImplemented
        merged = merge_patterns(self, other)
        groups, my_groups, their_groups = merge_groups(self.groups, other.groups)
        size, k = len(merged.patterns), len(merged.classes)
        _, my_codes, their_codes = union(self.classes, other.classes, "classes")
        _refuse_other_folds(self.by_fold, other.by_fold)
        mine = [(-1, my_codes, k), (-2, merged.mine, size)]
        theirs = [(-1, their_codes, k), (-2, merged.theirs, size)]
        if groups is not None:
            mine.append((-3, my_groups, len(groups)))
            theirs.append((-3, their_groups, len(groups)))
        by_fold = None
        if self.by_fold is not None and other.by_fold is not None:
            by_fold = spread(self.by_fold, mine) + spread(other.by_fold, theirs)
        return PatternCounts(
            counts=spread(self.counts, mine) + spread(other.counts, theirs),
            patterns=merged.patterns,
            classes=merged.classes,
            names=self.names,
            groups=groups,
            by_fold=by_fold,
            squares=_squares(self.votes(), other.votes(), merged),
        )

    def summary(self) -> str:
        """Return how many items fall into how many patterns."""
        groups = "" if self.groups is None else f" and {len(self.groups)} groups"
        return (
            f"{self.n:,.6g} predictions of {len(self.classes)} classes in "
            f"{len(self.patterns):,} patterns of {len(self.names)} labelers{groups}"
        )

    def _columns(self) -> dict[str, Any]:
        axes: dict[str, Any] = {} if self.groups is None else {"group": self.groups}
        axes |= {"pattern": np.arange(len(self.patterns)), "prediction": self.classes}
        cells = crossed(axes, count=self.counts)
        codes = self.patterns[cells.pop("pattern")]
        return cells | vote_columns(self.names, codes, self.classes)


def _squares(mine: Patterns, theirs: Patterns, merged: MergedPatterns) -> FloatArray | None:
    """Return the sums of squared weights of the patterns of two parts together."""
    if mine.squares is None and theirs.squares is None:
        return None
    total = np.zeros(len(merged.patterns))
    for part, places in ((mine, merged.mine), (theirs, merged.theirs)):
        total[places] += part.counts if part.squares is None else part.squares
    return total


def _refuse_other_folds(mine: AnyArray | None, theirs: AnyArray | None) -> None:
    folds = [0 if part is None else len(part) for part in (mine, theirs)]
    if folds[0] != folds[1]:
        raise DataError(
            f"one part was counted in {folds[0]} folds and the other in {folds[1]}",
            Remedy("count both with the same ", Option("folds")),
        )


def find_patterns(
    weak_labels: Frame,
    classes: Column | None = None,
    *,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    also: dict[str, AnyArray] | None = None,
    name: str = "weak_labels",
    null: str = "not asked",
) -> Patterns:
    """Return the patterns, as `patterns` does; values of the columns ``also`` are classes too."""
    lazy = is_lazy(weak_labels)
    weak_labels = collected_alone(weak_labels, name, sample_weight)
    votes = encode_weak_labels(weak_labels, classes, also=also, name=name, null=null)
    weight = check_weights(sample_weight)
    important = check_weighting(weighting, weight)
    check_same_length(**{name: votes.codes, "sample_weight": weight})
    ids, first = distinct_votes(votes.codes, len(votes.classes), complete=votes.complete)
    squares = None
    if weight is not None and important:
        squares = summed(ids, weight**2, len(first))
    return Patterns(
        patterns=votes.codes[first].astype(np.int64),
        counts=np.bincount(ids, weights=weight, minlength=len(first)),
        ids=ids,
        classes=votes.classes,
        names=tuple(votes.names),
        in_order=not lazy,
        squares=squares,
    )


# --- Counting on arrays that are already checked and encoded: no checks here.
#
# `joint_counts` and `soft_counts` fill tables from codes; `effective_counts` and `added_squares`
# keep the squares of weights beside their sums, so that no limit depends on the unit of weights;
# `distinct_rows` and `distinct_votes` find the patterns of a matrix of codes by a table while it is
# small and by a sort beyond that.

# Rows are taken in chunks whose temporaries stay in the processor's cache.
_CHUNK = 1 << 15


def joint_counts(
    codes: list[IntArray], sizes: list[int], weight: FloatArray | None = None
) -> AnyArray:
    """Count (or sum the weights of) each combination of codes: shape ``sizes``."""
    cells = int(np.prod(sizes))
    counts = np.zeros(cells, dtype=np.int64 if weight is None else np.float64)
    step = max(_CHUNK, cells)
    for start in range(0, len(codes[0]), step):
        part = slice(start, start + step)
        index = codes[0][part]
        for code, size in zip(codes[1:], sizes[1:], strict=True):
            index = index * size + code[part]
        some = None if weight is None else weight[part]
        found: AnyArray = np.bincount(index, weights=some, minlength=cells)
        counts = counts + found
    return counts.reshape(sizes)


def soft_counts(
    codes: list[IntArray], sizes: list[int], proba: FloatArray, weight: FloatArray | None = None
) -> FloatArray:
    """Sum the rows of ``proba`` within each combination of codes: shape ``(*sizes, k)``."""
    weighted = proba if weight is None else proba * weight[:, None]
    columns = [joint_counts(codes, sizes, column) for column in weighted.T]
    return np.stack(columns, axis=-1)


def summed(codes: IntArray, weights: AnyArray, size: int) -> FloatArray:
    """Return the sum of the weights of each code."""
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64)


def effective_counts(
    counts: AnyArray, squares: AnyArray, part: IntArray | None = None
) -> FloatArray:
    """Return sums of weights in a unit in which they add up to Kish's number, (Σw)² / Σw².

    ``squares`` are the sums of squared weights. With ``part``, the codes of parts of the data that
    are measured apart, each part has a unit of its own.
    """
    where = np.zeros(len(counts), dtype=np.intp) if part is None else part
    total, square = (np.bincount(where, x) for x in (counts, squares))
    return np.asarray(counts * (total / np.where(square > 0, square, 1.0))[where])


def added_squares(
    mine: AnyArray | None, my_rows: AnyArray, theirs: AnyArray | None, their_rows: AnyArray
) -> AnyArray | None:
    """Return the sums of squared weights of two parts; rows that were counted weigh 1 each."""
    if mine is None and theirs is None:
        return None
    return np.asarray(
        (my_rows if mine is None else mine) + (their_rows if theirs is None else theirs)
    )


def union(a: AnyArray, b: AnyArray, what: str) -> tuple[AnyArray, IntArray, IntArray]:
    """Return the sorted union of two label sets and the place of each old label in it."""
    if (a.dtype.kind == "U") != (b.dtype.kind == "U"):
        raise LabelError(
            f"one part has the {what} {a.tolist()} and the other {b.tolist()}; give both parts "
            f"the same kind of {what}"
        )
    if np.array_equal(a, b):
        return a, np.arange(len(a)), np.arange(len(b))
    if set(a.tolist()) == set(b.tolist()):
        raise LabelError(
            f"one part has the {what} {a.tolist()} and the other {b.tolist()}: "
            "the same in another order",
            Remedy("Count both with the same ", Option("classes"), after=". "),
        )
    for labels, other in ((a, b), (b, a)):
        if np.isin(other, labels).all():  # keep an order that was chosen, where one part has it
            place = {label: i for i, label in enumerate(labels.tolist())}
            mapped = np.array([place[label] for label in other.tolist()], dtype=np.intp)
            own = np.arange(len(labels))
            return (labels, own, mapped) if labels is a else (labels, mapped, own)
    both = np.union1d(a, b)
    return both, np.searchsorted(both, a), np.searchsorted(both, b)


def spread(counts: AnyArray, axes: list[tuple[int, IntArray, int]]) -> AnyArray:
    """Place ``counts`` in a larger table: on each axis, old index i goes to places[i]."""
    for axis, places, size in axes:
        shape = list(counts.shape)
        shape[axis] = size
        table = np.zeros(shape, dtype=counts.dtype)
        np.moveaxis(table, axis, 0)[places] = np.moveaxis(counts, axis, 0)
        counts = table
    return counts


def merge_groups(
    a: AnyArray | None, b: AnyArray | None
) -> tuple[AnyArray | None, IntArray, IntArray]:
    """Return the union of two sets of groups, or None if neither part has groups."""
    if a is None and b is None:
        return None, np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    if a is None or b is None:
        raise DataError("one part has groups and the other has none; count both the same way")
    return union(a, b, "groups")


class HasPatterns(Protocol):
    """A statistic with vote patterns."""

    @property
    def patterns(self) -> IntArray: ...
    @property
    def classes(self) -> AnyArray: ...
    @property
    def names(self) -> tuple[str, ...]: ...


class MergedPatterns(NamedTuple):
    """The union of two pattern sets, and the place in it of each pattern of either part."""

    patterns: IntArray
    classes: AnyArray
    mine: IntArray
    theirs: IntArray


def merge_patterns(a: HasPatterns, b: HasPatterns) -> MergedPatterns:
    """Return the union of two pattern sets and the place of each old pattern in it."""
    # Compared as text: a matrix calls its columns "0", "1", … and a frame of pandas 0, 1, …
    if [str(name) for name in a.names] != [str(name) for name in b.names]:
        raise DataError(
            f"one part has the labelers {list(a.names)} and the other {list(b.names)}; count the "
            "same labelers in the same order"
        )
    classes, mine, theirs = union(a.classes, b.classes, "classes")
    rows = [recode(part.patterns, places) for part, places in ((a, mine), (b, theirs))]
    stacked = np.concatenate(rows)
    ids, first = distinct_votes(stacked, len(classes))
    return MergedPatterns(stacked[first], classes, ids[: len(rows[0])], ids[len(rows[0]) :])


# --- Distinct rows of codes and distinct scores.

# Up to this many cells a table of counts is cheaper than a sort.
_TABLE = 1 << 24


def distinct_rows(
    codes: IntArray, n_values: int, lowest: int = -1, *, table: int = _TABLE
) -> tuple[IntArray, IntArray]:
    """Return the id of each row and the first row of each id; ids follow the order of the rows.

    ``codes`` holds ``n_values`` numbers from ``lowest`` on. A row is read as a number in base
    ``n_values``, most significant column first; before the number would overflow it is replaced by
    its rank. Numbers are ranked by a table of at most ``table`` cells, and by a sort beyond that.
    """
    key: IntArray = np.zeros(len(codes), dtype=np.int64)
    span = 1
    for j in range(codes.shape[1]):
        if span > (np.iinfo(np.int64).max // n_values):
            key, _ = _rank(key, span, table)
            span = int(key.max()) + 1
        key *= n_values
        key += codes[:, j]
        key -= lowest
        span *= n_values
    return _rank(key, span, table)


def distinct_votes(
    codes: IntArray, k: int, *, complete: bool | None = None
) -> tuple[IntArray, IntArray]:
    """Return `distinct_rows` of votes for k classes, -1 (abstained) and -2 (not asked).

    ``complete`` says that there is no -2; by default the codes are looked through.
    """
    if complete is None:
        complete = not codes.size or int(codes.min()) >= -1
    return distinct_rows(codes, k + 1) if complete else distinct_rows(codes, k + 2, -2)


def recode(codes: IntArray, places: IntArray) -> IntArray:
    """Return votes with class c written as ``places[c]``; -1 and -2 stay as they are."""
    # A negative code counts from the end of the table.
    return np.asarray(np.append(places, [-2, -1])[codes])


def _rank(key: IntArray, span: int, table: int) -> tuple[IntArray, IntArray]:
    """Return the rank of each key among the distinct ones, and the first row of each rank."""
    if span > min(table, 16 * len(key)):  # a table much larger than the data costs more
        _, first, rank = np.unique(key, return_index=True, return_inverse=True)
        return rank, first
    first_of = np.full(span, -1, dtype=np.intp)
    first_of[key[::-1]] = np.arange(len(key) - 1, -1, -1)  # the first row is written last
    present = first_of >= 0
    rank_of = np.cumsum(present) - 1
    return rank_of[key], first_of[present]


def tie_groups(score: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the id of each score among the distinct ones, and these, ascending."""
    distinct, ids = np.unique(score, return_inverse=True)
    return ids, distinct


# --- Votes to numbers, on matrices of codes that are already checked.
#
# A code is a class, -1 for an abstention or -2 for a vote that was not asked for. An *outcome* is a
# class or, as the last outcome, an abstention; a vote that was not asked for has no outcome.

# Below this a probability counts as zero; its logarithm stays finite.
TINY = 1e-300


def safe_log(values: FloatArray) -> FloatArray:
    """Return the logarithm, finite at zero."""
    return np.asarray(np.log(np.maximum(values, TINY)))


def outcomes_of(codes: IntArray, k: int) -> IntArray:
    """Return codes with an abstention as k and a vote that was not asked for as k + 1."""
    return np.where(codes < 0, k - 1 - codes, codes)


def list_votes(codes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return pattern, labeler and class of every vote for a class."""
    pattern, labeler = np.nonzero(codes >= 0)
    return pattern, labeler, codes[pattern, labeler]


def vote_totals(
    pattern: IntArray, vote: IntArray, shape: tuple[int, int], weight: FloatArray | None = None
) -> FloatArray:
    """Return how many votes (or how much of their weight) each class has in each pattern.

    ``pattern`` and ``vote`` list the votes for classes; ``shape`` is (patterns, classes).
    """
    n, k = shape
    totals = np.bincount(pattern * k + vote, weights=weight, minlength=n * k)
    return totals.astype(np.float64).reshape(n, k)


def vote_shares(totals: FloatArray, nobody: FloatArray) -> FloatArray:
    """Return the share of the votes of each class; ``nobody`` where no labeler votes."""
    n = totals.sum(axis=1, keepdims=True)
    return np.where(n > 0, totals / np.where(n > 0, n, 1.0), nobody)


def outcome_counts(codes: IntArray, soft: FloatArray) -> FloatArray:
    """Return (m, k, k+1): the mass ``soft[p, y]`` of each outcome of each labeler."""
    k = soft.shape[1]
    counts: FloatArray = np.empty((codes.shape[1], k, k + 1))
    for j in range(codes.shape[1]):
        outcome = outcomes_of(codes[:, j], k)
        for y in range(k):
            counts[j, y] = np.bincount(outcome, weights=soft[:, y], minlength=k + 2)[: k + 1]
    return np.asarray(counts)
