"""Metrics that are found from their slopes at several places, those of groups among them."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_flag, refuse_option
from karat.elicit._problems import Problem, Standing
from karat.elicit._rate_space import JointRates, RateSpace
from karat.elicit.families import FairFamily, Family, unit
from karat.elicit.posterior import Brackets
from karat.elicit.search import (
    Site,
    Steps,
    find_slope,
    site_brackets,
    slope_of,
    solve_slopes,
    trace_slope,
    unimodal,
)
from karat.elicit.transcript import Query
from karat.metrics import GroupMetric

_NO_GAPS = 4.0  # times tol: a trade-off below cannot be distinguished from 0


@dataclass(frozen=True, kw_only=True, eq=False)
class SlopeProblem(Problem):
    """A family whose metrics are determined by their slopes at several places.

    ``bisection`` finds each slope by one sweep of antipodal pairs, ``published`` and ``corrected``
    by the signs of all entries and cycles of four questions a halving.
    """

    cycles: ClassVar[int] = 4
    curved: ClassVar[bool] = True
    straight: ClassVar[bool] = False
    oriented: ClassVar[bool] = False  # signs of weights are found, or errors are costs
    sparse: bool = False
    diagonal: bool = False

    def __post_init__(self) -> None:
        """Refuse structure that the published algorithms cannot use."""
        for name in ("sparse", "diagonal"):
            if self.by_paper and getattr(self, name):
                refuse_option(
                    True,
                    name,
                    f"False with strategy={self.strategy!r}, whose algorithm does not use it",
                )

    @cached_property
    def _sites(self) -> list[Site]:
        """Where slopes are searched, in this order."""
        return list(self._published_sites() if self.by_paper else self._chosen_sites())

    @abstractmethod
    def _chosen_sites(self) -> Iterator[Site]:
        """Return the sites of ``bisection``: those whose slopes say most."""

    @abstractmethod
    def _published_sites(self) -> Iterator[Site]:
        """Return the sites of ``published``."""

    def _before(self, i: int, brackets: Brackets) -> None:
        """Prepare the search of slope i, such as by a plane that the slope lies in."""

    def first_brackets(self) -> Brackets:
        if self.strategy == "active":
            return Brackets.of(0.0, 0.0, 0)
        return site_brackets(self._sites)

    def bisection(self, brackets: Brackets) -> Steps:
        for i in range(len(self._sites)):
            self._before(i, brackets)
            # What every other slope is measured against is found four times as finely.
            tol = self.tol / 4 if self._sites[i].positive else self.tol
            yield from find_slope(brackets, self._sites, i, tol, sparse=self.sparse)

    def published(self, brackets: Brackets) -> Steps:
        for i in range(len(self._sites)):
            self._before(i, brackets)
            yield from trace_slope(brackets, self._sites, i, self.tol, self.cycles)

    def n_comparable(self, n: int) -> int:
        return self.space.dim  # the weights of the rates; those of their products are not

    def affordable(self, draws: int) -> int:
        # a metric takes about size³ steps; 40 is the size at which that begins to be slow
        return int(np.clip(draws * (40.0 / self._largest_system) ** 3, min(draws, 20), draws))

    @property
    @abstractmethod
    def _largest_system(self) -> int:
        """Return the number of unknowns that are solved for at once."""


def flat_sites(brackets: Brackets) -> list[int]:
    """Return the sites at which no direction made a difference."""
    return [i for i, signs in enumerate(brackets.signs) if not signs.any()]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupProblem(SlopeProblem):
    """How errors are traded against gaps between groups.

    The metric is ``−(1−λ)⟨a, r⟩ − λ v`` with v a violation: what gaps between groups cost. The cost
    a is the slope where all groups have the same rates. Where they differ, the slope in the rates
    of one group is a known multiple of a and what its gaps to the others cost, in the same unit; so
    the violation comes out as ``λ/(1−λ)`` times itself, and λ needs no question.
    """

    default_tol: ClassVar[float] = 1e-3
    space: RateSpace
    cost: FloatArray | None = None
    violation: FloatArray | None = None
    same_pairs: bool = False

    def __post_init__(self) -> None:
        """Check the options, and what is known of the metric."""
        self._keep(
            same_pairs=check_flag(self.same_pairs, "same_pairs"),
            sparse=check_flag(self.sparse, "sparse"),
            diagonal=check_flag(self.diagonal, "diagonal"),
        )
        cost, violation = self._checked_parts(self.cost, self.violation)
        self._keep(cost=cost, violation=violation)
        super().__post_init__()

    @cached_property
    def joint(self) -> JointRates:
        """The rates of every group side by side."""
        return JointRates(self.space)

    def _checked_parts(self, cost: Any, violation: Any) -> tuple[FloatArray | None, ...]:
        """Check what is known by the metric it would make."""
        q, pairs = self.joint.q, len(self.joint.pairs)
        metric = self._metric_of(
            np.ones(q) if cost is None else cost,
            self._even(pairs) if violation is None else violation,
        )
        if len(metric.cost) != q or len(metric.violation) != pairs:
            refuse_option(
                *((cost, "cost") if len(metric.cost) != q else (violation, "violation")),
                f"weights for the {self.joint.space.n_classes} classes and {self.joint.n_groups} "
                f"groups of the space, and not for {metric.n_classes} and {metric.n_groups}",
            )
        if cost is not None and not metric.cost.any():
            refuse_option(cost, "cost", "a cost above 0 for some error, or None to elicit it")
        if violation is not None and not metric.violation.any():
            refuse_option(violation, "violation", "a weight above 0, or None to elicit it")
        if violation is not None and self.same_pairs:
            refuse_option(True, "same_pairs", "False where the violation is given")
        return (
            None if cost is None else metric.cost,
            None if violation is None else metric.violation.reshape(pairs, -1),
        )

    @abstractmethod
    def _metric_of(self, cost: Any, violation: Any) -> GroupMetric:
        """Return a metric of a cost and a violation."""

    @abstractmethod
    def _even(self, pairs: int) -> FloatArray:
        """Return a violation that weighs everything alike."""

    @property
    def options(self) -> dict[str, Any]:
        cost, violation = self.cost, self.violation
        return {
            **super().options,
            "cost": None if cost is None else cost.tolist(),
            "violation": None if violation is None else self._shaped(violation).tolist(),
        }

    def _shaped(self, violation: FloatArray) -> FloatArray:
        return violation

    @property
    def question_space(self) -> JointRates:
        """The rates of every group side by side."""
        return self.joint

    @cached_property
    def gaps(self) -> FairFamily:
        """The family of metrics that is elicited, with what is known."""
        return self._fair_family(
            cost=self.cost,
            violation=self.violation,
            same_pairs=self.same_pairs,
            sparse=self.sparse,
        )

    @abstractmethod
    def _fair_family(self, **options: Any) -> FairFamily:
        """Return the family with what is known."""

    def family(self, flipped: bool = False) -> Family:
        return self.gaps

    def n_comparable(self, n: int) -> int:
        return 0 if self.cost is not None else self.space.dim

    # --- sites

    def _site(
        self, rates: FloatArray, moving: tuple[int, ...], radius: float, *, positive: bool = False
    ) -> Site:
        """Return the site at the rates (m, q) of all groups, of which some move together."""
        groups = list(moving)

        def table(offsets: FloatArray) -> FloatArray:
            there = np.repeat(rates[None], len(offsets), axis=0)
            there[:, groups] += radius * offsets[:, None, :]
            return self.space.group_confusion(there)

        dim = self.joint.q
        if self.violation is not None and not positive:
            dim = min(dim, 2)  # the slope lies in the plane of two known vectors
        return Site(table, self.joint.q, dim, sign=-1, positive=positive)

    @property
    def _centers(self) -> FloatArray:
        return np.tile(self.space.center, (self.joint.n_groups, 1))

    def _cost_site(self) -> Site:
        """Return the site at which all groups have the same rates, so that only errors count."""
        everyone = tuple(range(self.joint.n_groups))
        return self._site(self._centers, everyone, self.space.common_radius, positive=True)

    @property
    def _n_cost_sites(self) -> int:
        return 0 if self.cost is not None else 1

    # --- what slopes say

    def _cost(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        """Return the cost (n, q), known or found; 0 where errors make no difference."""
        if self.cost is not None:
            return np.tile(unit(self.cost), (len(angles), 1))
        return slope_of(angles, brackets, self._sites, 0)

    def _solved(
        self, slopes: list[FloatArray], knowns: list[FloatArray], designs: list[FloatArray]
    ) -> FloatArray:
        """Return θ (n, size) such that each gradient ``known + design θ`` is along its slope."""
        return solve_slopes(slopes, knowns, designs, self._admissible, self.tol)

    @abstractmethod
    def _admissible(self, theta: FloatArray) -> FloatArray:
        """Return the nearest parameters (n, size) that a violation may have."""

    # --- the published partitions of the groups

    @property
    def _partitions(self) -> list[tuple[int, ...]]:
        """Return 𝓜: single groups and pairs of them, but for the last group.

        All pairs, which Hiranandani 2021 names, do not determine the violation for four groups.
        """
        if self.same_pairs:
            return [(0,)]
        first = range(self.joint.n_groups - 1)
        return [(i,) for i in first] + list(combinations(first, 2))

    def _of_pairs(self, sums: FloatArray) -> FloatArray:
        """Return the violation of each pair (n, pairs, f) from that across partitions."""
        pairs = self.joint.pairs
        inside = [np.isin(pairs, part).sum(axis=1) == 1 for part in self._partitions]
        if self.same_pairs:
            return np.repeat(sums / inside[0].sum(), len(pairs), axis=1)
        across = np.linalg.inv(np.array(inside, dtype=float))
        return np.asarray(np.einsum("ps,nsf->npf", across, sums))

    def _trade_off_search(self, brackets: Brackets) -> Steps:
        """Search λ by four questions a halving (Hiranandani 2021, Algorithms 5.2 and D.3)."""
        at = len(brackets.low) - 1
        step = self._trade_off_steps(brackets.middle[None], brackets)

        def query(first: float, second: float) -> Query:
            tables = []
            for share in (first, second):
                rates = self._centers
                rates[0] = step(share)
                tables.append(self.space.group_confusion(rates))
            return Query(*tables)

        yield from unimodal(brackets, at, self.tol, query)

    def _with_trade_off(
        self, cost: FloatArray, violation: FloatArray, tradeoff: FloatArray
    ) -> FloatArray:
        """Return parameters; λ is 1 where no error counts (n, q), and 0 where no gap does."""
        errors = np.asarray(cost.any(axis=1))
        gaps = np.asarray(violation.any(axis=(1, 2)))
        share = np.where(errors, np.where(gaps, np.clip(tradeoff, 0.0, 1.0), 0.0), 1.0)
        even = np.full_like(cost, self.joint.q**-0.5)
        return self.gaps.write(np.where(errors[:, None], cost, even), violation, share)

    @abstractmethod
    def _trade_off_steps(self, angles: FloatArray, brackets: Brackets) -> Any:
        """Return a function from λ to the rates of the first group that are best for it."""

    # --- degenerate answers

    @property
    @abstractmethod
    def _linked(self) -> bool:
        """Whether slopes compare what gaps cost between pairs where errors cost nothing."""

    def unidentified(self, run: Standing) -> str | None:
        if self.strategy == "active":
            return None
        said = set(run.answers) - {"skip"}
        if not said & {"first", "second"}:
            why = "made a difference" if said else "was answered"
            return f"no question {why}; nothing is known of the metric"
        if self.cost is None and 0 in flat_sites(run.brackets):
            words = (
                "no error made a difference while all groups had the same rates: only gaps count "
                "(λ = 1), or differences are too small to see. The cost of errors is arbitrary"
            )
            several = len(self.joint.pairs) > 1 and not self.same_pairs and self.violation is None
            if several and not self._linked:
                words += ", and so is what the gaps of one pair of groups cost against another's"
            return words
        tradeoff = self.gaps.read(self.estimate(run.brackets)[None])[2][0]
        if tradeoff < _NO_GAPS * self.tol:
            words = f"gaps between groups made no difference (λ = {tradeoff:.2g}, as good as 0)"
            return words + (": what each gap costs is arbitrary" if self.violation is None else "")
        return None
