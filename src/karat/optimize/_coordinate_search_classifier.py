"""Weights by a search along one class after another: the baseline that probes are meant to beat."""

from typing import Any

import numpy as np

from karat._validate import check_count, check_number
from karat.optimize.baselines import RuleClassifier, middle_of_best, values_along
from karat.optimize.search import Task, metric_value

__all__ = ["CoordinateSearchClassifier"]


class CoordinateSearchClassifier(RuleClassifier):
    """The rule ``argmax_i w_i·η_i(x)`` with weights from a grid, class by class.

    For two classes this is the best threshold on the validation rows. Hiranandani (2021), appendix
    E.6, compares two classes at a time with a rule that predicts no other class, for which metrics
    such as the G-mean are 0 throughout; here the weight of one class moves while the others stay.
    The ratio that eq. E.73 calls the best ζ is ζ/(1−ζ).

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
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where the estimator saw any.

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
            values = values_along(task, weights, j, grid)
            self.n_evaluations_ += len(grid)
            weights[j] = grid[middle_of_best(values)]
        self.rule_ = (weights / weights.mean())[None]
        shares = self._shares(task.validation.proba, task.validation.basis)
        self.value_ = metric_value(task, shares)
        return 0
