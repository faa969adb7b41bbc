"""Groups: what errors cost, what squared gaps between groups cost, and the trade-off."""

from collections.abc import Iterator
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import check_flag
from karat.elicit.families import TINY, FairFamily, Monomials, SquaredGaps, unit
from karat.elicit.procedure import GroupProcedure
from karat.elicit.search import (
    Brackets,
    Site,
    Steps,
    curvature_of_ratios,
    informative_places,
    slope_of,
)
from karat.elicit.spaces import Space
from karat.metrics import FairQuadraticMetric, GroupMetric

__all__ = ["FairQuadratic"]

_STEP = 0.9  # of the common radius: how far the published balls are from the center
_PLACES = 250  # extreme points to choose places from
# Where gaps cost much more than errors, a slope across a wide gap hardly shows the errors; shares
# of the way at which slopes are searched again.
_NEARER = (1 / 8, 1 / 64)


class FairQuadratic(GroupProcedure):
    """Elicits how errors are traded against squared gaps in error rates between groups.

    The metric is ``−(1−λ)⟨a, r⟩ − ½λ Σ_{u<v} dᵀB^{uv}d`` with ``d = r^u − r^v`` (Hiranandani 2021,
    Definition 6.4). ``bisection`` finds the slope in the rates of group u while v stands at a place
    far from it and all other groups guess as u does: it is ``τ_u ⊙ a − B^{uv}(z_v − o)``, of one
    pair alone. Slopes for places spread over what v attains determine ``B^{uv}`` in units of a, and
    λ without a question. ``published`` is Algorithm D.2 with its slips corrected: Algorithm 6.1 for
    partitions of the groups within a ball that all attain (D.3 where only λ is unknown). ``tol`` is
    the width of each angle in radians, 0.004 by default.

    Parameters
    ----------
    space : RateSpace
        What classifiers attain, with groups.
    cost : array (q,), optional
        The cost of each error, if it is known; then only the rest is elicited.
    violation : array (pairs, q, q), optional
        What gaps cost, if it is known; with ``cost`` only λ is elicited.
    same_pairs : bool, default False
        Whether gaps cost the same between any two groups.
    diagonal : bool, default False
        Whether every B is diagonal.
    sparse : bool, default False
        Whether many weights are expected to be 0.
    **options
        Those of every procedure; see `Procedure`.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import MetricOracle, RateSpace
    >>> from karat.metrics import FairQuadraticMetric
    >>> law = LogisticLaw.binary(5.0)
    >>> x, y = law.sample(4000, rng=0)
    >>> groups = np.where(np.arange(4000) % 3, "a", "b")
    >>> space = RateSpace.from_proba(y, law.proba(x), groups=groups)
    >>> person = MetricOracle(FairQuadraticMetric([0.6, 0.8], [[[2, 0], [0, 0]]], 0.4))
    >>> result = FairQuadratic(space, strategy="bisection").run(person)
    >>> result.n_queries, round(result.metric.tradeoff, 1)
    (67, 0.4)
    """

    default_tol: ClassVar[float] = 0.004

    def __init__(self, space: Space, *, diagonal: bool = False, **options: Any) -> None:
        self.diagonal = check_flag(diagonal, "diagonal")
        super().__init__(space, **options)

    def _own_options(self) -> dict[str, Any]:
        return {**super()._own_options(), "diagonal": self.diagonal}

    def _metric_of(self, cost: Any, violation: Any) -> GroupMetric:
        return FairQuadraticMetric(cost, violation, 0.5)

    def _even(self, pairs: int) -> FloatArray:
        return np.tile(np.eye(self.joint.q), (pairs, 1, 1))

    def _shaped(self, violation: FloatArray) -> FloatArray:
        return violation.reshape(len(violation), self.joint.q, self.joint.q)

    def _fair_family(self, **options: Any) -> FairFamily:
        self._check_structure(diagonal=self.diagonal)
        return SquaredGaps(self.joint, diagonal=self.diagonal, **options)

    # --- bisection

    @cached_property
    def _monomials(self) -> Monomials:
        return Monomials(self.joint.q, 2, diagonal=self.diagonal)

    @cached_property
    def _layout(self) -> list[tuple[int, FloatArray]]:
        """Return for each site the pair of groups and the gap (q,) between them, seen from u."""
        q, center = self.joint.q, self.space.center
        if self.violation is not None:
            gaps = center - self._places_of(self.joint.pairs[0][1])
            pull = np.linalg.norm(gaps @ self._shaped(self.violation)[0], axis=1)
            widest = gaps[int(np.argmax(np.round(pull, 9)))]
            return [(0, widest * share) for share in (1.0, *_NEARER)]
        unknown = self._monomials.size - q
        n = ceil(unknown / (q - 1)) if self.diagonal else max(q, ceil(unknown / (q - 1)))
        n += q > 2  # one more than equations ask for
        layout = []
        for p, (_, v) in enumerate(self.joint.pairs[:1] if self.same_pairs else self.joint.pairs):
            gaps = center - self._places_of(v)
            chosen = informative_places(gaps[:, None, :], n)
            layout += [(p, gap) for gap in gaps[chosen]]
            layout += [(p, gaps[chosen[0]] * share) for share in _NEARER]
        return layout

    def _places_of(self, group: int) -> FloatArray:
        """Return rates that a group attains, far from guessing."""
        points = self.space.parts[group].some_extremes[:_PLACES]
        return np.vstack([points, (points + np.roll(points, 1, axis=0)) / 2])

    def _chosen_sites(self) -> Iterator[Site]:
        if self.cost is None:
            yield self._cost_site()
        for p, gap in self._layout:
            u, v = self.joint.pairs[p]
            rates = self._centers
            rates[v] -= gap
            yield self._site(rates, (int(u),), self.space.group_radii[u])

    def _before(self, i: int) -> None:
        at = i - self._n_cost_sites
        if self.violation is None or at < 0 or self.strategy == "published":
            return
        if self.joint.q > 2:
            cost = self._cost(self._brackets.middle[None], self._brackets)[0]
            known = cost * self.joint.prevalence[self.joint.pairs[0][0]]
            plane = np.stack([known, self._pull(at)], axis=1)
            self._brackets.bases[i] = np.linalg.svd(plane, full_matrices=False)[0]

    def _pull(self, at: int) -> FloatArray:
        """Return what the known gaps add to a slope."""
        assert self.family.violation is not None
        return np.asarray(self._shaped(self.family.violation)[0] @ self._layout[at][1])

    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        if self.strategy == "published":
            return self._published_parameters(angles, brackets)
        n, q, start = len(angles), self.joint.q, self._n_cost_sites
        cost, pairs = self._cost(angles, brackets), len(self.joint.pairs)
        slopes = [slope_of(angles, brackets, self._sites, i) for i in range(len(self._sites))]
        if self.violation is not None:
            known = cost * self.joint.prevalence[self.joint.pairs[0][0]]
            pulls = [self._pull(at)[:, None] for at in range(len(self._layout))]
            scale = self._solved(slopes[start:], [known] * len(pulls), pulls)
            assert self.family.violation is not None
            scaled = scale[:, :, None] * self.family.violation
            return self.family.parameters_of(cost, scaled)
        found = np.zeros((n, pairs, q * q))
        for p in range(1 if self.same_pairs else pairs):
            at = [i for i, (pair, _) in enumerate(self._layout) if pair == p]
            known = cost * self.joint.prevalence[self.joint.pairs[p][0]]
            designs = [self._monomials.gradient(self._layout[i][1])[:, q:] for i in at]
            theta = self._solved([slopes[start + i] for i in at], [known] * len(at), designs)
            found[:, p] = theta @ self._matrices
        if self.same_pairs:
            found[:] = found[:, :1]
        return self.family.parameters_of(cost, found)

    def _admissible(self, theta: FloatArray) -> FloatArray:
        """Return weights of the monomials whose matrix is positive semi-definite."""
        if self.violation is not None:  # only a scale is left
            return np.maximum(theta, 0.0)
        # Thousands of times for few rows each, so without a loop over the monomials.
        entries = self._positive(theta @ self._matrices)[:, self._places]
        return np.asarray(entries * self._monomials.tensor_roots[self.joint.q :])

    @cached_property
    def _places(self) -> IntArray:
        """Where the monomials of degree 2 stand in a matrix of one row, (size,)."""
        q = self.joint.q
        return np.array([i * q + j for i, j in self._monomials.exponents[q:]])

    @cached_property
    def _matrices(self) -> FloatArray:
        """The symmetric matrices (size, q²) of the monomials of degree 2."""
        q = self.joint.q
        weights = np.diag(1.0 / self._monomials.tensor_roots[q:])
        matrices = np.zeros((len(weights), q, q))
        for (i, j), weight in zip(self._monomials.exponents[q:], weights.T, strict=True):
            matrices[:, i, j] = matrices[:, j, i] = weight
        return matrices.reshape(len(weights), q * q)

    def _positive(self, violation: FloatArray) -> FloatArray:
        """Return the nearest positive semi-definite matrices (..., q²)."""
        return self.family.nearest_violation(violation)

    @property
    def _largest_system(self) -> int:
        return 1 + self._monomials.size - self.joint.q

    @property
    def _linked(self) -> bool:
        return False  # each slope is of one pair alone

    # --- Algorithm D.2

    def _published_sites(self) -> Iterator[Site]:
        q, radius = self.joint.q, self.space.common_radius
        if self.violation is not None:
            if self.cost is None:
                yield self._cost_site()
            return
        shifts = _STEP * radius * np.vstack([np.zeros(q), np.eye(q), -np.eye(q)[:1]])
        for part in self._partitions:
            for shift in shifts:
                rates = self._centers
                rates[list(part)] += shift
                yield self._site(rates, part, (1.0 - _STEP) * radius)

    def _first_brackets(self) -> Brackets:
        brackets = super()._first_brackets()
        searched = self.strategy == "published" and self.violation is not None
        return brackets.extended(0.0, 1.0) if searched else brackets

    def _published(self) -> Steps:
        yield from super()._published()
        if self.violation is not None:
            yield from self._trade_off_search()

    def _published_parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        n, q = len(angles), self.joint.q
        if self.family.violation is not None:
            violation = np.repeat(self.family.violation[None], n, axis=0)
            return self._with_trade_off(self._cost(angles, brackets), violation, angles[:, -1])
        slopes = [slope_of(angles, brackets, self._sites, i) for i in range(len(self._sites))]
        if not slopes[0].any():  # D.2 divides by what errors cost: what gaps cost is not known
            even = np.repeat(
                self.family.normalized(self._even(len(self.joint.pairs)).reshape(1, -1, q * q)),
                n,
                axis=0,
            )
            return self._with_trade_off(np.zeros((n, q)), even, np.ones(n))
        step, costs, bends = _STEP * self.space.common_radius, [], []
        for at, part in enumerate(self._partitions):
            share = self.joint.prevalence[list(part)].sum(axis=0)
            near = slopes[at * (q + 2) : (at + 1) * (q + 2)]
            costs.append(unit(np.maximum(near[0] / share, 0.0) + TINY))
            size = np.linalg.norm(costs[-1] * share, axis=1)
            bends.append(curvature_of_ratios(near, step).reshape(n, -1) * size[:, None])
        cost = unit(np.mean(costs, axis=0)) if self.cost is None else np.tile(self.cost, (n, 1))
        violation = self._of_pairs(np.stack(bends, axis=1))
        return self.family.parameters_of(unit(cost), self._positive(violation))

    def _unidentified(self) -> str | None:
        if (
            self.strategy == "published"
            and self.violation is None
            and self._flat_sites()[:1] == [0]
        ):
            return (
                "no error made a difference where groups have the same rates (λ = 1), and "
                "Algorithm D.2 measures gaps against errors: what gaps cost is arbitrary. Use "
                "strategy='bisection'"
            )
        return super()._unidentified()

    def _trade_off_steps(self, angles: FloatArray) -> Any:
        cost = self._cost(angles, self._brackets)[0]
        assert self.family.violation is not None
        mine = self.joint.pairs[:, 0] == 0
        bend = self._shaped(self.family.violation)[mine].sum(axis=0)
        place = _STEP * self.space.common_radius * np.eye(self.joint.q)[0]

        def rates(share: float) -> FloatArray:
            slope = (1.0 - share) * self.joint.prevalence[0] * cost + share * bend @ place
            small = (1.0 - _STEP) * self.space.common_radius
            return np.asarray(self.space.center + place - small * unit(slope + TINY))

        return rates
