"""One search: the probes and the feedback that a task and its options ask for."""

from functools import partial

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.decisions import Mixture
from karat.decisions.rules import one_hot
from karat.metrics import GroupMetric, MetricBase
from karat.optimize.feedback import (
    BlackBox,
    Feedback,
    KnownMetric,
    Preferences,
    ProbedMetric,
    ValidationRows,
    is_diagonal,
)
from karat.optimize.probes import ClassProbes, Position, Probes, Sample, separated_probes
from karat.optimize.search._best_mixture import best_mixture
from karat.optimize.search._direct_search import Rule, climbed, model_rule
from karat.optimize.search._frank_wolfe import Search, Step, search
from karat.optimize.search._problem import Problem
from karat.optimize.search._search_options import SearchOptions
from karat.optimize.search._task import Task
from karat.optimize.search._value import scale_of_sample

__all__ = ["run_search"]

_DIRECT = 60  # evaluations of a direct search
# Errors of the metric by which a single rule must be above a mixture: a little more on the
# validation rows is their noise.
_CLEARLY = 2.0


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
    return _no_worse_than_the_model(problem, feedback, found, model, options)


def _followed(
    problem: Problem, feedback: Feedback, options: SearchOptions, step: str, model: Rule
) -> Search:
    """Return where the slopes of the metric lead, by steps of one kind."""
    return search(
        problem, feedback, n_iter=options.n_iter, step=step, seed=options.seed,
        least=model.value, impatient=options.direct,
    )  # fmt: skip


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
    elif options.rounded and isinstance(feedback, KnownMetric):
        # A mixture that balances groups by chance may be far from it without.
        climbed_to = climbed(problem, feedback, model, _DIRECT)
        if climbed_to.value - model.value > max(gain, 0.0):
            kept, rule = "rule", climbed_to
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
