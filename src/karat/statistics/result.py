"""The frozen tables of sufficient statistics. Two of a kind can be added."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from karat._result import Result, crossed, keeps_kind
from karat._sentences import Argument
from karat._typing import AnyArray, FloatArray
from karat._validate import is_beyond_floats, named
from karat.exceptions import DataError, LabelError
from karat.statistics.patterns import added_squares, merge_groups, spread, union


def _listed(values: AnyArray, most: int = 5) -> str:
    names = [str(v) for v in values[:most]]
    return ", ".join(names) + (", …" if len(values) > most else "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class _LabelTable(Result):
    """Counts of (truth, prediction), with groups first if there are any."""

    counts: AnyArray
    classes: AnyArray
    groups: AnyArray | None = None
    _CELL: ClassVar[str] = "value"

    @property
    def n(self) -> float:
        """Number of items, or the sum of their weights."""
        return float(self.counts.sum())

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    @keeps_kind
    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        classes, mine, theirs = union(self.classes, other.classes, "classes")
        groups, my_groups, their_groups = merge_groups(self.groups, other.groups)
        k, axes = len(classes), (-2, -1)
        total = spread(self.counts, [(axis, mine, k) for axis in axes])
        added = spread(other.counts, [(axis, theirs, k) for axis in axes])
        if groups is not None:
            total = spread(total, [(0, my_groups, len(groups))])
            added = spread(added, [(0, their_groups, len(groups))])
        return replace(self, counts=total + added, classes=classes, groups=groups)

    @keeps_kind
    def pooled(self) -> Self:
        """Return the same table with the groups added up."""
        return (
            self
            if self.groups is None
            else replace(self, counts=self.counts.sum(axis=0), groups=None)
        )

    @keeps_kind
    def in_order(self, classes: AnyArray) -> Self:
        """Return the same table with the classes in another order, empty where one is new."""
        order = np.asarray(classes)
        place = {label: i for i, label in enumerate(order.tolist())}
        if unknown := [c for c in self.classes.tolist() if c not in place]:
            raise LabelError(f"the table has the classes {unknown} too; name all of them")
        at = np.array([place[c] for c in self.classes.tolist()])
        counts = spread(self.counts, [(axis, at, len(order)) for axis in (-2, -1)])
        return replace(self, counts=counts, classes=order)

    @keeps_kind
    def in_group_order(self, groups: AnyArray) -> Self:
        """Return the same table with the groups in another order."""
        assert self.groups is not None
        place = {group: i for i, group in enumerate(np.asarray(groups).tolist())}
        at = np.array([place[g] for g in self.groups.tolist()])
        counts = spread(self.counts, [(0, at, len(place))])
        return replace(self, counts=counts, groups=np.asarray(groups))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the table: (k, k), or (groups, k, k)."""
        return self.counts.shape

    @abstractmethod
    def _values(self) -> FloatArray:
        """Return what the table stands for as an array."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return np.asarray(self._values(), dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        return self._values()[index]

    def _head(self) -> str:
        groups = "" if self.groups is None else f", {len(self.groups)} groups"
        return f"{self.n:,.6g} items, {len(self.classes)} classes ({_listed(self.classes)}){groups}"

    def _columns(self) -> dict[str, Any]:
        axes: dict[str, Any] = {} if self.groups is None else {"group": self.groups}
        axes |= {"truth": self.classes, "prediction": self.classes}
        return crossed(axes, count=self.counts, **{self._CELL: self._values()})


class Confusion(_LabelTable):
    """Joint distribution of truth and prediction.

    ``numpy.asarray`` of it, and indexing, give the joint probabilities, so every metric takes it.

    Attributes
    ----------
    counts : array (k, k) or (groups, k, k)
        Items, or their weights, with truth i (row) and prediction j (column).
    classes : array (k,)
        The order of rows and columns.
    groups : array (groups,) or None
        The order of the first axis.
    """

    __slots__ = ()

    _CELL = "probability"

    @property
    def probabilities(self) -> FloatArray:
        """``C[i, j] = P(Y=i, Ŷ=j)``; with groups ``C[g, i, j] = P(G=g, Y=i, Ŷ=j)``."""
        return np.asarray(self.counts / self.counts.sum())

    @property
    def rates(self) -> FloatArray:
        """``R[i, j] = P(Ŷ=j | Y=i)``, within each group; NaN where class i does not occur."""
        return _row_shares(self.counts)

    def _values(self) -> FloatArray:
        return self.probabilities

    def summary(self) -> str:
        """Return the size of the table and the share on its diagonal."""
        right = self.pooled().probabilities.trace()
        return f"{self._head()}: {100 * right:.1f} % predicted right"

    def _table(self) -> list[tuple[str, str]]:
        pooled = self.pooled()
        if len(pooled.classes) > 12:
            return []  # a summary is all that a notebook can show of a large table
        return [
            (
                f"truth {label}",
                ", ".join(
                    f"{count:,.6g} as {other}"
                    for count, other in zip(row, pooled.classes, strict=True)
                ),
            )
            for label, row in zip(pooled.classes, pooled.counts, strict=True)
        ]


class Rates(_LabelTable):
    """Distribution of the prediction given the truth.

    ``numpy.asarray`` of it, and indexing, give ``R[i, j] = P(Ŷ=j | Y=i)``, within each group.
    The counts are kept, so that two parts can be added.

    Attributes
    ----------
    counts : array (k, k) or (groups, k, k)
        Items, or their weights, with truth i (row) and prediction j (column).
    classes : array (k,)
        The order of rows and columns.
    groups : array (groups,) or None
        The order of the first axis.
    """

    __slots__ = ()

    _CELL = "rate"

    @property
    def rates(self) -> FloatArray:
        """``R[i, j] = P(Ŷ=j | Y=i)``, within each group; NaN where class i does not occur."""
        return _row_shares(self.counts)

    def _values(self) -> FloatArray:
        return self.rates

    def summary(self) -> str:
        """Return the size of the table and the share of each class that is found."""
        found = np.diagonal(self.pooled().rates)
        pairs = zip(self.classes[:5], found[:5], strict=True)
        shares = ", ".join(f"{100 * share:.1f} % of {label}" for label, share in pairs)
        return f"{self._head()}: finds {shares}{', …' if len(found) > 5 else ''}"


def _row_shares(counts: AnyArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RocCounts(Result):
    """Positives and negatives at each distinct score: all that a ROC curve needs.

    Attributes
    ----------
    scores : array (s,)
        The distinct scores, ascending.
    positives, negatives : array (s,)
        Items of each class, or their weights, with that score.
    classes : array (2,)
        The negative and the positive class.
    cells : bool
        Whether scores were counted in cells, of which ``scores`` are the lower ends, so that the
        order inside a cell is not known.
    squares : array (2,) or None
        Sums of the squared weights of negatives and positives, where items have importances; None
        where items were counted.
    """

    scores: FloatArray
    positives: AnyArray
    negatives: AnyArray
    classes: AnyArray
    cells: bool = False
    squares: FloatArray | None = None

    @property
    def totals(self) -> FloatArray:
        """Negatives and positives in all, or their weights."""
        return np.array([self.negatives.sum(), self.positives.sum()], dtype=np.float64)

    @property
    def is_beyond_floats(self) -> bool:
        """Whether scores are whole numbers beyond 2^53, which floats would round to one another."""
        whole = self.scores.dtype.kind == "i" and len(self.scores) > 0
        return whole and is_beyond_floats(self.scores[0], self.scores[-1])

    @property
    def sizes(self) -> FloatArray:
        """Negatives and positives that limits may count on: Kish's numbers of importances."""
        if self.squares is None:
            return self.totals
        return np.asarray(self.totals**2 / np.where(self.squares > 0, self.squares, 1.0))

    _COLUMNS = ("score=scores", "positives", "negatives")

    @property
    def thresholds(self) -> FloatArray:
        """Every threshold that matters, ascending: the scores, then infinity.

        An item is predicted positive when its score is at least the threshold.
        """
        return np.append(self.scores, np.inf)

    def confusions(self) -> FloatArray:
        """Return the confusion at each of ``thresholds``: shape (s + 1, 2, 2)."""
        fn = np.concatenate([[0], np.cumsum(self.positives)])
        tn = np.concatenate([[0], np.cumsum(self.negatives)])
        table = np.array([[tn, tn[-1] - tn], [fn, fn[-1] - fn]]) / (fn[-1] + tn[-1])
        return np.moveaxis(table, -1, 0)

    def __radd__(self, other: object) -> "RocCounts":
        return self if other == 0 else NotImplemented  # so that sum(parts) works

    @keeps_kind
    def __add__(self, other: "RocCounts") -> "RocCounts":
        if not isinstance(other, RocCounts):
            return NotImplemented
        if not np.array_equal(self.classes, other.classes):
            raise LabelError(
                f"one part has the classes {named(self.classes.tolist())} and the other "
                f"{named(other.classes.tolist())}; count both with the same classes and ",
                Argument("pos_label"),
            )
        if self.cells or other.cells:
            raise DataError(
                "counts in cells of scores cannot be added: the cells of two parts overlap. Count "
                "both parts in one scan, or count every score exactly"
            )
        if self.is_beyond_floats != other.is_beyond_floats:
            raise DataError(
                "one part has whole numbers beyond 2^53 as scores and the other has none, so that "
                "floats cannot hold both; count both parts in one scan"
            )
        scores = np.union1d(self.scores, other.scores)
        mine, theirs = (np.searchsorted(scores, s) for s in (self.scores, other.scores))
        tables = [
            spread(getattr(self, name), [(0, mine, len(scores))])
            + spread(getattr(other, name), [(0, theirs, len(scores))])
            for name in ("positives", "negatives")
        ]
        return RocCounts(
            scores=scores,
            positives=tables[0],
            negatives=tables[1],
            classes=self.classes,
            squares=added_squares(self.squares, self.totals, other.squares, other.totals),
        )

    def summary(self) -> str:
        """Return the number of items of each class and of distinct scores."""
        return (
            f"{self.positives.sum():,.6g} of {self.classes[1]} and {self.negatives.sum():,.6g} of "
            f"{self.classes[0]} {'in' if self.cells else 'at'} {len(self.scores):,} "
            f"{'cells of' if self.cells else 'distinct'} scores"
        )


AnyRocCounts = RocCounts | Mapping[Any, RocCounts]


def counts_in_place_of(labels: Any) -> AnyRocCounts | None:
    """Return counts that were passed in the place of labels, of one table or by name; else None."""
    if isinstance(labels, RocCounts):
        return labels
    if isinstance(labels, Mapping) and any(isinstance(c, RocCounts) for c in labels.values()):
        return labels
    return None
