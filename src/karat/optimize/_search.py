"""Finding a mixture of plug-in rules for a metric, and reporting how good it is.

A `Task` is a problem that is read and checked, `SearchOptions` says how to solve it, and
`run_search` does: by Frank–Wolfe steps along slopes of the metric (`search`), or to a proven gap
where the form of the metric is known (`best_mixture`). For two classes `best_threshold` tries every
threshold. `held_out` measures on rows that took no part, `metric_value` any shares on all rows, and
`history_of` and `class_weights_of` make the results.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from karat._result import Estimate
from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat.decisions import Attainable, Mixture, maximise
from karat.decisions.population import Population
from karat.decisions.rules import mixed, one_hot
from karat.decisions.solvers import Columns, Smooth, climb
from karat.exceptions import ProbeError, UndefinedMetricWarning
from karat.metrics import GroupMetric
from karat.metrics.base import MetricBase
from karat.metrics.estimates import count_limits
from karat.optimize._feedback import (
    BlackBox,
    Feedback,
    KnownMetric,
    Preferences,
    ProbedMetric,
    ValidationRows,
    gradients_at,
    is_diagonal,
    values_at,
)
from karat.optimize._probes import (
    ClassProbes,
    Position,
    Probes,
    Sample,
    WeightSystem,
    separated_probes,
)
from karat.optimize._problem import (
    Problem,
    SearchOptions,
    Task,
    metric_value,
    most_probable,
    scale_of_sample,
)
from karat.optimize.result import ClassWeights, OptimizationHistory, no_limits

# --- One search: the probes and the feedback that a task and its options ask for.

_DIRECT = 60  # evaluations of a direct search
# Errors of the metric by which a single rule must be above a mixture: a little more on the
# validation rows is their noise.
_CLEARLY = 2.0
_ROUNDING = 1e-12


def run_search(task: Task, options: SearchOptions, some: IntArray | None = None) -> Search:
    """Find a mixture of rules for a task, with some of its validation rows or all of them."""
    validation, rows = task.validation, task.rows
    if some is not None:
        validation, rows = validation.take(some), rows.take(some)
    off_diagonal = _off_diagonal(task, options)
    make = separated_probes if options.separated else ClassProbes
    probes: Probes = make(
        validation, _matching(task, options, validation), off_diagonal=off_diagonal
    )
    problem = Problem(
        probes, off_diagonal, options.ridge, task.basis_names, tuple(task.classes.tolist())
    )
    feedback = _feedback(task, options, problem, rows)
    model = model_rule(problem, feedback)
    if options.step == "corrective":
        found = best_mixture(problem, task.metric, seed=options.seed, own_rules=options.own_rules)
    else:
        found = _followed(problem, feedback, options, options.step, model)
        if options.step == "line-search" and isinstance(task.metric, GroupMetric):
            # At a corner no share of a new rule helps, however far the best mixture is.
            other = _followed(problem, feedback, options, "harmonic", model)
            found = max(found, other, key=partial(_worth, problem, feedback, options))
            found = found._replace(steps=_counted(found.steps, feedback))
        if _exact_by_kind(problem, feedback, options):
            # Where slopes lead rests on the probabilities, the best rule of each kind of rows on
            # their labels: it is taken where it is better by more than chance.
            other = best_mixture(problem, task.metric, seed=options.seed, own_rules=True)
            confusions = [validation.confusion(_decided(s, options)) for s in (found, other)]
            here, there = (Position(c, None, None, None) for c in confusions)
            if feedback.improves(here, _worth(problem, feedback, options, found), there):
                found = other
    return _no_worse_than_the_model(problem, feedback, found, model, options)


def _exact_by_kind(problem: Problem, feedback: Feedback, options: SearchOptions) -> bool:
    """Whether rules of each kind of rows of two classes can be found exactly, and are one rule.

    The best mixture for a linear metric is a single rule; with one kind it is the best threshold.
    """
    sample = problem.probes.validation
    return (
        isinstance(feedback, KnownMetric)
        and feedback.metric.form == "linear"
        and options.own_rules
        and sample.n_classes == 2
        and sample.basis.shape[1] > 1
        and row_kinds(sample) is not None
    )


def _followed(
    problem: Problem, feedback: Feedback, options: SearchOptions, step: str, model: Rule
) -> Search:
    """Return where the slopes of the metric lead, by steps of one kind."""
    return search(
        problem,
        feedback,
        n_iter=options.n_iter,
        step=step,
        seed=options.seed,
        least=model.value,
        impatient=options.direct,
    )


def _no_worse_than_the_model(
    problem: Problem, feedback: Feedback, found: Search, model: Rule, options: SearchOptions
) -> Search:
    """Return what was found, or a single rule that is better: the model's own, if nothing is."""
    kept, rule = "model", model
    if np.isnan(found.value):  # preferences have no values: one more question
        sample = problem.probes.validation
        ours = Position(sample.confusion(_decided(found, options)), None, None, None)
        own = Position(sample.confusion(model.codes), None, None, None)
        gain = -1.0 if feedback.improves(ours, np.nan, own) else 0.0
    else:
        gain = _worth(problem, feedback, options, found) - model.value
    if options.direct and isinstance(feedback, BlackBox):
        climbed_to = climbed(problem, feedback, model, _DIRECT)
        clearly = gain + _CLEARLY * feedback.error if gain > 0 else 0.0
        if climbed_to.value - model.value > clearly:
            kept, rule = "rule", climbed_to
    elif isinstance(feedback, KnownMetric):
        best = max(_free_rules(problem, feedback, options, model), key=lambda r: r.value)
        # By more than rounding: sums over rows in another order are the same classifier.
        if best.value - model.value > max(gain, 0.0) + _ROUNDING * max(1.0, abs(model.value)):
            kept, rule = "rule", best
    steps = found.steps
    if not isinstance(feedback, ProbedMetric):  # what is asked of a function or a person counts
        steps = _counted(steps, feedback)
    if kept == "model" and gain >= 0:
        return found._replace(steps=steps)
    weights, codes, value = rule
    return Search(
        Mixture(np.ones(1), weights[None], seed=options.seed),
        steps,
        one_hot(codes, problem.probes.validation.n_classes),
        value,
        kept,
    )


