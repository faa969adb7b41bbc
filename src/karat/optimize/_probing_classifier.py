"""Classifiers that find their weights by probing the metric."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from karat._typing import FloatArray, IntArray
from karat._validate import check_choice, check_count, check_fitted, check_number, check_seed
from karat.decisions import Mixture
from karat.decisions.rules import one_hot
from karat.exceptions import DataError
from karat.metrics import MetricBase
from karat.optimize._best_mixture import best_mixture
from karat.optimize._black_box import BlackBox, Rows
from karat.optimize._cross_validation import HeldOut, held_out_shares, limits_of
from karat.optimize._entries import is_diagonal
from karat.optimize._estimator import PostShiftClassifier
from karat.optimize._feedback import Feedback, KnownMetric, ProbedMetric
from karat.optimize._frank_wolfe import Problem, Search, search
from karat.optimize._preferences import Preferences
from karat.optimize._probes import ClassProbes, Position, Probes
from karat.optimize._sample import Sample
from karat.optimize._separated import separated_probes
from karat.optimize._task import Task
from karat.optimize.result import ClassWeights, DecisionRegions, OptimizationHistory

__all__ = ["ProbingClassifier"]

_FOLDS = 5


class ProbingClassifier(PostShiftClassifier):
    """Base of `PlugInClassifier` and `FrankWolfeClassifier`."""

    basis: Any
    epsilon: float
    matching: str
    entries: str | None
    probes: str
    ridge: float
    gradient: str | None
    deterministic: bool
    n_folds: int | None
    rng: Any
    n_iter: int
    step: str | None

    # --- options

    def _basis(self) -> Any:
        return ["constant"] if self.basis is None else self.basis

    def _needs_training(self) -> bool:
        return check_choice(self.matching, "matching", ("probabilities", "labels")) == "labels"

    def _checked_metric(self, k: int) -> Any:
        if isinstance(self.metric, Preferences):
            return self.metric
        return super()._checked_metric(k)

    def _loop(self, task: Task) -> tuple[int, str]:
        """Return the number of iterations, and how the shares of rules are found."""
        step = check_choice(self.step, "step", ("harmonic", "line-search", "corrective"), none=True)
        known = isinstance(task.metric, MetricBase) and self.gradient != "probed"
        if step == "corrective" and not known:
            raise DataError(
                "step='corrective' needs a metric of karat.metrics with gradient='known'; leave "
                "step out"
            )
        if step is None:
            # Where the best is proven, and where gaps between groups have corners that steps
            # toward single rules do not settle in.
            corrective = known and (
                task.metric.form == "gaps"
                or (self._own_rules and (task.metric.n_groups or task.metric.form == "ratio"))
            )
            step = "corrective" if corrective else "harmonic"
        return check_count(self.n_iter, "n_iter"), str(step)

    @property
    def _own_rules(self) -> bool:
        """Whether each kind of rows may have rules of its own: no option asks for less."""
        plain = self.matching == "probabilities" and self.probes == "fixed"
        return plain and self.entries is None

    # --- finding the classifier

    def _optimise(self, tasks: list[Task]) -> int:
        self._check_options(tasks[0])
        n_folds = self._n_folds(len(tasks), tasks[0].validation)
        tried = [self._held_out(task, n_folds) for task in tasks] if n_folds else []
        best = int(np.argmax([t.value for t in tried])) if tried else 0
        task = tasks[best]
        found = self._search(task)
        self.mixture_ = found.mixture
        self.n_iter_ = len(found.steps)
        self.history_ = self._history(task, found, tried[best] if tried else None)
        self.weights_ = self._class_weights(task, found)
        return best

    def _check_options(self, task: Task) -> None:
        check_choice(self.gradient, "gradient", ("known", "probed"), none=True)
        check_choice(self.entries, "entries", ("diagonal", "all"), none=True)
        check_choice(self.probes, "probes", ("fixed", "separated"))
        _, step = self._loop(task)
        if step == "line-search" and isinstance(task.metric, Preferences):
            raise DataError(
                "step='line-search' compares values and was given preferences; leave step out"
            )
        epsilon = check_number(self.epsilon, "epsilon", at_least=0.0, at_most=1.0)
        if epsilon == 0:
            raise DataError("epsilon is 0; expected a number above 0 and at most 1")
        check_number(self.ridge, "ridge", at_least=0.0)
        if self.gradient == "known" and not isinstance(task.metric, MetricBase):
            raise DataError(
                "gradient='known' needs a metric of karat.metrics and was given a function; leave "
                "gradient out"
            )

    def _n_folds(self, n_candidates: int, sample: Sample) -> int:
        if self.n_folds is None and n_candidates == 1:
            return 0
        if isinstance(self.metric, Preferences):
            raise DataError(
                "cross-validation needs values and was given preferences; pass one basis and leave "
                "n_folds out"
            )
        n = check_count(_FOLDS if self.n_folds is None else self.n_folds, "n_folds")
        least = int(np.bincount(sample.truth).min())
        if n < 2 or n > least:
            raise DataError(
                f"n_folds is {n} and the rarest class has {least} validation rows; expected at "
                "least 2 folds and no more than that"
            )
        return n

    def _search(self, task: Task, some: IntArray | None = None) -> Search:
        validation, rows = task.validation, task.rows
        if some is not None:
            validation, rows = validation.take(some), rows.take(some)
        if self._needs_training() and task.training is not None:
            same = task.training.proba is task.validation.proba
            matching = validation if same else task.training
        else:
            matching = validation.without_labels()
        off_diagonal = self._off_diagonal(task)
        probes: Probes
        if self.probes == "separated":
            probes = separated_probes(validation, matching, off_diagonal=off_diagonal)
        else:
            probes = ClassProbes(validation, matching, off_diagonal=off_diagonal)
        problem = Problem(
            probes, off_diagonal, float(self.ridge), task.basis_names, tuple(task.classes.tolist())
        )
        n_iter, step = self._loop(task)
        seed = check_seed(0 if self.rng is None else self.rng)  # by default the same every time
        if step == "corrective":
            return best_mixture(problem, task.metric, seed=seed, own_rules=self._own_rules)
        feedback = self._feedback(task, problem, rows)
        return search(
            problem,
            feedback,
            n_iter=n_iter,
            step=step,
            seed=seed,
        )

    def _off_diagonal(self, task: Task) -> bool:
        k = len(task.classes)
        if self.entries is not None or k == 2:
            return self.entries == "all" and k > 2  # with two classes the diagonal says it all
        return isinstance(task.metric, MetricBase) and not is_diagonal(task.metric, k)

    def _feedback(self, task: Task, problem: Problem, rows: Rows) -> Feedback:
        metric, epsilon = task.metric, float(self.epsilon)
        if isinstance(metric, Preferences):
            return metric.feedback(epsilon)
        if isinstance(metric, MetricBase):
            kind = ProbedMetric if self.gradient == "probed" else KnownMetric
            return kind(metric, epsilon, *_scale(problem.probes.validation))

        def name(probe: int) -> str:
            at_basis, j = problem.probes.name(probe)
            return (
                f"the probe of class {problem.classes[j]!r} with the basis function "
                f"{problem.basis_names[at_basis]!r}"
            )

        return BlackBox(metric, rows, epsilon, name)

    # --- what is reported

    def _value_of(self, task: Task, shares: FloatArray) -> float:
        """Return the metric of given shares on all validation rows, NaN for preferences."""
        if isinstance(task.metric, Preferences):
            return float("nan")
        if isinstance(task.metric, MetricBase):
            feedback: Feedback = ProbedMetric(task.metric, 1.0, *_scale(task.validation))
        else:
            feedback = BlackBox(task.metric, task.rows, 1.0, str)
        confusion = task.validation.confusion(shares)
        return feedback.value(Position(confusion, None, None, shares))

    def _held_out(self, task: Task, n_folds: int) -> HeldOut:
        def fit(some: IntArray) -> Callable[[FloatArray, FloatArray], FloatArray]:
            return partial(self._shares_of, self._search(task, some).mixture)

        shares = held_out_shares(task.validation, fit, n_folds, 0)
        limits = (float("nan"), float("nan"))
        if isinstance(task.metric, MetricBase):
            limits = limits_of(task.metric, task.validation, shares)
        return HeldOut(
            self._value_of(task, shares), self._value_of(task, self._most_probable(task)), *limits
        )

    @staticmethod
    def _most_probable(task: Task) -> FloatArray:
        proba = task.validation.proba
        return one_hot(np.argmax(proba, axis=1), proba.shape[1])

    def _history(self, task: Task, found: Search, held_out: HeldOut | None) -> OptimizationHistory:
        decided = one_hot(np.argmax(found.shares, axis=1), len(task.classes))
        columns = list(zip(*found.steps, strict=True))
        title = task.metric.title if hasattr(task.metric, "title") else _name(task.metric)
        extra = (
            {}
            if held_out is None
            else {
                "held_out": held_out.value,
                "held_out_baseline": held_out.baseline,
                "lower": held_out.lower,
                "upper": held_out.upper,
            }
        )
        return OptimizationHistory(
            metric=title,
            values=np.array(columns[0]),
            gaps=np.array(columns[1]),
            shares=np.array(columns[2]),
            conditions=np.array(columns[3]),
            n_evaluations=np.array(columns[4], dtype=np.int64),
            baseline=self._value_of(task, self._most_probable(task)),
            deterministic=self._value_of(task, decided),
            randomized=not self.deterministic,
            n_rows=len(task.validation.proba),
            basis=task.basis_names,
            **extra,
        )

    @staticmethod
    def _class_weights(task: Task, found: Search) -> ClassWeights:
        last = found.mixture.weights[-1]
        size = np.abs(last).mean()
        return ClassWeights(
            weights=last / size if size > 0 else last,
            classes=task.classes,
            basis=task.basis_names,
        )

    def decision_regions(self) -> DecisionRegions:
        """Return, for two classes, where the second is predicted: its share by the probability.

        There is one curve for each kind of row that the basis functions tell apart.
        """
        check_fitted(self, "classes_")
        if len(self.classes_) != 2:
            raise DataError(
                f"decision regions are drawn for two classes and there are {len(self.classes_)}"
            )
        kinds, frequency, names = self._kinds_
        grid = np.linspace(0.0, 1.0, 1001)
        proba = np.column_stack([1.0 - grid, grid])
        curves = [self._shares(proba, np.repeat(kind[None], len(grid), axis=0)) for kind in kinds]
        return DecisionRegions(
            probability=grid,
            shares=np.stack([curve[:, 1] for curve in curves]),
            kinds=names,
            frequency=frequency,
            classes=self.classes_[self._order_],
        )

    # --- predicting

    def _shares(self, proba: FloatArray, basis: FloatArray) -> FloatArray:
        return self._shares_of(self.mixture_, proba, basis)

    def _shares_of(self, mixture: Mixture, proba: FloatArray, basis: FloatArray) -> FloatArray:
        shares = mixture.class_shares(proba, basis)
        if self.deterministic:
            return one_hot(np.argmax(shares, axis=1), shares.shape[1])
        return shares

    def _codes(self, proba: FloatArray, basis: FloatArray) -> IntArray:
        if self.deterministic:
            shares = self.mixture_.class_shares(proba, basis)
            return np.asarray(np.argmax(shares, axis=1))
        return self.mixture_.draw(proba, basis)


def _name(metric: Any) -> str:
    return str(getattr(metric, "__name__", type(metric).__name__))


def _scale(sample: Sample) -> tuple[float, FloatArray]:
    """Return how many equally weighted rows a sample is worth, and a confusion well inside."""
    return 1.0 / float(np.sum(sample.weight**2)), sample.confusion(sample.proba)
