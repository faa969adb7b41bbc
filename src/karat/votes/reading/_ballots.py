"""Votes as they were cast, with the names and items that were passed."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import shown
from karat.exceptions import DataError, LengthMismatchError
from karat.statistics import Patterns
from karat.statistics.kernels import distinct_rows, distinct_votes, summed
from karat.votes.reading._keys import Keys
from karat.votes.reading._passed_values import PassedValues

__all__ = ["Ballots", "same_lists"]


@dataclass(frozen=True, slots=True)
class Ballots:
    """The votes cast, read from a wide table, a long one or counts of patterns.

    Distinct lists of votes are kept once. List i has the votes ``start[i]:start[i+1]``, sorted by
    voter; an outcome is a class, or the number of classes for an abstention, and a vote that was
    not asked for is not listed. So ten million items cost ten million numbers and not as many
    lists, and a crowd costs no more than the votes it cast.
    """

    classes: AnyArray
    voters: PassedValues
    n_items: int
    items: PassedValues | None  # None: items are rows of a wide table or of counts
    start: IntArray
    voter: IntArray
    outcome: IntArray
    list_of_item: IntArray
    item_of_row: IntArray | None = None  # long table: the item of each row passed
    domain_column: tuple[IntArray, PassedValues] | None = None  # code of each row, domains
    counts: FloatArray | None = None  # items that each row of counts stands for

    @classmethod
    def of_patterns(
        cls,
        found: Patterns,
        *,
        voters: PassedValues | None = None,
        keys: Keys | None = None,
        counted: bool = False,
    ) -> Self:
        """Return the ballots of dense patterns: one item per row, or with ``counted`` per pattern.

        In the codes of patterns -1 is an abstention and -2 a vote that was not asked for.
        ``voters`` holds the names of the columns as they were passed, by default those of
        ``found``, and ``keys`` names and domains of the rows.
        """
        matrix, k = found.patterns, len(found.classes)
        row, voter = np.nonzero(matrix > -2)
        said = matrix[row, voter]
        return cls(
            classes=found.classes,
            voters=PassedValues(np.array(found.names)) if voters is None else voters,
            n_items=len(matrix) if counted else len(found.ids),
            items=None if keys is None else keys.items,
            start=np.searchsorted(row, np.arange(len(matrix) + 1)).astype(np.int64),
            voter=voter.astype(np.int64),
            outcome=np.where(said < 0, k, said),
            list_of_item=np.arange(len(matrix)) if counted else found.ids,
            domain_column=None if keys is None else keys.domain_column,
            counts=found.counts.astype(np.float64) if counted else None,
        )

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
        same, first = same_lists(start, voter, outcome, len(self.classes))
        lists = first[same][self.list_of_item]  # lists that differed by an abstention are one now
        return replace(self, start=start, voter=voter, outcome=outcome, list_of_item=lists)

    def per_item(self, values: AnyArray | None, name: str, absent: Any = None) -> AnyArray | None:
        """Return one value per item from a column with one value per row that was passed."""
        if values is None:
            return None
        rows = self.n_items if self.item_of_row is None else len(self.item_of_row)
        if len(values) != rows:
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
            assert self.items is not None
            (item,) = self.items.take(items[apart[:1]])
            raise DataError(
                f"{name} has two values for the item {shown(item)}; in a long "
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
        start, votes = self._votes_of(lists[first])
        return first, start, self.voter[votes], self.outcome[votes], pattern

    def patterns(self, weight: FloatArray | None = None) -> Patterns:
        """Return the distinct lists as a matrix of codes, sorted, and the pattern of each item."""
        k = len(self.classes)
        lists, inverse = np.unique(self.list_of_item, return_inverse=True)
        start, votes = self._votes_of(lists)
        codes = np.full((len(lists), len(self.voters)), -2)
        said = self.outcome[votes]
        row = np.repeat(np.arange(len(lists)), np.diff(start))
        codes[row, self.voter[votes]] = np.where(said < k, said, -1)
        place, first = distinct_votes(codes, k)
        ids = place[inverse]
        return Patterns(
            patterns=codes[first],
            counts=np.bincount(ids, weights=weight, minlength=len(first)),
            squares=None if weight is None else summed(ids, weight**2, len(first)),
            ids=ids,
            classes=self.classes,
            names=tuple(self.voters.tolist()),
        )

    def _votes_of(self, lists: IntArray) -> tuple[IntArray, IntArray]:
        """Return where the votes of each chosen list start, and which votes they are."""
        lengths = np.diff(self.start)[lists]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        within = np.arange(start[-1]) - np.repeat(start[:-1], lengths)
        return start, np.repeat(self.start[lists], lengths) + within


def same_lists(
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