def _free_rules(
    problem: Problem, feedback: KnownMetric, options: SearchOptions, model: Rule
) -> list[Rule]:
    """Return single rules that are tried where the form of the metric is known: that costs nothing.

    For two classes the best of all thresholds, which does not rest on the probabilities being
    calibrated; for any number classes weighed by 1/prior, as if all were as frequent.
    """
    sample = problem.probes.validation
    k = sample.n_classes
    prior = sample.confusion(model.codes).sum(axis=1).reshape(-1, k).sum(axis=0)
    balanced = 1.0 / np.where(prior > 0, prior, 1.0)
    rules = [rule_of(problem, feedback, balanced / balanced.mean())]
    if k == 2:
        weights = best_threshold(sample, feedback.metric).weights
        rules.append(rule_of(problem, feedback, weights))
    if options.rounded:
        # A mixture that balances groups by chance may be far from it without.
        rules.append(climbed(problem, feedback, max(model, *rules, key=lambda r: r.value), _DIRECT))
    return rules


def _counted(steps: list[Step], feedback: Feedback) -> list[Step]:
    """Return steps of which the last counts every evaluation that was made."""
    return [*steps[:-1], steps[-1]._replace(n_evaluations=feedback.n_evaluations)]


def _worth(problem: Problem, feedback: Feedback, options: SearchOptions, found: Search) -> float:
    """Return the metric of the classifier that is made of a mixture."""
    if not options.deterministic:
        return found.value
    decided = _decided(found, options)
    confusion = problem.probes.validation.confusion(decided)
    return feedback.value(Position(confusion, None, None, decided))


def _decided(found: Search, options: SearchOptions) -> FloatArray:
    """Return the shares of the classes that are predicted on the validation rows."""
    if not options.deterministic:
        return found.shares
    return one_hot(np.argmax(found.shares, axis=1), found.shares.shape[1])


def _matching(task: Task, options: SearchOptions, validation: Sample) -> Sample:
    """Return the sample on which weights are matched."""
    if not options.labels or task.training is None:
        return validation.without_labels()
    # Where the training rows serve for validation, rows that are held out must not match either.
    same = task.training.proba is task.validation.proba
    return validation if same else task.training


def _off_diagonal(task: Task, options: SearchOptions) -> bool:
    k = len(task.classes)
    if k == 2:
        return False  # the rows of a confusion have fixed sums, so its diagonal determines it
    if options.entries is not None:
        return options.entries == "all"
    return isinstance(task.metric, MetricBase) and not is_diagonal(task.metric, k)


