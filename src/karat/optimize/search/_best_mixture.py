"""The best mixture of plug-in rules for a metric whose form is known, by `karat.decisions`."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions import Attainable, Mixture, maximise
from karat.decisions.populations import Population
from karat.decisions.rules import one_hot
from karat.decisions.solvers import Columns, Smooth, climb
from karat.metrics import GroupMetric, MetricBase
from karat.optimize.probes import Sample
from karat.optimize.search._frank_wolfe import Search, Step
from karat.optimize.search._problem import Problem

__all__ = ["best_mixture"]

_TOL = 1e-7  # the gap to which the best mixture is found
_ROUNDED = 0.01  # width to which corners of the metric are rounded for a smooth climb
_CLIMBED = 1e-4  # the gap at which that climb ends: it only adds rules
_FIRST = 64  # rules to start from where weights are solved for
# Rows of so many kinds get rules of their own; more kinds are searched by one rule for all.
_MOST_KINDS = 64


def best_mixture(problem: Problem, metric: MetricBase, *, seed: int, own_rules: bool) -> Search:
    """Return the mixture of greatest value on the validation rows, found to a gap of 1e-7.

    Where basis functions distinguish a few kinds of rows, and ``own_rules`` allows it, each kind
    has rules of its own. Otherwise the slope at a mixture is turned into the weights of one rule
    for all rows, as in every other search.
    """
    sample = problem.probes.validation
    kinds = _row_kinds(sample) if own_rules else None
    if kinds is None:
        solved = _SolvedRules(problem, metric.n_groups)
        columns = solved.columns()
        if metric.form == "gaps":
            _add_smoothed_rules(metric, columns)
        best = maximise(metric, solved, tol=_TOL, columns=columns)
        weights, condition = best.mixture.weights[:, 0], solved.condition
    else:
        best = maximise(metric, kinds.attainable(sample, metric), tol=_TOL)
        weights, condition = kinds.weights(best.mixture.weights), np.nan
    order = np.argsort(best.mixture.shares, kind="stable")  # the last rule is the weightiest
    mixture = Mixture(best.mixture.shares[order], weights[order], seed=seed)
    steps = [
        # Weights that are solved for need not be the best, so their gap proves nothing.
        Step(value, np.nan if kinds is None else gap, np.nan, condition, n + 1)
        for n, (value, gap) in enumerate(zip(best.values, best.gaps, strict=True))
    ]
    shares = mixture.class_shares(sample.proba, sample.basis)
    return Search(mixture, steps, shares, steps[-1].value)


class _RowKinds(NamedTuple):
    """Kinds of rows that basis functions distinguish, as many as there are functions."""

    values: FloatArray  # (L, L): the basis functions of each kind
    of_row: IntArray

    def attainable(self, sample: Sample, metric: MetricBase) -> Attainable:
        """Return the confusions that rules attain which are chosen for each kind of rows."""
        k, blocks, group = sample.n_classes, [], []
        for kind in range(len(self.values)):
            rows = np.flatnonzero(self.of_row == kind)
            mass = one_hot(sample.truth[rows], k * sample.n_groups) * sample.weight[rows, None]
            own = np.arange(1) if sample.groups is None else np.unique(sample.groups[rows])
            blocks.append((sample.proba[rows], mass))
            group.append(int(own[0]) if len(own) == 1 else -1)
        together = metric.n_groups is None or min(group) < 0  # rules do not see the groups
        if not together:
            blocks = [
                (p, m[:, g * k : (g + 1) * k]) for (p, m), g in zip(blocks, group, strict=True)
            ]
        return Attainable(
            [Population(*block) for block in blocks], n_groups=metric.n_groups,
            group=None if together else group,
        )  # fmt: skip

    def weights(self, rules: FloatArray) -> FloatArray:
        """Return the weights of the basis functions, (T, L, k) of two classes or (T, L, k, k).

        ``rules`` (T, kinds, k, k) are each kind's own; only their directions matter.
        """
        sizes = np.abs(rules).max(axis=(2, 3), keepdims=True)
        own = rules / np.where(sizes > 0, sizes, 1.0)
        if rules.shape[-1] == 2:  # what being right is worth, over being wrong
            own = np.stack([own[..., 0, 0] - own[..., 0, 1], own[..., 1, 1] - own[..., 1, 0]], -1)
        return np.asarray(np.einsum("lc,tc...->tl...", np.linalg.inv(self.values), own))


def _row_kinds(sample: Sample) -> _RowKinds | None:
    """Return the kinds of rows, or None if there are more than the basis functions can weigh."""
    n_basis = sample.basis.shape[1]
    if n_basis > _MOST_KINDS:
        return None
    values, of_row = np.unique(sample.basis, axis=0, return_inverse=True)
    if len(values) != n_basis or np.linalg.cond(values) > 1e6:
        return None
    return _RowKinds(values, of_row.ravel())


def _add_smoothed_rules(metric: MetricBase, columns: Columns) -> None:
    """Add rules from slopes of the metric with its corners rounded off.

    The prices of a linear program alternate between the sides of a corner, and weights that are
    solved for from slopes are not exact; a smooth climb finds the rules in between.
    """
    assert isinstance(metric, GroupMetric)
    shape = (metric.n_groups, metric.n_classes, metric.n_classes)

    def values(points: FloatArray) -> FloatArray:
        return metric._values(points.reshape(-1, *shape), _ROUNDED)

    def slopes(points: FloatArray) -> FloatArray:
        found = metric._gradients(points.reshape(-1, *shape), _ROUNDED)
        return found.reshape(len(points), -1)

    climb(Smooth(values, slopes), columns, tol=_CLIMBED, max_rounds=60)


class _SolvedRules:
    """The confusions of rules whose weights are solved for from slopes, one rule for all rows."""

    exact = False

    def __init__(self, problem: Problem, n_groups: int | None) -> None:
        self.problem, self.n_groups, self.groups = problem, n_groups, np.arange(n_groups or 0)
        self.n_classes = problem.probes.validation.n_classes
        self.start = problem.start(rows=False)
        matched, self._moves = problem.probes.moves(self.start)
        self._system = problem.system(matched)
        self._system.require_solvable(problem.basis_names, problem.classes)
        self.condition = self._system.condition

    def columns(self) -> Columns:
        """Return the rules to start from: those of accuracy and of random gains."""
        k = self.n_classes
        right = np.tile(np.eye(k), (self.n_groups or 1, 1))
        drawn = np.random.default_rng(0).normal(size=(_FIRST, *right.shape))
        first = np.concatenate([right[None], drawn])
        return Columns(self._best, first.reshape(len(first), -1))

    def _best(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        makers, points = [], []
        for direction in directions:
            gains = direction.reshape(self._moves.shape[1:])
            weights = self._system.solve(np.einsum("pij,ij->p", self._moves, gains))
            position, _ = self.problem.rule(weights, sums=False, rows=False)
            makers.append(weights)
            points.append(position.confusion.ravel())
        return np.stack(makers)[:, None], np.stack(points)[:, None]
