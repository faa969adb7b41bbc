"""The Bayes rule of a cost matrix."""

from typing import Any

import numpy as np

from karat._typing import FloatArray
from karat.exceptions import MetricError
from karat.metrics import LinearMetric
from karat.optimize.baselines import RuleClassifier
from karat.optimize.search import Task

__all__ = ["CostSensitiveClassifier"]


class CostSensitiveClassifier(RuleClassifier):
    """Predicts the class of the greatest expected gain, for gains of (truth, prediction).

    Costs of any number of classes, for any classifier with probabilities; the elicited metric of
    `karat.elicit` is such a cost matrix. With accuracy it predicts the most probable class. The
    probabilities are assumed to be calibrated: no validation rows are needed, and none are used.

    Parameters
    ----------
    estimator : classifier with predict_proba
        Used as it is if it is fitted, else cloned and fitted.
    metric : Metric or str, default "accuracy"
        A linear metric, such as ``cost_matrix([[0, 1], [5, 0]])``.
    pos_label : label, optional
        The positive class of a metric for two classes; by default the larger label.

    Attributes
    ----------
    classes_ : array (k,)
        The classes.
    rule_ : array (1, k, k)
        The gains of (truth, prediction), in the order of the metric.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where the estimator saw any.

    Examples
    --------
    >>> from karat.metrics import cost_matrix
    >>> from karat.optimize import CostSensitiveClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = cost_matrix([[0, 1, 1], [1, 0, 1], [1, 9, 0]])
    >>> clf = CostSensitiveClassifier(LogisticRegression(max_iter=500), costs).fit(X, y)
    >>> int((clf.predict(X) == 2).sum() - (clf.estimator_.predict(X) == 2).sum())
    19
    """

    def __init__(
        self, estimator: Any = None, metric: Any = "accuracy", *, pos_label: Any = None
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.pos_label = pos_label

    def _warn_same_rows(self) -> None:
        """Do not warn: the rows are not used."""

    def _optimise(self, tasks: list[Task]) -> int:
        self.rule_ = _gains(tasks[0].metric)
        return 0


def _gains(metric: Any) -> FloatArray:
    if not isinstance(metric, LinearMetric):
        title = getattr(metric, "title", repr(metric))
        raise MetricError(
            f"{title} is not a linear metric, so it has no cost matrix; use FrankWolfeClassifier"
        )
    return np.asarray(metric.weights)[None]
