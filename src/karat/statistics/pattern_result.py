"""The frozen tables of vote patterns. Two of a kind can be added."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from karat._columns import crossed, vote_columns
from karat._frames import keeps_kind
from karat._result import Result
from karat._typing import AnyArray, FloatArray, IntArray
from karat.exceptions import DataError
from karat.statistics.merging import MergedPatterns, merge_groups, merge_patterns, spread, union

__all__ = ["PatternCounts", "Patterns"]


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

    def __radd__(self, other: object) -> "Patterns":
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    @keeps_kind
    def __add__(self, other: "Patterns") -> "Patterns":
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

    def __radd__(self, other: object) -> "PatternCounts":
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    @keeps_kind
    def __add__(self, other: "PatternCounts") -> "PatternCounts":
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
            f"one part was counted in {folds[0]} folds and the other in {folds[1]}; count both "
            "with the same folds="
        )
