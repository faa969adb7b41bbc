"""One search: the probes and the feedback that a task and its options ask for."""

from karat._typing import IntArray
from karat.metrics import MetricBase
from karat.optimize.feedback import (
    BlackBox,
    Feedback,
    KnownMetric,
    Preferences,
    ProbedMetric,
    ValidationRows,
    is_diagonal,
)
from karat.optimize.probes import ClassProbes, Probes, Sample, separated_probes
from karat.optimize.search._best_mixture import best_mixture
from karat.optimize.search._frank_wolfe import Problem, Search, search
from karat.optimize.search._search_options import SearchOptions
from karat.optimize.search._task import Task
from karat.optimize.search._value import scale_of_sample

__all__ = ["run_search"]


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
    if options.step == "corrective":
        return best_mixture(problem, task.metric, seed=options.seed, own_rules=options.own_rules)
    return search(
        problem,
        _feedback(task, options, problem, rows),
        n_iter=options.n_iter,
        step=options.step,
        seed=options.seed,
    )


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
