"""How often every voter said what, with whom: counts of votes that can be added."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._result import Result, keeps_kind, vote_columns
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_same_length,
    check_weights,
    encode_gold,
    encode_groups,
    encode_weak_labels,
    present_gold,
    require_two_classes,
)
from karat.exceptions import DataError
from karat.statistics.patterns import Patterns, distinct_rows, distinct_votes, recode, summed, union


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VoteCounts(Result):
    """Counts of (domain, true label, votes): all that vote models need of the data.

    Attributes
    ----------
    votes : array (rows, m)
        The votes of each row as codes of ``classes``; -1 where a voter abstained, -2 where it was
        not asked.
    counts : array (rows,)
        Items, or their weights, with these votes.
    classes : array (k,)
        What the codes stand for.
    names : tuple
        The voters, as their columns are called.
    domain : array (rows,) or None
        The domain of each row, as a position in ``domains``.
    domains : array or None
        The names of the domains.
    label : array (rows,) or None
        The true label of each row as a code, -1 where it is not known.
    squares : array (rows,) or None
        Sums of the squared weights of each row, where items have importances; None where items
        were counted.
    """

    votes: IntArray
    counts: AnyArray
    classes: AnyArray
    names: tuple[Any, ...]
    domain: IntArray | None = None
    domains: AnyArray | None = None
    label: IntArray | None = None
    squares: FloatArray | None = None

    @property
    def n(self) -> float:
        """Number of items, or the sum of their weights."""
        return float(self.counts.sum())

    @property
    def patterns(self) -> IntArray:
        """The votes of each row: the same in two domains are two rows."""
        return self.votes

    @keeps_kind
    def pooled(self) -> Patterns:
        """Return the patterns of all domains together, without the true labels."""
        ids, first = distinct_votes(self.votes, len(self.classes))
        return Patterns(
            patterns=self.votes[first],
            counts=np.bincount(ids, weights=self.counts, minlength=len(first)),
            squares=None if self.squares is None else summed(ids, self.squares, len(first)),
            ids=np.arange(0),
            classes=self.classes,
            names=self.names,
            in_order=False,
        )

    def __radd__(self, other: object) -> "VoteCounts":
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    @keeps_kind
    def __add__(self, other: "VoteCounts") -> "VoteCounts":
        if not isinstance(other, VoteCounts):
            return NotImplemented
        for what in ("names", "domains", "label"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if (mine is None) != (theirs is None) or (what == "names" and mine != theirs):
                raise DataError(
                    f"the two parts differ in their {what}: {mine} and {theirs}; count both with "
                    "the same roles"
                )
        classes, *places = union(self.classes, other.classes, "classes")
        parts = [
            replace(part, votes=recode(part.votes, place), label=_moved(part.label, place))
            for part, place in zip((self, other), places, strict=True)
        ]
        domains = None
        if self.domains is not None and other.domains is not None:
            domains, *where = union(self.domains, other.domains, "domains")
            parts = [replace(p, domain=at[p.domain]) for p, at in zip(parts, where, strict=True)]
        return joined_votes(parts, classes, domains)

    def summary(self) -> str:
        """Return how many items, voters and domains there are."""
        where = "" if self.domains is None else f" in {len(self.domains)} domains"
        known = 0 if self.label is None else self.counts[self.label >= 0].sum()
        gold = f"; {known:,.6g} have a true label" if known else ""
        return (
            f"{self.n:,.6g} items of {len(self.names)} voters{where} fall into "
            f"{len(self.votes):,} rows of votes{gold}"
        )

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        if self.domain is not None and self.domains is not None:
            columns["domain"] = self.domains[self.domain]
        if self.label is not None:
            known = self.label.tolist()
            columns["truth"] = [None if k < 0 else self.classes[k] for k in known]
        return columns | {"count": self.counts} | vote_columns(self.names, self.votes, self.classes)


def _moved(label: IntArray | None, places: IntArray) -> IntArray | None:
    return None if label is None else recode(label, places)


def joined_votes(
    parts: list[VoteCounts], classes: AnyArray, domains: AnyArray | None
) -> VoteCounts:
    """Return the rows of all parts, equal ones added up, in the order of domain, votes, label."""
    votes = np.concatenate([part.votes for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    absent = np.full(len(votes), -1)
    domain = absent if domains is None else np.concatenate([np.asarray(p.domain) for p in parts])
    has_label = parts[0].label is not None
    label = np.concatenate([np.asarray(p.label) for p in parts]) if has_label else absent
    key = np.column_stack([domain, votes, label])
    ids, first = distinct_rows(key, int(key.max(initial=0)) + 3, -2)
    total = np.bincount(ids, weights=counts, minlength=len(first))
    whole = np.issubdtype(counts.dtype, np.integer)
    squares = None
    if any(part.squares is not None for part in parts):  # rows that were counted weigh 1 each
        each = [part.counts if part.squares is None else part.squares for part in parts]
        squares = summed(ids, np.concatenate(each), len(first))
    return VoteCounts(
        votes=votes[first],
        counts=np.rint(total).astype(np.int64) if whole else total,
        classes=classes,
        names=parts[0].names,
        domain=None if domains is None else domain[first],
        domains=domains,
        label=label[first] if has_label else None,
        squares=squares,
    )


def count_votes(
    votes: Frame,
    counts: Column,
    *,
    domains: Column | None = None,
    y_true: Column | None = None,
    classes: Column | None = None,
    null: str = "not asked",
    squares: FloatArray | None = None,
) -> VoteCounts:
    """Return the votes of rows that stand for several items each; equal rows are added up.

    ``squares`` are the sums of squared weights, where ``counts`` are sums of importances.
    """
    also = None
    if y_true is not None and classes is None:
        values, present = present_gold(y_true)
        also = {"y_true": np.unique(values[present])} if present.any() else None
    found = encode_weak_labels(votes, classes, also=also, name="votes", null=null)
    require_two_classes(found.classes, "votes")
    weight = check_weights(counts, "counts")
    assert weight is not None
    codes, names = encode_groups(domains, name="domains")
    label = None if y_true is None else encode_gold(y_true, found.classes)
    check_same_length(votes=found.codes, counts=weight, domains=codes, y_true=label)
    whole = squares is None and bool((weight % 1 == 0).all())
    rows = VoteCounts(
        votes=found.codes.astype(np.int64),
        counts=weight.astype(np.int64) if whole else weight,
        classes=found.classes,
        names=tuple(found.names),
        domain=codes,
        domains=names,
        label=label,
        squares=squares,
    )
    return joined_votes([rows], found.classes, names)
