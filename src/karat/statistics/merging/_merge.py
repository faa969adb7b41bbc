"""Adding two statistics: bring both to the same labels and patterns, then add the counts."""

from typing import NamedTuple, Protocol

import numpy as np

from karat._typing import AnyArray, IntArray
from karat.exceptions import DataError, LabelError
from karat.statistics.kernels import distinct_votes, recode

__all__ = ["MergedPatterns", "merge_groups", "merge_patterns", "spread", "union"]


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
            f"one part has the {what} {a.tolist()} and the other {b.tolist()}: the same in another "
            "order. Count both with the same classes="
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
