"""Results of a search: its course, and the weights of its last rule."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray
from karat.decisions.rules import one_hot
from karat.optimize.result import OptimizationHistory
from karat.optimize.search._cross_validation import HeldOut
from karat.optimize.search._frank_wolfe import Search
from karat.optimize.search._task import Task
from karat.optimize.search._value import metric_value, most_probable
from karat.optimize.weights_result import ClassWeights

__all__ = ["class_weights_of", "history_of"]


def history_of(
    task: Task, found: Search, held_out: HeldOut | None, *, randomized: bool
) -> OptimizationHistory:
    """Return the course of a search, with what cross-validation found if there was any."""
    decided = one_hot(np.argmax(found.shares, axis=1), len(task.classes))
    values, gaps, shares, conditions, n_evaluations = zip(*found.steps, strict=True)
    apart = {} if held_out is None else held_out._asdict()
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
        basis=task.basis_names,
        groups=groups,
        rates=_rates_by_group(task, found.shares if randomized else decided)[1],
        baseline_rates=before,
        **apart,
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