def _feedback(
    task: Task, options: SearchOptions, problem: Problem, rows: ValidationRows
) -> Feedback:
    metric, epsilon = task.metric, options.epsilon
    if isinstance(metric, Preferences):
        return metric.feedback(epsilon)
    if isinstance(metric, MetricBase):
        kind = ProbedMetric if options.probed else KnownMetric
        return kind(metric, epsilon, *scale_of_sample(problem.probes.validation))

    def name(probe: int) -> str:
        at_basis, j = problem.probes.name(probe)
        return (
            f"the probe of class {problem.classes[j]!r} with the basis function "
            f"{problem.basis_names[at_basis]!r}"
        )

    return BlackBox(metric, rows, epsilon, name)


# --- The best mixture of plug-in rules for a metric whose form is known, by `karat.decisions`.

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
    kinds = row_kinds(sample) if own_rules else None
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
            [Population(*block) for block in blocks],
            n_groups=metric.n_groups,
            group=None if together else group,
        )

    def weights(self, rules: FloatArray) -> FloatArray:
        """Return the weights of the basis functions, (T, L, k) of two classes or (T, L, k, k).

        ``rules`` (T, kinds, k, k) are each kind's own; only their directions matter.
        """
        sizes = np.abs(rules).max(axis=(2, 3), keepdims=True)
        own = rules / np.where(sizes > 0, sizes, 1.0)
        if rules.shape[-1] == 2:  # what being right is worth, over being wrong
            own = np.stack([own[..., 0, 0] - own[..., 0, 1], own[..., 1, 1] - own[..., 1, 0]], -1)
        return np.asarray(np.einsum("lc,tc...->tl...", np.linalg.inv(self.values), own))


def row_kinds(sample: Sample) -> _RowKinds | None:
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


# --- Frank–Wolfe with elicited gradients (Hiranandani 2021, Algorithms 7.2 and 7.3).

# Shares of the way to a new rule that a line search tries, after all of it.
_BACKTRACK = (0.5, 0.25, 0.1, 0.03)
# Where probes from the current classifier determine no weights, they start this far toward h₀.
_INSIDE = 0.1
_PATIENCE = 6  # steps without a better mixture, where there is something to beat


class Step(NamedTuple):
    """One iteration."""

    value: float
    gap: float
    share: float
    condition: float
    n_evaluations: int


class Search(NamedTuple):
    """What a search found."""

    mixture: Mixture
    steps: list[Step]
    shares: FloatArray  # of the mixture, on the validation rows
    value: float  # of the mixture, which need not be that of the last step
    kept: str = "mixture"  # or "rule", of a direct search, or "model": nothing better was found


def search(
    problem: Problem,
    feedback: Feedback,
    *,
    n_iter: int,
    step: str,
    seed: int,
    least: float = -np.inf,
    impatient: bool = False,
) -> Search:
    """Follow the metric from rule to rule.

    Each iteration elicits the weights of the metric's linear approximation at the current mixture
    and adds the plug-in rule of these weights with the share 2/(t+2). (Algorithm 7.3 prints
    2/(t+1), which is more than 1 at t = 0.) A rule that is better than every mixture so far by
    more than chance replaces it, and t starts again: else poor first rules would keep a share.

    The step "line-search" takes the share that is best on the validation sample instead, which
    ends sooner and follows the noise of that sample more closely.

    The last mixture is returned, unless it is below ``least``: then the best of all is, since steps
    need not go up where slopes mislead. (The best of all on few rows is often their noise.) With
    ``impatient`` the search ends after some steps that came to nothing better than ``least``.
    """
    sums, rows = not feedback.everywhere, feedback.needs_rows
    at = start = problem.start(rows=rows)
    here, system, seen = _probed(problem, at, start)
    system.require_solvable(problem.basis_names, problem.classes)
    steps: list[Step] = []
    mix, value, age = _GrowingMixture(), feedback.value(at), 0
    idle, to_beat = 0, least
    top, most = at, value  # what a rule must beat: not a step that just made things worse
    for _ in range(n_iter):
        if sums and steps:
            here, system, seen = _probed(problem, at, start)
        elif not sums:
            here = at
        there = value if here is at else feedback.value(here)
        slopes = feedback.slopes(here, there, problem.probes, seen)
        if not slopes.any():
            if steps:  # a plateau: what was found stays
                break
            raise ProbeError(feedback.flat(len(slopes)))
        weights = system.solve(slopes)
        new, codes = problem.rule(weights, sums=sums, rows=rows)
        gap = _gap(feedback, problem, at, new, weights)
        if step == "line-search":
            share, at, value = _best_share(feedback, at, new, value)
        else:
            share = 1.0 if age == 0 or feedback.improves(top, most, new) else 2.0 / (age + 2.0)
            age = 1 if share == 1.0 else age + 1
            at = at.toward(new, share)
            value = feedback.value(at)
            if share == 1.0 or value > most:
                top, most = at, value
        mix.add(weights, share, codes)
        mix.keep_if_best(value)
        idle = 0 if value > to_beat else idle + 1
        to_beat = max(to_beat, value)
        steps.append(Step(value, gap, share, system.condition, feedback.n_evaluations))
        if share == 0 or (impatient and idle >= _PATIENCE):
            break
    kept = mix.best() if mix.value < least else mix
    proba = problem.probes.validation.proba
    return Search(kept.mixture(seed), steps, kept.shares_of(proba), kept.value)


