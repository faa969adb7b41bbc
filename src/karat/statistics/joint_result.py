"""The frozen table of two scores at once, in cells. Two of them can be added."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._result import Result
from karat._typing import AnyArray, FloatArray
from karat.exceptions import DataError
from karat.statistics.result import RocCounts

__all__ = ["JointRocCounts"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JointRocCounts(Result):
    """Counts of (class, cell of one score, cell of another): how two models err together.

    Attributes
    ----------
    counts : array (2, a, b)
        Items of the negative and of the positive class in each pair of cells.
    first_edges, second_edges : array (a − 1,), array (b − 1,)
        A score is in the cell whose number is that of the edges at or below it.
    names : tuple of str
        The two scores.
    classes : array (2,)
        The negative and the positive class.
    """

    counts: AnyArray
    first_edges: FloatArray
    second_edges: FloatArray
    names: tuple[Any, Any]
    classes: AnyArray

    @property
    def n(self) -> float:
        """Number of items."""
        return float(self.counts.sum())

    def check_margins(self, scores: Mapping[Any, RocCounts]) -> None:
        """Refuse counts of either score that are not of the rows that were counted here.

        Parameters
        ----------
        scores : mapping of name to RocCounts
            The counts of each score alone, without weights.
        """
        for i, (name, edges) in enumerate(
            zip(self.names, (self.first_edges, self.second_edges), strict=True)
        ):
            one = scores[name]
            cell = np.searchsorted(edges, one.scores, side="right")
            own = [np.bincount(cell, c, len(edges) + 1) for c in (one.negatives, one.positives)]
            same = np.array_equal(self.classes, one.classes) and one.squares is None
            if not same or not np.array_equal(np.array(own), self.counts.sum(axis=2 - i)):
                raise DataError(
                    f"the joint counts of {self.names[0]} and {self.names[1]} are not of the rows "
                    f"that the counts of {name} are of; count the same rows and classes, without "
                    "weights"
                )

    def __radd__(self, other: object) -> "JointRocCounts":
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    @keeps_kind
    def __add__(self, other: "JointRocCounts") -> "JointRocCounts":
        if not isinstance(other, JointRocCounts):
            return NotImplemented
        for what in ("names", "classes", "first_edges", "second_edges"):
            if not np.array_equal(getattr(self, what), getattr(other, what)):
                raise DataError(
                    f"the two parts differ in their {what}; count both with the same edges"
                )
        return replace(self, counts=self.counts + other.counts)

    def summary(self) -> str:
        """Return how many items fall into how many cells."""
        a, b = self.counts.shape[1:]
        return f"{self.n:,.6g} items in {a} × {b} cells of {self.names[0]} and {self.names[1]}"

    def _columns(self) -> dict[str, Any]:
        label, first, second = np.nonzero(self.counts)
        from_first, from_second = (
            np.concatenate([[-np.inf], edges]) for edges in (self.first_edges, self.second_edges)
        )
        return {
            "class": self.classes[label],
            "first_from": from_first[first],
            "second_from": from_second[second],
            "count": self.counts[label, first, second],
        }
