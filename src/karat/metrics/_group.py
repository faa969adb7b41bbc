"""Metrics of several groups: the cost of errors, and of the differences between groups."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isqrt
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from karat._result import frozen_array
from karat._sentences import Argument, Expected, Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import (
    align_classes,
    check_classes,
    check_confusions,
    check_finite_matrix,
    check_number,
    named,
)
from karat.exceptions import MetricError, ProbabilityError
from karat.metrics.base import Form, MetricBase
from karat.metrics.families import error_names
from karat.metrics.rates import classes_for, error_rates, pulled_back
from karat.statistics import Confusion

# Loose enough for a finite difference, tight enough to notice separate confusions.
_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class GroupMetric(MetricBase):
    """A metric of the confusions of several groups: one number for all of them.

    It is called on ``P(G=g, Y=i, Ŷ=j)``, groups×k×k, which sums to 1.
    """

    cost: FloatArray
    violation: FloatArray
    tradeoff: float
    name: str | None = field(compare=False)
    groups: tuple[Any, ...] | None = field(default=None, kw_only=True)

    def _fill(
        self,
        cost: FloatArray,
        violation: FloatArray,
        tradeoff: Any,
        name: Any,
        classes: Any = None,
        groups: Any = None,
        elicited: Any = None,
    ) -> None:
        """Set the fields of a frozen metric from checked coefficients."""
        share = check_number(tradeoff, "tradeoff", at_least=0.0, at_most=1.0)
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "violation", frozen_array(violation))
        object.__setattr__(self, "tradeoff", share)
        object.__setattr__(self, "name", None if name is None else str(name))
        self._name_classes(classes, elicited)
        known = None if groups is None else tuple(check_classes(groups).tolist())
        if known is not None and len(known) != self.n_groups:
            raise MetricError(
                Argument("groups"),
                f" names {len(known)} groups, {named(known)}, and the metric is for "
                f"{self.n_groups}",
            )
        object.__setattr__(self, "groups", known)

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

    @property
    def value_range(self) -> tuple[float, float]:
        """The negative of a cost that no confusions exceed (gaps are at most 1), and 0."""
        cost = self.cost.reshape(self.n_classes, -1).max(axis=1).sum()  # a class's rates sum to 1
        half = 1.0 if self.form == "gaps" else 0.5
        unfair = half * np.abs(self.violation).sum()
        return -float((1 - self.tradeoff) * cost + self.tradeoff * unfair), 0.0

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
            raise MetricError(
                f"{self.title} compares groups",
                Remedy("pass ", Option("groups"), ", the group of each item"),
            )
        return self(self._counted(y_true, y_pred, sample_weight, groups, classes, pos_label))

    def group_order(self, found: AnyArray) -> AnyArray:
        """Return the groups of data in the order of the metric: matched by name, or refused."""
        if self.groups is None:
            return found
        return align_classes(self.groups, found, "groups", self.title)

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
        if isinstance(confusion, Confusion) and self.classes is not None:
            confusion = confusion.in_order(self._order_of(confusion.classes, name="the confusion"))
        if isinstance(confusion, Confusion) and confusion.groups is not None:
            confusion = confusion.in_group_order(self.group_order(confusion.groups))
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
        names = getattr(confusion, "groups", None)
        names = self.groups if names is None else names
        if names is not None:
            self._require_rates(error_rates(table[None]), np.asarray(names).tolist())
        return table

    @abstractmethod
    def describe(
        self, classes: Sequence[Any] | None = None, groups: Sequence[Any] | None = None
    ) -> str:
        """Say in words what the metric rewards; ``classes`` and ``groups`` are their names."""

    def _worst(self, sizes: FloatArray, names: Sequence[str], groups: Sequence[Any] | None) -> str:
        """Say which error and which pair of groups have the greatest of ``sizes`` (pairs, q)."""
        known = self.groups if groups is None else groups
        known = range(self.n_groups) if known is None else known
        if len(known) != self.n_groups:
            raise MetricError(
                Argument("groups"),
                f" names {len(known)} groups and the metric is for {self.n_groups}",
            )
        pairs = self._pairs()
        p, i = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
        u, v = pairs[int(p)]
        return f"most for {names[int(i)]} between groups {known[u]} and {known[v]}"


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class FairMetric(GroupMetric):
    """Minus the cost of errors and of absolute differences between groups.

    ``φ = −(1−λ)·⟨cost, r⟩ − λ·Σ_{u<v} ⟨violation[uv], |rᵘ − rᵛ|⟩``, where r
    are the error rates ``P(Ŷ=j | Y=i)``, i ≠ j, row by row: of all items, and of each group.
    Hiranandani (2021), Definition 5.1, is a cost; here greater is better, so it has a minus.

    Parameters
    ----------
    cost : array (q,)
        Costs of the errors, at least 0; ``q = k² − k`` for k classes.
    violation : array (pairs, q)
        Costs of differences between groups, at least 0; pairs u < v in lexicographic order.
    tradeoff : float
        λ, between 0 (performance alone) and 1 (equality alone).
    classes, groups : column, optional
        The labels and the groups that the coefficients are about, in their order; of two labels the
        positive one last. Those of data are matched with them by name.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = FairMetric([1, 1], [[0.5, 0.5]], 0.5)
    >>> two_groups = [[[0.2, 0.05], [0.05, 0.2]], [[0.15, 0.1], [0.05, 0.2]]]
    >>> round(metric(two_groups), 6)
    -0.3
    """

    kind: ClassVar[str] = "fair"

    def __init__(
        self,
        cost: Column,
        violation: Frame,
        tradeoff: float,
        classes: Column | None = None,
        groups: Column | None = None,
        *,
        name: str | None = None,
        elicited: Any = None,
    ) -> None:
        costs = read_cost(cost)
        table = check_finite_matrix(violation, "violation")
        if table.ndim != 2 or table.shape[1] != len(costs):
            raise MetricError(
                Argument("violation"),
                f" has shape {table.shape}; expected ",
                Expected(f"(pairs of groups, {len(costs)})"),
            )
        groups_for(len(table))
        if (table < 0).any():
            raise MetricError(
                Argument("violation"),
                f" holds {table.min():g}; expected ",
                Expected("costs of at least 0"),
            )
        self._fill(costs, table, tradeoff, name, classes, groups, elicited)

    @property
    def form(self) -> Form:
        """What a solver may rely on: absolute gaps between groups cost."""
        return "gaps"

    def _violations(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        sizes = np.sqrt(gaps**2 + rounded**2)  # |d|, with a slope at 0 if it is rounded
        return np.asarray(np.einsum("pq,bpq->b", self.violation, sizes))

    def _violation_slopes(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        if rounded > 0:
            return np.asarray(self.violation * gaps / np.sqrt(gaps**2 + rounded**2))
        return np.asarray(self.violation * np.sign(gaps))

    def normalized(self) -> "FairMetric":
        """Return the metric with ``‖cost‖ = 1`` and ``Σ‖violation[uv]‖ = 1`` (eq. 5.10)."""
        a = float(np.linalg.norm(self.cost))
        b = float(np.linalg.norm(self.violation, axis=1).sum())
        parts = rescaled(self.cost, self.violation, self.tradeoff, a, b)
        return self._with(**dict(zip(("cost", "violation", "tradeoff"), parts, strict=True)))

    def describe(
        self, classes: Sequence[Any] | None = None, groups: Sequence[Any] | None = None
    ) -> str:
        """Say in words what errors and differences between groups cost.

        ``classes`` and ``groups`` name the classes and the groups, in the order of the confusions;
        by default those that the metric names, or numbers from 0.
        """
        names = error_names(self._names(classes))
        total = (1 - self.tradeoff) * self.cost
        gap = self.tradeoff * self.violation
        worst = int(np.argmax(total))
        head = f"{self.title[:1].upper()}{self.title[1:]} on {self.n_groups} groups"
        return (
            f"{head}: a point of {names[worst]} costs {total[worst]:.4g}; a point of difference "
            f"between two groups costs up to {gap.max():.4g}, {self._worst(gap, names, groups)}."
        )


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class FairQuadraticMetric(GroupMetric):
    """Minus the cost of errors and of squared differences between groups.

    ``φ = −(1−λ)·⟨cost, r⟩ − λ·½·Σ_{u<v} (rᵘ−rᵛ)ᵀ·violation[uv]·(rᵘ−rᵛ)``, where r
    are the error rates ``P(Ŷ=j | Y=i)``, i ≠ j, row by row: of all items, and of each group.
    Hiranandani (2021), Definition 6.4, is a cost; here greater is better, so it has a minus.

    Parameters
    ----------
    cost : array (q,)
        Costs of the errors, at least 0; ``q = k² − k`` for k classes.
    violation : array (pairs, q, q)
        Positive semidefinite matrices; pairs u < v in lexicographic order.
    tradeoff : float
        λ, between 0 (performance alone) and 1 (equality alone).
    classes, groups : column, optional
        The labels and the groups that the coefficients are about, in their order; of two labels the
        positive one last. Those of data are matched with them by name.
    name : str, optional
        What to call the metric in tables; it takes no part in equality.

    Examples
    --------
    >>> metric = FairQuadraticMetric([1, 1], [[[2, 0], [0, 2]]], 0.5)
    >>> two_groups = [[[0.2, 0.05], [0.05, 0.2]], [[0.15, 0.1], [0.05, 0.2]]]
    >>> round(metric(two_groups), 6)
    -0.27
    """

    kind: ClassVar[str] = "fair-quadratic"

    def __init__(
        self,
        cost: Column,
        violation: Any,
        tradeoff: float,
        classes: Column | None = None,
        groups: Column | None = None,
        *,
        name: str | None = None,
        elicited: Any = None,
    ) -> None:
        costs = read_cost(cost)
        table = check_finite_matrix(violation, "violation")
        q = len(costs)
        if table.ndim != 3 or table.shape[1:] != (q, q):
            raise MetricError(
                Argument("violation"),
                f" has shape {table.shape}; expected ",
                Expected(f"(pairs of groups, {q}, {q})"),
            )
        groups_for(len(table))
        if not np.allclose(table, np.swapaxes(table, 1, 2), rtol=1e-9, atol=1e-12):
            raise MetricError(
                Argument("violation"),
                " is not symmetric",
                Remedy("pass (B + B.T) / 2 for each pair"),
            )
        least = float(np.linalg.eigvalsh(table).min())
        if least < -1e-9 * max(1.0, float(np.abs(table).max())):
            raise MetricError(
                Argument("violation"),
                f" has the eigenvalue {least:.4g}; expected ",
                Expected(
                    "positive semidefinite matrices, so that no difference between groups is "
                    "rewarded"
                ),
            )
        self._fill(costs, table, tradeoff, name, classes, groups, elicited)

    @property
    def form(self) -> Form:
        """What a solver may rely on: squared gaps between groups cost."""
        return "concave"

    def _violations(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        return np.asarray(0.5 * np.einsum("bpi,pij,bpj->b", gaps, self.violation, gaps))

    def _violation_slopes(self, gaps: FloatArray, rounded: float = 0.0) -> FloatArray:
        return np.asarray(np.einsum("pij,bpj->bpi", self.violation, gaps))

    def normalized(self) -> "FairQuadraticMetric":
        """Return the metric with ``‖cost‖ = 1`` and ``½·Σ‖violation[uv]‖_F = 1``."""
        a = float(np.linalg.norm(self.cost))
        b = 0.5 * float(np.linalg.norm(self.violation, axis=(1, 2)).sum())
        parts = rescaled(self.cost, self.violation, self.tradeoff, a, b)
        return self._with(**dict(zip(("cost", "violation", "tradeoff"), parts, strict=True)))

    def describe(
        self, classes: Sequence[Any] | None = None, groups: Sequence[Any] | None = None
    ) -> str:
        """Say in words what errors and differences between groups cost.

        ``classes`` and ``groups`` name the classes and the groups, in the order of the confusions;
        by default those that the metric names, or numbers from 0.
        """
        names = error_names(self._names(classes))
        total = (1 - self.tradeoff) * self.cost
        bend = 0.5 * self.tradeoff * np.diagonal(self.violation, axis1=1, axis2=2)
        worst = int(np.argmax(total))
        head = f"{self.title[:1].upper()}{self.title[1:]} on {self.n_groups} groups"
        return (
            f"{head}: a point of {names[worst]} costs {total[worst]:.4g}; the square of a "
            f"difference between two groups costs up to {bend.max():.4g}, "
            f"{self._worst(bend, names, groups)}."
        )


# --- Checks of what a metric of several groups is made of, and its scale.


def groups_for(pairs: int) -> int:
    """Return the number of groups that have so many pairs."""
    m = (1 + isqrt(1 + 8 * pairs)) // 2
    if pairs < 1 or m * (m - 1) // 2 != pairs:
        raise MetricError(
            f"violation has {pairs} rows; expected one for each pair of groups, m(m−1)/2 for m "
            "groups (1, 3, 6, ...), in the order (0,1), (0,2), ..., (1,2), ..."
        )
    return m


def read_cost(cost: Any) -> FloatArray:
    """Check the costs of the errors: one for each kind, none negative."""
    found = check_finite_matrix(cost, "cost")
    if found.ndim != 1:
        raise MetricError(
            Argument("cost"),
            f" has shape {found.shape}; expected ",
            Expected("(q,), one for each error"),
        )
    classes_for(len(found), "cost")
    if (found < 0).any():
        raise MetricError(
            Argument("cost"),
            f" holds {found.min():g}; expected ",
            Expected("costs of at least 0"),
        )
    return np.asarray(frozen_array(found))


def rescaled(
    cost: FloatArray, violation: FloatArray, tradeoff: float, a: float, b: float
) -> tuple[FloatArray, FloatArray, float]:
    """Return cost over a, violation over b, and the trade-off that keeps the metric up to scale."""
    left, right = (1 - tradeoff) * a, tradeoff * b
    share = right / (left + right) if left + right > 0 else tradeoff
    return (
        cost / a if a > 0 else cost,
        violation / b if b > 0 else violation,
        share,
    )