def _probed(
    problem: Problem, at: Position, start: Position
) -> tuple[Position, WeightSystem, FloatArray]:
    """Return where to probe, the system there and the moves of the validation confusion.

    At a classifier that predicts one class in every row all probes move the confusion in the same
    direction, and a search could never leave it; a little toward the start the moves differ.
    """
    for here in (at, at.toward(start, _INSIDE)):
        matched, seen = problem.probes.moves(here)
        system = problem.system(matched)
        if system.solvable:
            break
    return here, system, seen


class _GrowingMixture:
    """Rules and their shares while a search goes on."""

    def __init__(self) -> None:
        self._start, self._shares, self.value = 1.0, np.empty(0), np.nan
        self._rules: list[FloatArray] = []
        self._codes: list[IntArray] = []
        self._best: _GrowingMixture | None = None

    def keep_if_best(self, value: float) -> None:
        """Remember the mixture as it is now, if none before was better."""
        self.value = value
        if self._best is None or not value <= self._best.value:  # NaN: the last is kept
            kept = _GrowingMixture()
            kept._start, kept._shares, kept.value = self._start, self._shares, value
            kept._rules, kept._codes = list(self._rules), list(self._codes)
            self._best = kept

    def best(self) -> _GrowingMixture:
        """Return the best mixture that was remembered."""
        assert self._best is not None
        return self._best

    def add(self, weights: FloatArray, share: float, codes: IntArray) -> None:
        if share == 1.0:  # the new rule replaces the mixture
            self._shares, self._rules, self._codes = np.empty(0), [], []
        if share > 0 or not self._rules:  # a mixture needs a rule, even one of share 0
            self._shares = np.append(self._shares * (1.0 - share), share)
            self._start *= 1.0 - share
            self._rules.append(weights)
            self._codes.append(codes.astype(np.int16))  # they are kept, so in little memory

    def mixture(self, seed: int) -> Mixture:
        return Mixture(self._shares, np.stack(self._rules), self._start, seed)

    def shares_of(self, proba: FloatArray) -> FloatArray:
        return mixed(proba, self._start, zip(self._shares, self._codes, strict=True))


def _gap(
    feedback: Feedback, problem: Problem, at: Position, new: Position, weights: FloatArray
) -> float:
    """Return by how much the linear approximation rises from the mixture to the new rule."""
    if isinstance(feedback, KnownMetric):
        rise = new.confusion - at.confusion
        return float(np.sum(feedback.gradient(at.confusion) * rise))
    here, there = problem.probes.plain(at), problem.probes.plain(new)
    if here is None or there is None:
        return float("nan")
    if weights.ndim == 2:
        here, there = (np.diagonal(x, axis1=1, axis2=2) for x in (here, there))
    return float(np.sum(weights * (there - here)))


def _best_share(
    feedback: Feedback, at: Position, new: Position, value: float
) -> tuple[float, Position, float]:
    """Return the share of the new rule that is best among a few, 0 if none improves."""
    best = (0.0, at, value)
    for share in (1.0, *_BACKTRACK):
        mixed = at.toward(new, share)
        found = feedback.value(mixed)
        if found > best[2] + 1e-12:
            best = (share, mixed, found)
        elif best[0] > 0:
            break
    return best


