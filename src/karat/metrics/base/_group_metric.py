"""What every metric of several groups can do."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NoReturn, Self

import numpy as np

from karat._frozen import frozen_array
from karat._typing import Column, FloatArray, Frame
from karat._validate import check_confusions, check_number
from karat.exceptions import MetricError, ProbabilityError
from karat.metrics.base._metric_base import MetricBase
from karat.metrics.coefficients import groups_for
from karat.metrics.rates import classes_for, error_rates, pulled_back
from karat.statistics import confusion as count_confusion

__all__ = ["GroupMetric"]

# Loose enough for a finite difference, tight enough to notice separate confusions.
_TOLERANCE = 1e-3


class GroupMetric(MetricBase):
    """A metric of the confusions of several groups: one number for all of them.

    It is called on ``P(G=g, Y=i, Ŷ=j)``, groups×k×k, which sums to 1.
    """

    __slots__ = ()
    cost: FloatArray
    violation: FloatArray
    tradeoff: float
    name: str | None

    def _fill(self, cost: FloatArray, violation: FloatArray, tradeoff: Any, name: Any) -> None:
        """Set the fields of a frozen metric from checked coefficients."""
        share = check_number(tradeoff, "tradeoff", at_least=0.0, at_most=1.0)
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "violation", frozen_array(violation))
        object.__setattr__(self, "tradeoff", share)
        object.__setattr__(self, "name", None if name is None else str(name))

    @property
    def n_classes(self) -> int:
        """Number of classes the metric is for."""
        return classes_for(len(self.cost), "cost")

    @property
    def n_groups(self) -> int:
        """Number of groups the metric is for."""
        return groups_for(len(self.violation))

    @property
    def title(self) -> str:
        """Short name for tables and messages."""
        return self.name or self.kind.replace("-", " ") + " metric"

    def for_classes(self, n_classes: int) -> Self:
        """Return the metric, or say that it is for another number of classes."""
        self._require_classes(n_classes)
        return self

    @abstractmethod
    def _violations(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        """Return the violation of gaps between the rates of pairs of groups, (b, pairs, q).

        The corner of an absolute value at 0 is rounded off within a distance of ``rounded``.
        """

    @abstractmethod
    def _violation_slopes(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        """Return the derivatives of the violation in the gaps, (b, pairs, q)."""

    def __call__(self, confusion: Any) -> float:
        """Return the value of the confusions of all groups.

        Parameters
        ----------
        confusion : Confusion or array (groups, k, k)
            ``P(G=g, Y=i, Ŷ=j)``.
        """
        return float(self._values(self._joint(confusion)[None])[0])

    def gradient(self, confusion: Any) -> FloatArray:
        """Return the partial derivatives in the entries, (groups, k, k).

        Where the rates of two groups are equal the absolute difference has no slope; it counts
        as 0.
        """
        return np.asarray(self._gradients(self._joint(confusion)[None])[0])

    def _gradients(self, stack: FloatArray, rounded: float = 0.0) -> FloatArray:
        """Return the gradients at a stack (b, groups, k, k)."""
        overall, rates, gaps = self._parts(stack)
        each = np.broadcast_to(-(1 - self.tradeoff) * self.cost, overall.shape)
        slope = pulled_back(each, stack.sum(axis=1))
        by_pair = -self.tradeoff * self._violation_slopes(gaps, rounded)
        by_group = np.zeros(rates.shape)
        for p, (u, v) in enumerate(self._pairs()):
            by_group[:, u] += by_pair[:, p]
            by_group[:, v] -= by_pair[:, p]
        return np.asarray(slope[:, None] + pulled_back(by_group, stack))

    def score(
        self,
        y_true: Column,
        y_pred: Column | Frame,
        *,
        groups: Column | None = None,
        sample_weight: Column | None = None,
        classes: Column | None = None,
        pos_label: Any = None,
    ) -> float:
        """Score predictions of all groups; ``groups`` is needed. See `Metric.score`."""
        if groups is None:
            raise MetricError(f"{self.title} compares groups; pass groups=, the group of each item")
        order = self._class_order(y_true, y_pred, classes, pos_label)
        return self(count_confusion(y_true, y_pred, sample_weight, groups, classes=order))

    def as_scorer(self, **_: Any) -> NoReturn:
        """Refuse: scikit-learn's scorers are not given groups."""
        raise MetricError(
            f"{self.title} compares groups, which a scikit-learn scorer is not given; call "
            "score(y_true, y_pred, groups=...)"
        )

    def equivalent(self, other: MetricBase, *, tol: float = 1e-9) -> bool:
        """Whether the two metrics always rank classifiers alike: a positive factor apart."""
        if not isinstance(other, MetricBase):
            raise MetricError(f"a metric can be equivalent to a metric, and not to {other!r}")
        if type(other) is not type(self) or not isinstance(other, GroupMetric):
            return False
        if other.cost.shape != self.cost.shape or other.violation.shape != self.violation.shape:
            return False
        tol = check_number(tol, "tol", at_least=0.0)
        mine, theirs = (m._weights() for m in (self, other))
        return bool(np.linalg.norm(mine - theirs) <= tol * max(1.0, float(np.linalg.norm(mine))))

    def _weights(self) -> FloatArray:
        """Return all coefficients in one vector of norm 1."""
        both = ((1 - self.tradeoff) * self.cost, self.tradeoff * self.violation.ravel())
        flat = np.concatenate(both)
        size = np.linalg.norm(flat)
        return np.asarray(flat / size if size > 0 else flat)

    def _values(self, stack: FloatArray, rounded: float = 0.0) -> FloatArray:
        """Return the values of a stack (b, groups, k, k)."""
        overall, _, gaps = self._parts(stack)
        cost, unfair = overall @ self.cost, self._violations(gaps, rounded)
        return -((1 - self.tradeoff) * cost + self.tradeoff * unfair)

    def _parts(self, stack: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the rates of all, those of each group, and the gaps between pairs of groups."""
        rates = error_rates(stack)
        self._require_rates(rates, range(self.n_groups))
        first, second = (list(side) for side in zip(*self._pairs(), strict=True))
        return error_rates(stack.sum(axis=1)), rates, rates[:, first] - rates[:, second]

    def _require_rates(self, rates: FloatArray, groups: Sequence[Any]) -> None:
        """Refuse rates (b, groups, q) of a group that lacks some class."""
        if np.isnan(rates).any():
            g = groups[int(np.argwhere(np.isnan(rates))[0][1])]
            raise MetricError(
                f"{self.title} compares the error rates of groups, and group {g} has no item of "
                "some class; merge it with another group, or leave it out"
            )

    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(self.n_groups), 2))

    def _joint(self, confusion: Any) -> FloatArray:
        table = np.asarray(confusion, dtype=np.float64)
        if table.ndim != 3:
            raise MetricError(
                f"{self.title} compares groups and was given a confusion without them; pass "
                "P(G=g, Y=i, Ŷ=j), groups×k×k"
            )
        check_confusions(confusion)
        if abs(table.sum() - 1.0) > _TOLERANCE:
            raise ProbabilityError(
                f"the confusions of the groups sum to {table.sum():.6g}; expected joint "
                "probabilities P(G=g, Y=i, Ŷ=j) that sum to 1. Multiply each by its group's share"
            )
        self._require_classes(table.shape[-1])
        if len(table) != self.n_groups:
            raise MetricError(
                f"{self.title} is for {self.n_groups} groups and was given {len(table)}"
            )
        if (names := getattr(confusion, "groups", None)) is not None:
            self._require_rates(error_rates(table[None]), names.tolist())
        return table

    @abstractmethod
    def describe(
        self, classes: Sequence[Any] | None = None, groups: Sequence[Any] | None = None
    ) -> str:
        """Say in words what the metric rewards; ``classes`` and ``groups`` are their names."""

    def _worst(self, sizes: FloatArray, names: Sequence[str], groups: Sequence[Any] | None) -> str:
        """Say which error and which pair of groups have the greatest of ``sizes`` (pairs, q)."""
        known = range(self.n_groups) if groups is None else groups
        if len(known) != self.n_groups:
            raise MetricError(
                f"groups names {len(known)} groups and the metric is for {self.n_groups}"
            )
        pairs = self._pairs()
        p, i = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
        u, v = pairs[int(p)]
        return f"most for {names[int(i)]} between groups {known[u]} and {known[v]}"
