"""The problem of a search: rows, feedback, options, and the value of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import check_choice, check_count, check_number, check_seed, refuse_option
from karat.decisions.rules import decide, last_argmax, one_hot
from karat.metrics import GroupMetric
from karat.metrics.base import MetricBase
from karat.optimize._feedback import BlackBox, Feedback, Preferences, ProbedMetric, ValidationRows
from karat.optimize._probes import Position, Probes, Sample, WeightSystem


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What a search is given: the probes on their samples, and how weights are solved for."""

    probes: Probes
    off_diagonal: bool
    ridge: float
    basis_names: tuple[str, ...]
    classes: tuple[object, ...]

    def start(self, *, rows: bool) -> Position:
        """Return the classifier that predicts a class with the model's probability of it.

        It predicts every class somewhere and no two probes alike, so slopes exist and the system
        has a solution; the first step leaves it behind.
        """
        on = self.probes.validation.proba, self.probes.matching.proba
        return self.probes.position(*on, sums=True, rows=rows)

    def rule(self, weights: FloatArray, *, sums: bool, rows: bool) -> tuple[Position, IntArray]:
        """Return a plug-in rule as a position, and its decisions on the validation rows."""
        validation, matching = self.probes.validation, self.probes.matching
        seen = decide(validation.proba, weights, validation.basis)
        same = matching.proba is validation.proba and matching.basis is validation.basis
        matched = seen if same or not sums else decide(matching.proba, weights, matching.basis)
        return self.probes.position(seen, matched, sums=sums, rows=rows), seen

    def system(self, moves: FloatArray) -> WeightSystem:
        """Return the linear system that turns slopes along the probes into weights."""
        return WeightSystem(moves, off_diagonal=self.off_diagonal, ridge=self.ridge)


# --- The options of a search, checked each by itself and with the metric.

_FOLDS = 5  # where there are bases to choose among and ``n_folds`` is None


class SearchOptions(NamedTuple):
    """The options of a search, checked and completed."""

    n_iter: int
    step: str
    probed: bool  # whether slopes come from values at probes although the gradient is known
    epsilon: float
    labels: bool  # whether weights are matched on the labels of the training rows
    entries: str | None
    separated: bool  # whether probes satisfy eq. 7.14, instead of being fixed
    ridge: float
    seed: int
    deterministic: bool  # whether the class of the greatest share is predicted
    direct: bool  # whether a direct search follows, where a metric is a function of rows
    rounded: bool  # whether one follows since a mixture for groups is rounded to its greatest share

    @property
    def own_rules(self) -> bool:
        """Whether each kind of rows may have rules of its own: no option asks for less."""
        return not self.labels and not self.separated and self.entries is None


def check_search_options(given: Any, metric: Any) -> SearchOptions:
    """Check the options of a probing classifier for a metric."""
    step = check_choice(given.step, "step", ("harmonic", "line-search", "corrective"), none=True)
    gradient = check_choice(given.gradient, "gradient", ("known", "probed"), none=True)
    if gradient == "known" and not isinstance(metric, MetricBase):
        refuse_option(gradient, "gradient", "None or 'probed' without a metric of karat.metrics")
    epsilon = check_number(given.epsilon, "epsilon", at_least=0.0, at_most=1.0)
    if epsilon == 0:
        refuse_option(given.epsilon, "epsilon", "a number above 0 and at most 1")
    matching = check_choice(given.matching, "matching", ("probabilities", "labels"))
    probes = check_choice(given.probes, "probes", ("fixed", "separated"))
    options = SearchOptions(
        n_iter=check_count(given.n_iter, "n_iter"),
        step="harmonic",
        probed=gradient == "probed",
        epsilon=epsilon,
        labels=matching == "labels",
        entries=check_choice(given.entries, "entries", ("diagonal", "all"), none=True),
        separated=probes == "separated",
        ridge=check_number(given.ridge, "ridge", at_least=0.0),
        seed=check_seed(0 if given.rng is None else given.rng),  # the same every time
        deterministic=bool(given.deterministic),
        direct=step is None and not isinstance(metric, MetricBase | Preferences),
        rounded=step is None and bool(given.deterministic) and isinstance(metric, GroupMetric),
    )
    return options._replace(step=_step(step, options, metric))


def _step(step: str | None, options: SearchOptions, metric: Any) -> str:
    """Return how the shares of rules are found."""
    known = isinstance(metric, MetricBase) and not options.probed
    if step is None:
        # Where the best is proven, and where gaps between groups have corners: steps toward single
        # rules do not converge there.
        corrective = known and (
            metric.form == "gaps"
            or (options.own_rules and (metric.n_groups or metric.form == "ratio"))
        )
        return "corrective" if corrective else "harmonic"
    if step == "corrective" and not known:
        refuse_option(
            step, "step", "None or another step where the gradient of the metric is not known"
        )
    if step == "line-search" and isinstance(metric, Preferences):
        refuse_option(step, "step", "None or 'harmonic' with Preferences, which have no values")
    return step


def check_n_folds(n_folds: Any, n_candidates: int, metric: Any, sample: Sample) -> int:
    """Return the number of folds, 0 if there is no cross-validation."""
    if n_folds is None and n_candidates == 1:
        return 0
    if isinstance(metric, Preferences):
        refuse_option(
            n_folds, "n_folds", "None and one basis with Preferences, which have no values"
        )
    n = check_count(_FOLDS if n_folds is None else n_folds, "n_folds", at_least=2)
    least = int(np.bincount(sample.truth).min())
    if n > least:
        refuse_option(
            n, "n_folds", f"at most {least}, the number of validation rows of the rarest class"
        )
    return n


# --- The metric of given class shares on the validation rows.


def metric_value(task: Task, shares: FloatArray) -> float:
    """Return the metric of class shares on all validation rows, NaN for preferences."""
    if isinstance(task.metric, Preferences):
        return float("nan")
    if isinstance(task.metric, MetricBase):
        feedback: Feedback = ProbedMetric(task.metric, 1.0, *scale_of_sample(task.validation))
    else:
        feedback = BlackBox(task.metric, task.rows, 1.0, str)
    confusion = task.validation.confusion(shares)
    return feedback.value(Position(confusion, None, None, shares))


def most_probable(task: Task) -> FloatArray:
    """Return the class shares of predicting the most probable class, the later one of equals."""
    proba = task.validation.proba
    return one_hot(last_argmax(proba), proba.shape[1])


def scale_of_sample(sample: Sample) -> tuple[float, FloatArray]:
    """Return the effective number of rows, and the confusion of predicting by probability.

    In that confusion every class is predicted somewhere, so that metrics have slopes there.
    """
    return 1.0 / float(np.sum(sample.weight**2)), sample.confusion(sample.proba)


class Task(NamedTuple):
    """A problem that is read and checked; columns are in the order of the metric's classes.

    ``metric`` is a metric of karat.metrics, a function of the validation rows, or `Preferences`.
    """

    validation: Sample
    training: Sample | None
    classes: AnyArray
    metric: Any
    rows: ValidationRows
    basis_names: tuple[str, ...]
