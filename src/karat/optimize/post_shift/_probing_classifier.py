"""Classifiers that find their weights by probing the metric."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import FloatArray, IntArray
from karat._validate import check_choice, check_fitted, check_flag
from karat.decisions import Mixture
from karat.decisions.rules import one_hot
from karat.exceptions import DataError
from karat.optimize.feedback import Preferences
from karat.optimize.post_shift._post_shift_classifier import PostShiftClassifier
from karat.optimize.result import DecisionRegions
from karat.optimize.search import (
    HeldOut,
    SearchOptions,
    Task,
    check_n_folds,
    check_search_options,
    class_weights_of,
    held_out,
    history_of,
    run_search,
)

__all__ = ["ProbingClassifier"]


class ProbingClassifier(PostShiftClassifier):
    """Base of `PlugInClassifier` and `FrankWolfeClassifier`, which declare the options."""

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

    def _basis(self) -> Any:
        return ["constant"] if self.basis is None else self.basis

    def _needs_training(self) -> bool:
        return check_choice(self.matching, "matching", ("probabilities", "labels")) == "labels"

    def _checked_metric(self, k: int) -> Any:
        if isinstance(self.metric, Preferences):
            return self.metric
        return super()._checked_metric(k)

    # --- finding the classifier

    def _optimise(self, tasks: list[Task]) -> int:
        check_flag(self.deterministic, "deterministic")
        metric = tasks[0].metric
        options = check_search_options(self, metric)
        n_folds = check_n_folds(self.n_folds, len(tasks), metric, tasks[0].validation)
        tried = [self._held_out(task, options, n_folds) for task in tasks] if n_folds else []
        best = int(np.argmax([t.held_out for t in tried])) if tried else 0
        task = tasks[best]
        found = run_search(task, options)
        self.mixture_ = found.mixture
        self.n_iter_ = len(found.steps)
        self.history_ = history_of(
            task, found, tried[best] if tried else None, randomized=not self.deterministic
        )
        self.weights_ = class_weights_of(task, found)
        return best

    def _held_out(self, task: Task, options: SearchOptions, n_folds: int) -> HeldOut:
        def fit(some: IntArray) -> Callable[[FloatArray, FloatArray], FloatArray]:
            return partial(self._shares_of, run_search(task, options, some).mixture)

        return held_out(task, fit, n_folds)

    @keeps_kind
    def decision_regions(self) -> DecisionRegions:
        """Return, for two classes, where the second is predicted: its share by the probability.

        There is one curve for each kind of row that the basis functions distinguish.
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