# --- A direct search over plug-in rules, for metrics whose slopes mislead.
#
# A greatest gap between groups, or an absolute one, has corners, and its slope on one side of a
# corner says nothing of the other. Rules have few weights, so a simplex of rules is turned,
# stretched and shrunk by the values at its corners (Nelder and Mead 1965). It can follow a ridge on
# which several weights have to change together, where moves of single weights stop.

_FIRST_STEP = 0.8  # how far the corners of the first simplex are from the model, as a logarithm
_LAST = 0.02  # the size at which a simplex is left alone


class Rule(NamedTuple):
    """A plug-in rule: its weights, its decisions on the validation rows, and the metric there."""

    weights: FloatArray
    codes: IntArray
    value: float


def model_rule(problem: Problem, feedback: Feedback) -> Rule:
    """Return the rule that predicts the model's most probable class: all weights are alike."""
    return rule_of(problem, feedback, np.ones(problem.probes.validation.n_classes))


def rule_of(problem: Problem, feedback: Feedback, weights: FloatArray) -> Rule:
    """Return the rule that weighs the classes (k,) alike in all rows."""
    one = np.diag(weights) if problem.off_diagonal else weights
    n_basis = problem.probes.validation.basis.shape[1]
    return _rule(problem, feedback, np.repeat(one[None], n_basis, axis=0))


def climbed(problem: Problem, feedback: Feedback, start: Rule, most: int) -> Rule:
    """Return the best rule of a simplex search from a rule, in ``most`` evaluations."""
    best = start
    # One class is what the others are compared with.
    places = tuple(np.argwhere((start.weights != 0) & (np.arange(start.weights.shape[-1]) > 0)).T)

    def loss(logarithms: FloatArray) -> float:
        nonlocal best
        if not logarithms.any():
            return -start.value
        weights = start.weights.copy()
        weights[places] *= np.exp(logarithms)
        new = _rule(problem, feedback, weights)
        if new.value > best.value:
            best = new
        return -new.value

    n = len(places[0])
    simplex = np.vstack([np.zeros(n), _FIRST_STEP * np.eye(n)])
    minimize(
        loss,
        simplex[0],
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": most, "xatol": _LAST, "fatol": np.inf},
    )
    return best


def _rule(problem: Problem, feedback: Feedback, weights: FloatArray) -> Rule:
    at, codes = problem.rule(weights, sums=False, rows=feedback.needs_rows)
    return Rule(weights, codes, feedback.value(at))


# --- The best threshold of two classes, by a sweep over all of them.
#
# With two classes every rule ``argmax_i w_i·η_i`` is a threshold of the odds ``η_1/η_0``, upward or
# downward. Rows sorted by their odds give the confusions of all thresholds as cumulative sums, so a
# metric whose form is known is maximised exactly in O(n log n), however the probabilities are
# calibrated.

_CHUNK = 1 << 14  # confusions that are valued at a time
# Relative; odds this near are one place: rounding in a rule could not keep them apart.
_SAME = 1e-12


class Threshold(NamedTuple):
    """The weights of two classes of a rule that is one threshold, and the metric there."""

    weights: FloatArray
    value: float
    n_tried: int


def best_threshold(sample: Sample, metric: MetricBase) -> Threshold:
    """Return the best threshold on the rows, of both directions and with always one class.

    Of equal values the first upward ones count; of neighbours that are equal, the middle one. Rows
    in which all basis functions are 0 are decided by the model, and so they stay.
    """
    proba = sample.proba
    by_rule: BoolArray = np.asarray(sample.basis.any(axis=1), dtype=bool)
    with np.errstate(divide="ignore"):
        odds = proba[by_rule, 1] / proba[by_rule, 0]
    step, places = _places(odds)
    n_truth = 2 * sample.n_groups
    cells = step * n_truth + sample.truth[by_rule]
    counted = np.bincount(cells, sample.weight[by_rule], minlength=len(places) * n_truth)
    table: FloatArray = np.asarray(counted, dtype=np.float64).reshape(-1, n_truth)
    values = _values(table, _fixed(sample, ~by_rule), metric)
    values = np.where(np.isfinite(values), values, -np.inf)
    at = _middle_of_first_best(values)
    direction, cut = divmod(at, len(places) + 1)
    return Threshold(_weights(places, cut, upward=direction == 0), float(values[at]), values.size)


