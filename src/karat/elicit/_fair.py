"""Groups: what errors cost, what gaps in error rates between groups cost, and the trade-off."""

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from math import ceil
from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import TINY, FairFamily, Family, LinearGaps, SquaredGaps, unit
from karat.elicit.procedure import GroupProcedure
from karat.elicit.search import Brackets, Site, Steps, informative_places, off_slope, slope_of
from karat.metrics import FairMetric, GroupMetric

__all__ = ["Fair"]

_PATTERNS = 400  # ways to fix the other groups, to choose from
_CLEAR = 0.4  # least singular value of the equations that the slopes of a group must leave
_MOST_EXTRA = 4  # slopes more than equations ask for


class Fair(GroupProcedure):
    """Elicits how errors are traded against gaps in error rates between groups.

    The metric is ``−(1−λ)⟨a, r⟩ − λ Σ_{u<v} ⟨b^{uv}, |r^u − r^v|⟩`` (Hiranandani 2021, Definition
    5.1). ``bisection`` finds the slope in the rates of one group while the others predict one class
    always, each its own; the signs of all gaps are then known and the metric is linear. Slopes of a
    group determine what its gaps to all others cost, and λ without a question (188 questions for
    three classes and two groups, tolerance 0.001, where Hiranandani 2021 takes 2,680).
    ``published`` is Algorithm 5.1 with its slips corrected: slopes of partitions of the groups over
    the whole sphere, and Algorithm 5.2 for λ.

    Parameters
    ----------
    space : RateSpace
        What classifiers attain, with groups.
    cost : array (q,), optional
        The cost of each error, if it is known; then only the rest is elicited.
    violation : array (pairs, q), optional
        What each gap costs, if it is known; with ``cost`` only λ is elicited.
    same_pairs : bool, default False
        Whether a gap costs the same between any two groups.
    sparse : bool, default False
        Whether many weights are expected to be 0.
    **options
        Those of every procedure; see `Procedure`.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.datasets import LogisticLaw
    >>> from karat.elicit import MetricOracle, RateSpace
    >>> from karat.metrics import FairMetric
    >>> law = LogisticLaw.binary(5.0)
    >>> x, y = law.sample(4000, rng=0)
    >>> groups = np.where(np.arange(4000) % 3, "a", "b")
    >>> space = RateSpace.from_proba(y, law.proba(x), groups=groups)
    >>> person = MetricOracle(FairMetric([1, 3], [[1, 1]], 0.5))
    >>> result = Fair(space, strategy="bisection").run(person)
    >>> result.n_queries, round(result.metric.tradeoff, 3)
    (40, 0.309)
    """

    wider = "FairQuadratic"
    wider_options = ("cost", "same_pairs")

    def _metric_of(self, cost: Any, violation: Any) -> GroupMetric:
        return FairMetric(cost, violation, 0.5)

    def _even(self, pairs: int) -> FloatArray:
        return np.ones((pairs, self.joint.q))

    def _fair_family(self, **options: Any) -> FairFamily:
        return LinearGaps(self.joint, **options)

    def _wider_family(self) -> Family | None:
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

    def _before(self, i: int) -> None:
        if self.violation is None or i < self._n_cost_sites:
            return
        known, gaps = self._plane(self._brackets.middle[None], self._brackets, i)
        if known.shape[1] > 2:
            span = np.linalg.svd(np.stack([known[0], gaps], axis=1), full_matrices=False)[0]
            self._brackets.bases[i] = span

    def _plane(
        self, angles: FloatArray, brackets: Brackets, i: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return what errors (n, q) and known gaps (q,) add to the slope at a site."""
        violation = self.family.violation
        assert violation is not None
        u, labels = self._layout[i - self._n_cost_sites]
        gaps = sum(sign * violation[p] for p, sign in self._gap_signs(u, labels).items())
        return self._cost(angles, brackets) * self.joint.prevalence[u], np.asarray(gaps)

    def _parameters(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        if self.strategy == "published":
            return self._published_parameters(angles, brackets)
        cost = self._cost(angles, brackets)
        n, q, pairs = len(angles), self.joint.q, len(self.joint.pairs)
        found = np.zeros((n, pairs, q))
        start = self._n_cost_sites
        if self.violation is not None:
            known, gaps = self._plane(angles, brackets, start)
            slope = slope_of(angles, brackets, self._sites, start)
            scale = self._solved([slope], [known], [gaps[:, None]])
            assert self.family.violation is not None
            return self.family.parameters_of(cost, scale[:, :, None] * self.family.violation)
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
        return self.family.parameters_of(cost, found)

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

    def _first_brackets(self) -> Brackets:
        brackets = super()._first_brackets()
        return brackets.extended(0.0, 1.0) if self.strategy == "published" else brackets

    def _published(self) -> Steps:
        yield from super()._published()
        yield from self._trade_off_search()

    def _published_violation(self, angles: FloatArray, brackets: Brackets) -> FloatArray:
        """Return the violation in units of the cost, by equation 5.18 and its system 5.21."""
        if self.family.violation is not None:
            return np.repeat(self.family.violation[None], len(angles), axis=0)
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
        violation = self.family.normalized(self._published_violation(angles, brackets))
        return self._with_trade_off(cost, violation, angles[:, -1])

    def _trade_off_steps(self, angles: FloatArray) -> Any:
        cost = self._cost(angles, self._brackets)[0]
        violation = self.family.normalized(self._published_violation(angles, self._brackets))[0]
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
