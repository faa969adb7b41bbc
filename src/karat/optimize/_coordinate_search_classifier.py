"""Weights by a search along one class after another: the baseline that probes are meant to beat."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat._validate import check_count, check_number
from karat.decisions.rules import decide, last_argmax, one_hot
from karat.metrics import MetricBase
from karat.optimize._black_box import BlackBox
from karat.optimize._feedback import ProbedMetric
from karat.optimize._probes import Position
from karat.optimize._rule_classifier import RuleClassifier
from karat.optimize._sample import Sample
from karat.optimize._task import Task

__all__ = ["CoordinateSearchClassifier"]


class CoordinateSearchClassifier(RuleClassifier):
    """The rule ``argmax_i w_i·η_i(x)`` with weights from a grid, class by class (appendix E.6).

    For two classes this is the best threshold on the validation rows. Appendix E.6 compares two
    classes at a time with a rule that predicts no other class, for which metrics such as the G-mean
    are 0 throughout; here the weight of one class moves while the others stay. The ratio that E.73
    calls the best ζ is ζ/(1−ζ).

    Parameters
    ----------
    estimator : classifier with predict_proba
        Used as it is if it is fitted, else cloned and fitted.
    metric : Metric, str or callable, default "g_mean"
        As in `FrankWolfeClassifier`.
    spacing : float, default 1e-4
        Spacing of the grid of ζ in (0, 1).
    n_cycles : int, default 2
        How often each class is visited; once is enough for two classes.
    pos_label : label, optional
        The positive class of a metric for two classes.

    Attributes
    ----------
    classes_ : array (k,)
        The classes.
    rule_ : array (1, k)
        The weights, in the order of the metric.
    value_ : float
        The metric on the validation rows.
    n_evaluations_ : int
        At how many classifiers the metric was evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.optimize import CoordinateSearchClassifier
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 9, size=4000)
    >>> y = (rng.random(4000) < p).astype(int)
    >>> clf = CoordinateSearchClassifier().fit_from_proba(np.column_stack([1 - p, p]), y)
    >>> print(clf.n_evaluations_)
    9999
    """

    def __init__(
        self,
        estimator: Any = None,
        metric: Any = "g_mean",
        *,
        spacing: float = 1e-4,
        n_cycles: int = 2,
        pos_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.spacing = spacing
        self.n_cycles = n_cycles
        self.pos_label = pos_label

    def _optimise(self, tasks: list[Task]) -> int:
        task = tasks[0]
        spacing = check_number(self.spacing, "spacing", at_least=1e-6, at_most=0.5)
        n_cycles = check_count(self.n_cycles, "n_cycles")
        k = len(task.classes)
        zeta = np.arange(1, np.ceil(1.0 / spacing - 1e-9)) * spacing
        weights, self.n_evaluations_ = np.ones(k), 0
        for visit in range(1 if k == 2 else k * n_cycles):
            j = 1 if k == 2 else visit % k
            others = np.exp(np.mean(np.log(np.delete(weights, j))))
            grid = others * zeta / (1.0 - zeta)
            values = self._along(task, weights, j, grid)
            self.n_evaluations_ += len(grid)
            weights[j] = grid[_middle_of_best(values)]
        self.rule_ = (weights / weights.mean())[None]
        self.value_ = self._value(task)
        return 0

    def _value(self, task: Task) -> float:
        """Return the metric of the rule on the validation rows."""
        sample = task.validation
        shares = self._shares(sample.proba, sample.basis)
        if isinstance(task.metric, MetricBase):
            stack = sample.confusion(shares)[None]
            return float(ProbedMetric(task.metric, 1.0, 1.0, stack[0])._values(stack)[0])
        return BlackBox(task.metric, task.rows, 1.0, str).value(
            Position(shares, None, None, shares)
        )

    @staticmethod
    def _along(task: Task, weights: FloatArray, j: int, grid: FloatArray) -> FloatArray:
        """Return the metric with each weight of class j, the others staying."""
        sample = task.validation
        if isinstance(task.metric, MetricBase):
            inside = sample.confusion(sample.proba)
            return ProbedMetric(task.metric, 1.0, 1.0, inside)._values(
                _confusions_along(sample, weights, j, grid)
            )
        box = BlackBox(task.metric, task.rows, 1.0, str)
        values = []
        for value in grid:
            moved = weights.copy()
            moved[j] = value
            codes = decide(sample.proba, moved[None], np.ones((len(sample.proba), 1)))
            shares = one_hot(codes, len(weights))
            values.append(box.value(Position(shares, None, None, shares)))
        return np.array(values)


def _middle_of_best(values: FloatArray) -> int:
    """Return the middle of the first run of the greatest values.

    Its ends are where rows turn: there rounding, or a slightly other row, decides.
    """
    first = int(np.argmax(values))
    ends = np.flatnonzero(values[first:] != values[first])
    return first + ((int(ends[0]) if ends.size else len(values) - first) - 1) // 2


def _confusions_along(sample: Sample, weights: FloatArray, j: int, grid: FloatArray) -> FloatArray:
    """Return the confusions of all weights of class j at once.

    A row turns to class j when its weight passes ``max_{i≠j} w_i·η_i / η_j``; so each grid point
    differs from the one before by the rows that turn between them.
    """
    k, n_truth = len(weights), len(weights) * sample.n_groups
    rest = np.delete(np.arange(k), j)
    scores = sample.proba[:, rest] * weights[rest]
    other = rest[last_argmax(scores)]
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = scores.max(axis=1) / sample.proba[:, j]
    # Ties go to the later class.
    step = np.where(
        j > other, np.searchsorted(grid, turn, "left"), np.searchsorted(grid, turn, "right")
    )
    cells = (step * n_truth + sample.truth) * k + other
    turned = np.bincount(cells, sample.weight, minlength=(len(grid) + 1) * n_truth * k)
    turned = np.cumsum(turned.reshape(-1, n_truth, k), axis=0)
    confusions = turned[-1] - turned[:-1]
    confusions[:, :, j] += turned[:-1].sum(axis=2)
    return np.asarray(np.maximum(confusions, 0.0))