def _places(odds: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the place of each row in the order of the odds, and the least odds of each place."""
    found, step = np.unique(odds, return_inverse=True)
    if not len(found):
        return step.reshape(-1), found
    with np.errstate(invalid="ignore"):
        apart = found[1:] - found[:-1] > _SAME * found[1:]
    apart |= np.isinf(found[1:]) & np.isfinite(found[:-1])
    first = np.concatenate([[True], apart])
    return (np.cumsum(first) - 1)[step.reshape(-1)], found[first]


def _fixed(sample: Sample, rows: BoolArray) -> FloatArray:
    """Return the confusion of the rows that the model decides."""
    codes = (sample.proba[rows, 1] >= sample.proba[rows, 0]).astype(np.intp)
    cells = sample.truth[rows] * 2 + codes
    counted = np.bincount(cells, sample.weight[rows], minlength=4 * sample.n_groups)
    return np.asarray(counted, dtype=float).reshape(-1, 2)


def _values(table: FloatArray, fixed: FloatArray, metric: MetricBase) -> FloatArray:
    """Return the metric of all cuts: upward ones, then downward ones.

    ``table`` (places, rows of the confusion) has the weight of each place; the cut c has the places
    before c on its lower side.
    """
    below = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)])
    above = np.maximum(below[-1] - below, 0.0)
    above[-1] = 0.0
    found = []
    with warnings.catch_warnings():  # conventions at the edge need no warning in a search
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for first, second in ((below, above), (above, below)):  # predicted as either class
            for start in range(0, len(below), _CHUNK):
                part = slice(start, start + _CHUNK)
                confusions = np.stack([first[part], second[part]], axis=2) + fixed
                found.append(values_at(metric, confusions))
    return np.concatenate(found)


def _middle_of_first_best(values: FloatArray) -> int:
    """Return the middle of the first run of the greatest values, within one direction."""
    half = values.size // 2
    best = float(values.max())
    upward = values[:half] >= best - 1e-12 * max(abs(best), 1.0)
    # A downward rule must be better by more than rounding.
    start, run = (0, upward) if upward.any() else (half, values[half:] >= best)
    first = int(np.argmax(run))
    ends = np.flatnonzero(~run[first:])
    length = int(ends[0]) if ends.size else len(run) - first
    return start + first + (length - 1) // 2


def _weights(places: FloatArray, cut: int, *, upward: bool) -> FloatArray:
    """Return weights that predict the second class from a cut up, or below it."""
    if cut in (0, len(places)):
        always_second = (cut == 0) == upward
        return np.array([0.0, 1.0]) if always_second else np.array([1.0, -1.0])
    odds = _between(float(places[cut - 1]), float(places[cut]))
    weights = np.array([odds, 1.0]) / (1.0 + odds)
    return weights if upward else -weights


def _between(low: float, high: float) -> float:
    """Return odds between two others: of the middle probability, where rounding allows."""
    top = 1.0 if np.isinf(high) else high / (1.0 + high)
    middle = (low / (1.0 + low) + top) / 2.0
    odds = middle / (1.0 - middle) if middle < 1.0 else np.inf
    if low * (1.0 + _SAME / 4) < odds < high / (1.0 + _SAME / 4):
        return odds
    return 2.0 * low if np.isinf(high) else float(np.sqrt(low) * np.sqrt(high))


def history_of(
    task: Task, found: Search, held_out: HeldOut | None, *, randomized: bool
) -> OptimizationHistory:
    """Return the course of a search, with what cross-validation found if there was any."""
    decided = one_hot(np.argmax(found.shares, axis=1), len(task.classes))
    values, gaps, shares, conditions, n_evaluations = zip(*found.steps, strict=True)
    apart = HeldOut(no_limits(np.nan), np.nan) if held_out is None else held_out
    argmax = most_probable(task)
    groups, before = _rates_by_group(task, argmax)
    return OptimizationHistory(
        metric=task.metric.title if hasattr(task.metric, "title") else _name(task.metric),
        values=np.array(values),
        gaps=np.array(gaps),
        shares=np.array(shares),
        conditions=np.array(conditions),
        n_evaluations=np.array(n_evaluations, dtype=np.int64),
        mixture=found.value,
        kept=found.kept,
        baseline=metric_value(task, argmax),
        deterministic=metric_value(task, decided),
        randomized=randomized,
        n_rows=len(task.validation.proba),
        basis_functions=task.basis_names,
        groups=groups,
        rates=_rates_by_group(task, found.shares if randomized else decided)[1],
        baseline_rates=before,
        **apart._asdict(),
    )


def _rates_by_group(task: Task, shares: FloatArray) -> tuple[AnyArray, FloatArray]:
    """Return the names of the groups, and how often each class is predicted rightly in each.

    NaN where a group has no row of a class; there are no groups where a function has several
    columns of them.
    """
    k, sample = len(task.classes), task.validation
    if task.rows.groups is None or task.rows.groups.ndim != 1 or sample.labels is None:
        return np.empty(0), np.empty((0, k))
    names, members = np.unique(task.rows.groups, return_inverse=True)
    cells = members * k + sample.labels
    right = sample.weight * shares[np.arange(len(shares)), sample.labels]
    there = np.bincount(cells, sample.weight, minlength=len(names) * k)
    hits = np.bincount(cells, right, minlength=len(names) * k)
    with np.errstate(invalid="ignore"):
        return names, (hits / there).reshape(-1, k)


def class_weights_of(task: Task, found: Search) -> ClassWeights:
    """Return the weights of the last rule, scaled to a mean absolute value of 1."""
    last = found.mixture.weights[-1]
    size = np.abs(last).mean()
    return ClassWeights(
        weights=last / size if size > 0 else last,
        classes=task.classes,
        basis=task.basis_names,
    )


def _name(metric: Any) -> str:
    return str(getattr(metric, "__name__", type(metric).__name__))


# --- The metric on rows that took no part in finding the classifier.

_Z = 1.959963984540054  # the normal quantile of limits of 95 %
_DELTA = 0.025  # their probability on either side
_NONE = 1e-9  # spread of rows that all tell the same, but for rounding


class HeldOut(NamedTuple):
    """The metric on held-out rows with its limits, and that of the most probable class there."""

    held_out: Estimate[float]
    held_out_baseline: float


def held_out(
    task: Task,
    fit: Callable[[IntArray], Callable[[FloatArray, FloatArray], FloatArray]],
    n_folds: int,
) -> HeldOut:
    """Measure classifiers on rows that took no part in finding them.

    ``fit(rows)`` finds a classifier with some of the validation rows, and returns it as a function
    of probabilities and basis functions that gives class shares.
    """
    shares = _held_out_shares(task.validation, fit, n_folds, seed=0)
    found = no_limits(metric_value(task, shares))
    if isinstance(task.metric, MetricBase):
        low, high = _limits_of(task.metric, task.validation, shares)
        if not np.isnan(low):
            found = Estimate.of(found.value, low, high, 1 - 2 * _DELTA, "approximate")
    return HeldOut(found, metric_value(task, most_probable(task)))


def folds(labels: IntArray, n: int, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield rows to use and rows to hold out; each class is spread evenly over the folds."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % n
    for i in range(n):
        yield np.flatnonzero(fold != i), np.flatnonzero(fold == i)


def _held_out_shares(
    sample: Sample,
    fit: Callable[[IntArray], Callable[[FloatArray, FloatArray], FloatArray]],
    n_folds: int,
    *,
    seed: int,
) -> FloatArray:
    """Return for each row the class shares of a classifier that was found without it."""
    assert sample.labels is not None
    shares = np.empty_like(sample.proba)
    for used, kept in folds(sample.truth, n_folds, seed):
        shares[kept] = fit(used)(sample.proba[kept], sample.basis[kept])
    return shares


def _limits_of(metric: MetricBase, sample: Sample, shares: FloatArray) -> tuple[float, float]:
    """Return limits of a metric of a randomised classifier on rows, by the delta method.

    Rows that all tell the same, such as those of a classifier that never errs, have no spread, and
    yet the next one may differ: limits then come from the counts.
    """
    assert sample.labels is not None
    confusion = sample.confusion(shares)
    slope = gradients_at(metric, confusion[None])[0]
    if not np.isfinite(slope).all():
        return float("nan"), float("nan")
    each = np.sum(slope[sample.truth] * shares, axis=1)
    centered = each - sample.weight @ each
    spread = float(np.sqrt(np.sum((sample.weight * centered) ** 2)))
    value = float(values_at(metric, confusion[None])[0])
    if spread > _NONE:
        low, high = metric.value_range
        return max(value - _Z * spread, min(low, value)), min(value + _Z * spread, max(high, value))
    n = 1.0 / float(sample.weight @ sample.weight)  # Kish's number of rows, whose shares are these
    found = count_limits(
        metric, n * confusion.ravel(), confusion.shape, delta=_DELTA, rng=np.random.default_rng(0)
    )
    return min(found.lower, value), max(found.upper, value)
