"""Counts of positives and negatives at each score, of one ranking or of several on the same rows.

Areas, curves and their limits are functions of these counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._result import Result, keeps_kind
from karat._sentences import Argument, Expected, Remedy
from karat._typing import AnyArray, Column, FloatArray
from karat._validate import (
    check_ranked,
    check_same_length,
    check_weighting,
    check_weights,
    encode_labels,
    named,
    order_classes,
    require_two_classes,
)
from karat.exceptions import DataError, LabelError
from karat.statistics.patterns import joint_counts, summed, tie_groups
from karat.statistics.result import RocCounts


@keeps_kind
def roc_counts(
    y_true: Column,
    y_score: Column,
    *,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    pos_label: Any = None,
    classes: Column | None = None,
) -> RocCounts:
    """Count positives and negatives at each distinct score.

    Parameters
    ----------
    y_true : column (n,)
        True labels of two classes.
    y_score : column (n,)
        Scores; a higher score means that the positive class is more likely.
    sample_weight : column (n,), optional
        Weights of at least 0, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means: importances, of which the sums of squares are kept too so that
        limits can rest on the effective number of rows; or numbers of equal rows.
    pos_label : label, optional
        The positive class. By default the labels tell it: 1 of 0 and 1, True, or a word such as
        "yes", "spam" or "fraud". Where they do not, `PositiveClassError` says what to pass.
    classes : column (2,), optional
        The two classes, negative first, where one of them may not occur.

    Returns
    -------
    RocCounts
        Scores, positives and negatives. Two of them can be added.

    Examples
    --------
    >>> r = roc_counts([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    >>> r.scores.tolist(), r.positives.tolist(), r.negatives.tolist()
    ([0.1, 0.4, 0.8], [0, 1, 1], [1, 1, 0])
    """
    (codes,), order = encode_labels({"y_true": y_true}, classes)
    require_two_classes(order, "y_true")
    if len(order) > 2:
        raise LabelError(
            Argument("y_true"),
            f" holds {len(order)} classes, {named(order.tolist())}; expected ",
            Expected("two"),
            Remedy(
                "For one class against the rest pass y_true == that class",
                after=". ",
                elsewhere="make a column that says whether a row is of the one class",
            ),
        )
    ordered = order_classes(order, pos_label, stated=classes is not None).classes
    if ordered[1] != order[1]:
        codes, order = 1 - codes, ordered
    scores = check_ranked(y_score)
    weight = check_weights(sample_weight)
    important = check_weighting(weighting, weight)
    check_same_length(y_true=codes, y_score=scores, sample_weight=weight)
    ids, distinct = tie_groups(scores)
    counts = joint_counts([codes, ids], [2, len(distinct)], weight)
    squares = None
    if weight is not None and important:
        squares = summed(codes, weight**2, 2)
    return RocCounts(
        scores=np.asarray(distinct),
        positives=counts[1],
        negatives=counts[0],
        classes=order,
        squares=squares,
    )


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
