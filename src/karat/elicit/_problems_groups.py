"""What differences between groups are worth, beside what errors cost."""

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from math import ceil
from typing import Any, ClassVar

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.elicit._problems import Standing
from karat.elicit._problems_slopes import GroupProblem, flat_sites
from karat.elicit.families import TINY, FairFamily, Family, LinearGaps, Monomials, SquaredGaps, unit
from karat.elicit.posterior import Brackets
from karat.elicit.search import (
    Site,
    Steps,
    curvature_of_ratios,
    informative_places,
    off_slope,
    slope_of,
)
from karat.metrics import FairMetric, FairQuadraticMetric, GroupMetric

_PATTERNS = 400  # ways to fix the other groups, to choose from
_CLEAR = 0.4  # least singular value of the equations that the slopes of a group must leave
_MOST_EXTRA = 4  # slopes more than equations ask for


class LinearGroups(GroupProblem):
    """How errors are traded against gaps in error rates between groups.

    The metric is ``−(1−λ)⟨a, r⟩ − λ Σ_{u<v} ⟨b^{uv}, |r^u − r^v|⟩`` (Hiranandani 2021, Definition
    5.1). ``bisection`` finds the slope in the rates of one group while the others predict one class
    always, each its own; the signs of all gaps are then known and the metric is linear. Slopes of a
    group determine what its gaps to all others cost, and λ without a question (188 questions for
    three classes and two groups, tolerance 0.001, where Hiranandani 2021 takes 2,680).
    ``corrected`` is Algorithm 5.1 with its slips corrected: slopes of partitions of the groups over
    the whole sphere, and Algorithm 5.2 for λ.
    """

    takes: ClassVar[tuple[str, ...]] = ("cost", "violation", "same_pairs", "sparse")
    wider: ClassVar[str | None] = "quadratic"
    wider_options: ClassVar[tuple[str, ...]] = ("cost", "same_pairs")
    correction: ClassVar[str | None] = (
        "slopes are searched over the whole sphere, and equation 5.18 is solved without its slips"
    )

    def _metric_of(self, cost: Any, violation: Any) -> GroupMetric:
        return FairMetric(cost, violation, 0.5)

    def _even(self, pairs: int) -> FloatArray:
        return np.ones((pairs, self.joint.q))

    def _fair_family(self, **options: Any) -> FairFamily:
        return LinearGaps(self.joint, **options)

    def wider_family(self) -> Family | None:
        return SquaredGaps(self.joint, cost=self.cost, same_pairs=self.same_pairs)

    def _admissible(self, theta: FloatArray) -> FloatArray:
        return np.maximum(theta, 0.0)

    # --- bisection

    @cached_property
    def _layout(self) -> list[tuple[int, FloatArray]]:
        """Return for each site the group that moves and what the others predict always (m,)."""
        m, k, q = self.joint.n_groups, self.space.n_classes, self.joint.q
        signs = np.stack([1.0 - 2.0 * self.joint.constant(c) for c in range(k)])
        patterns = np.array(list(product(range(k), repeat=m - 1)))
        some = np.random.default_rng(0).permutation(len(patterns))[:_PATTERNS]
        patterns = patterns[np.sort(some)]
        layout = []
        if self.violation is not None:
            # one pattern is enough for λ alone: any one in which the groups differ
            return [(0, np.zeros(m, dtype=int))]
        for u in range(1 if self.same_pairs else m - 1):
            unknown = 1 if self.same_pairs else m - 1 - u
            others = signs[patterns]  # (patterns, m − 1, q)
            parts = others.mean(axis=1, keepdims=True) if self.same_pairs else others[:, u:]
            features = np.concatenate([np.ones((len(patterns), 1, q)), parts], axis=1)
            features = features.swapaxes(1, 2)  # (patterns, q, 1 + unknown)
            least = ceil(unknown * q / (q - 1))
            for n in range(least, least + _MOST_EXTRA + 1):
                chosen = informative_places(features, n)
                if _clearness(features[chosen]) >= _CLEAR:
                    break
            layout += [(u, np.insert(patterns[at], u, 0)) for at in chosen]
        return layout

    def _rates(self, u: int, labels: FloatArray) -> FloatArray:
        """Return the rates of all groups: u guesses, the others predict one class always."""
        rates = np.stack([self.joint.constant(int(label)) for label in labels])
        rates[u] = self.space.center
        return rates

    def _chosen_sites(self) -> Iterator[Site]:
        if self.cost is None:
            yield self._cost_site()
        for u, labels in self._layout:
            radius = self.space.group_radii[u]
            yield self._site(self._rates(u, labels), (u,), radius)

    def _gap_signs(self, u: int, labels: FloatArray) -> dict[int, FloatArray]:
        """Return for each pair that u is in the signs of its gaps, seen from u."""
        signs = {}
        for p, (first, second) in enumerate(self.joint.pairs):
            if u in (first, second):
                other = second if u == first else first
                signs[p] = 1.0 - 2.0 * self.joint.constant(int(labels[other]))
        return signs

    def _before(self, i: int, brackets: Brackets) -> None:
        if self.violation is None or i < self._n_cost_sites:
            return
        known, gaps = self._plane(brackets.middle[None], brackets, i)
        if known.shape[1] > 2:
            span = np.linalg.svd(np.stack([known[0], gaps], axis=1), full_matrices=False)[0]
            brackets.bases[i] = span

    def _plane(
        self, angles: FloatArray, brackets: Brackets, i: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return what errors (n, q) and known gaps (q,) add to the slope at a site."""
        violation = self.gaps.violation
        assert violation is not None
        u, labels = self._layout[i - self._n_cost_sites]
        gaps = sum(sign * violation[p] for p, sign in self._gap_signs(u, labels).items())
        return self._cost(angles, brackets) * self.joint.prevalence[u], np.asarray(gaps)

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        if self.by_paper:
            return self._published_parameters(angles, brackets)
        cost = self._cost(angles, brackets)
        n, q, pairs = len(angles), self.joint.q, len(self.joint.pairs)
        found = np.zeros((n, pairs, q))
        start = self._n_cost_sites
        if self.violation is not None:
            known, gaps = self._plane(angles, brackets, start)
            slope = slope_of(angles, brackets, self._sites, start)
            scale = self._solved([slope], [known], [gaps[:, None]])
            assert self.gaps.violation is not None
            return self.gaps.parameters_of(cost, scale[:, :, None] * self.gaps.violation)
        for u in range(self.joint.n_groups - 1):
            at = [i for i, (group, _) in enumerate(self._layout) if group == u]
            if not at:
                break
            slopes = [slope_of(angles, brackets, self._sites, start + i) for i in at]
            signs = [self._gap_signs(u, self._layout[i][1]) for i in at]
            fresh = [p for p in signs[0] if min(self.joint.pairs[p]) == u]
            knowns, designs = [], []
            for sign in signs:
                before = sum(sign[p] * found[:, p] for p in sign if p not in fresh)
                knowns.append(cost * self.joint.prevalence[u] + before)
                blocks = [np.diag(sign[p]) for p in fresh]
                designs.append(np.sum(blocks, axis=0) if self.same_pairs else np.hstack(blocks))
            theta = self._solved(slopes, knowns, designs)
            if self.same_pairs:
                found[:] = theta[:, None, :]
            else:
                found[:, fresh] = theta.reshape(n, len(fresh), q)
        return self.gaps.parameters_of(cost, found)

    @property
    def _largest_system(self) -> int:
        # twice, for the descents that some draws need
        return 2 + 2 * self.joint.q * (1 if self.same_pairs else self.joint.n_groups - 1)

    @property
    def _linked(self) -> bool:
        return self.space.n_classes > 2  # of two classes, patterns come in opposite pairs

    # --- Algorithm 5.1

    def _published_sites(self) -> Iterator[Site]:
        if self.cost is None:
            yield self._cost_site()
        if self.violation is None:
            everyone = range(self.joint.n_groups)
            for part in self._partitions:
                rest = tuple(g for g in everyone if g not in part)
                for label in (0, self.space.n_classes - 1):
                    rates = self._centers
                    rates[list(part)] = self.joint.constant(label)
                    yield self._site(rates, rest, self.space.common_radius)

    def first_brackets(self) -> Brackets:
        brackets = super().first_brackets()
        return brackets.extended(0.0, 1.0) if self.by_paper else brackets

    def published(self, brackets: Brackets) -> Steps:
        yield from super().published(brackets)
        yield from self._trade_off_search(brackets)

    def _published_violation(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        """Return the violation in units of the cost, by equation 5.18 and its system 5.21."""
        if self.gaps.violation is not None:
            return np.repeat(self.gaps.violation[None], len(angles), axis=0)
        cost, start, sums = self._cost(angles, brackets), self._n_cost_sites, []
        first, last = (1.0 - 2.0 * self.joint.constant(c) for c in (0, self.space.n_classes - 1))
        for at, part in enumerate(self._partitions):
            share = cost * (1.0 - self.joint.prevalence[list(part)].sum(axis=0))
            one, other = (
                slope_of(angles, brackets, self._sites, start + 2 * at + i) for i in (0, 1)
            )
            # w(δf − c) is the same for both: two unknown lengths, by least squares
            left = np.stack([first * last * one, -other], axis=2)
            right = share * (first * last - 1.0)
            gram = left.swapaxes(1, 2) @ left + 1e-15 * np.eye(2)
            lengths = np.linalg.solve(gram, left.swapaxes(1, 2) @ right[:, :, None])[:, :, 0]
            if not cost.any():
                lengths = np.ones_like(lengths)
            sums.append(first * (lengths[:, :1] * one - share))
        return np.maximum(self._of_pairs(np.stack(sums, axis=1)), 0.0)

    def _published_parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        cost = self._cost(angles, brackets)
        violation = self.gaps.normalized(self._published_violation(angles, brackets))
        return self._with_trade_off(cost, violation, angles[:, -1])

    def _trade_off_steps(self, angles: FloatArray, brackets: Brackets) -> Any:
        cost = self._cost(angles, brackets)[0]
        violation = self.gaps.normalized(self._published_violation(angles, brackets))[0]
        gaps = violation[self.joint.pairs[:, 0] == 0].sum(axis=0)
        radius = self.space.common_radius / (1.0 + np.sqrt(self.joint.q))  # all rates rise

        def rates(share: float) -> FloatArray:
            slope = (1.0 - share) * self.joint.prevalence[0] * cost + share * gaps
            return np.asarray(self.space.center + radius * (1.0 - unit(slope + TINY)))

        return rates


def _clearness(signs: FloatArray) -> float:
    """Return how clearly slopes determine what gaps cost: the second least singular value.

    ``signs`` are (sites, q, 1 + pairs), a 1 for the errors first. The median over random weights.
    """
    _, q, size = signs.shape
    values = []
    for weights in np.abs(np.random.default_rng(0).normal(size=(9, size, q))) / size:
        rows = []
        for sign in signs:
            gradient = np.einsum("qs,sq->q", sign, weights)
            design = np.hstack([weights[0][:, None], *(np.diag(w) for w in sign.T[1:])])
            rows.append(off_slope(unit(gradient)[None], design[None])[0])
        values.append(np.linalg.svd(np.vstack(rows), compute_uv=False)[-2])
    return float(np.median(values))


_STEP = 0.9  # of the common radius: how far the published balls are from the center
_PLACES = 250  # extreme points to choose places from
# Where gaps cost much more than errors, a slope across a wide gap hardly shows the errors; shares
# of the way at which slopes are searched again.
_NEARER = (1 / 8, 1 / 64)


class QuadraticGroups(GroupProblem):
    """How errors are traded against squared gaps in error rates between groups.

    The metric is ``−(1−λ)⟨a, r⟩ − ½λ Σ_{u<v} dᵀB^{uv}d`` with ``d = r^u − r^v`` (Hiranandani 2021,
    Definition 6.4). ``bisection`` finds the slope in the rates of group u while v stands at a place
    far from it and all other groups guess as u does: it is ``τ_u ⊙ a − B^{uv}(z_v − o)``, of one
    pair alone. Slopes for places spread over what v attains determine ``B^{uv}`` in units of a, and
    λ without a question. ``corrected`` is Algorithm D.2 with its slips corrected: Algorithm 6.1 for
    partitions of the groups within a ball that all attain (D.3 where only λ is unknown). ``tol`` is
    the width of each angle in radians, 0.004 by default.

    Attributes
    ----------
    diagonal : bool
        Whether every B is diagonal.
    """

    takes: ClassVar[tuple[str, ...]] = ("cost", "violation", "same_pairs", "sparse", "diagonal")
    default_tol: ClassVar[float] = 0.004
    correction: ClassVar[str | None] = "the slips of Algorithm D.2 are mended"

    def _metric_of(self, cost: Any, violation: Any) -> GroupMetric:
        return FairQuadraticMetric(cost, violation, 0.5)

    def _even(self, pairs: int) -> FloatArray:
        return np.tile(np.eye(self.joint.q), (pairs, 1, 1))

    def _shaped(self, violation: FloatArray) -> FloatArray:
        return violation.reshape(len(violation), self.joint.q, self.joint.q)

    def _fair_family(self, **options: Any) -> FairFamily:
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

    def _before(self, i: int, brackets: Brackets) -> None:
        at = i - self._n_cost_sites
        if self.violation is None or at < 0 or self.by_paper:
            return
        if self.joint.q > 2:
            cost = self._cost(brackets.middle[None], brackets)[0]
            known = cost * self.joint.prevalence[self.joint.pairs[0][0]]
            plane = np.stack([known, self._pull(at)], axis=1)
            brackets.bases[i] = np.linalg.svd(plane, full_matrices=False)[0]

    def _pull(self, at: int) -> FloatArray:
        """Return what the known gaps add to a slope."""
        assert self.gaps.violation is not None
        return np.asarray(self._shaped(self.gaps.violation)[0] @ self._layout[at][1])

    def parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        if self.by_paper:
            return self._published_parameters(angles, brackets)
        n, q, start = len(angles), self.joint.q, self._n_cost_sites
        cost, pairs = self._cost(angles, brackets), len(self.joint.pairs)
        slopes = [slope_of(angles, brackets, self._sites, i) for i in range(len(self._sites))]
        if self.violation is not None:
            known = cost * self.joint.prevalence[self.joint.pairs[0][0]]
            pulls = [self._pull(at)[:, None] for at in range(len(self._layout))]
            scale = self._solved(slopes[start:], [known] * len(pulls), pulls)
            assert self.gaps.violation is not None
            scaled = scale[:, :, None] * self.gaps.violation
            return self.gaps.parameters_of(cost, scaled)
        found = np.zeros((n, pairs, q * q))
        for p in range(1 if self.same_pairs else pairs):
            at = [i for i, (pair, _) in enumerate(self._layout) if pair == p]
            known = cost * self.joint.prevalence[self.joint.pairs[p][0]]
            designs = [self._monomials.gradient(self._layout[i][1])[:, q:] for i in at]
            theta = self._solved([slopes[start + i] for i in at], [known] * len(at), designs)
            found[:, p] = theta @ self._matrices
        if self.same_pairs:
            found[:] = found[:, :1]
        return self.gaps.parameters_of(cost, found)

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
        return self.gaps.nearest_violation(violation)

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

    def first_brackets(self) -> Brackets:
        brackets = super().first_brackets()
        searched = self.by_paper and self.violation is not None
        return brackets.extended(0.0, 1.0) if searched else brackets

    def published(self, brackets: Brackets) -> Steps:
        yield from super().published(brackets)
        if self.violation is not None:
            yield from self._trade_off_search(brackets)

    def _published_parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        n, q = len(angles), self.joint.q
        if self.gaps.violation is not None:
            violation = np.repeat(self.gaps.violation[None], n, axis=0)
            return self._with_trade_off(self._cost(angles, brackets), violation, angles[:, -1])
        slopes = [slope_of(angles, brackets, self._sites, i) for i in range(len(self._sites))]
        if not slopes[0].any():  # D.2 divides by what errors cost: what gaps cost is not known
            even = np.repeat(
                self.gaps.normalized(self._even(len(self.joint.pairs)).reshape(1, -1, q * q)),
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
        return self.gaps.parameters_of(unit(cost), self._positive(violation))

    def unidentified(self, run: Standing) -> str | None:
        if self.by_paper and self.violation is None and flat_sites(run.brackets)[:1] == [0]:
            return (
                "no error made a difference where groups have the same rates (λ = 1), and "
                "Algorithm D.2 measures gaps against errors: what gaps cost is arbitrary. Use "
                "strategy='bisection'"
            )
        return super().unidentified(run)

    def _trade_off_steps(self, angles: FloatArray, brackets: Brackets) -> Any:
        cost = self._cost(angles, brackets)[0]
        assert self.gaps.violation is not None
        mine = self.joint.pairs[:, 0] == 0
        bend = self._shaped(self.gaps.violation)[mine].sum(axis=0)
        place = _STEP * self.space.common_radius * np.eye(self.joint.q)[0]

        def rates(share: float) -> FloatArray:
            slope = (1.0 - share) * self.joint.prevalence[0] * cost + share * bend @ place
            small = (1.0 - _STEP) * self.space.common_radius
            return np.asarray(self.space.center + place - small * unit(slope + TINY))

        return rates
