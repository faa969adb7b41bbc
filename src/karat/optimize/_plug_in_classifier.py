"""One plug-in rule with elicited weights, as a classifier."""

from typing import Any

from karat.optimize.post_shift import ProbingClassifier

__all__ = ["PlugInClassifier"]


class PlugInClassifier(ProbingClassifier):
    """A post-shifted classifier for a linear metric (PI-EW).

    The weights of the classes are elicited once and the rule ``argmax_i W_i(x)·η_i(x)`` is the
    classifier (Hiranandani 2021, Algorithms 7.1 and 7.2). For a metric that is not linear it
    follows the linear approximation at the model's own probabilities; `FrankWolfeClassifier` goes
    on from there.

    Parameters
    ----------
    estimator : classifier with predict_proba
        Used as it is if it is fitted, else cloned and fitted.
    metric : Metric, str, callable or Preferences, default "accuracy"
        As in `FrankWolfeClassifier`.
    epsilon : float, default 1
        How far probes are from the model's own classifier. For a linear metric any is right, and
        a large one is best where the metric is rounded or noisy.
    basis, gradient, matching, entries, probes, ridge, pos_label, n_folds
        As in `FrankWolfeClassifier`.

    Attributes
    ----------
    classes_, history_, weights_, mixture_, basis_, estimator_, n_iter_
        As in `FrankWolfeClassifier`; the mixture is one rule.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where the estimator saw any.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.metrics import cost_matrix
    >>> from karat.optimize import PlugInClassifier
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 9, size=4000)
    >>> y = (rng.random(4000) < p).astype(int)
    >>> costs = cost_matrix([[0, 1], [5, 0]])
    >>> clf = PlugInClassifier(metric=costs).fit_from_proba(np.column_stack([1 - p, p]), y)
    >>> print(clf.decision_regions().thresholds.round(2))
    [0.17]
    """

    # One rule decides alone.
    n_iter = 1
    step = "harmonic"
    deterministic = True
    rng = 0

    def __init__(
        self,
        estimator: Any = None,
        metric: Any = "accuracy",
        *,
        basis: Any = None,
        gradient: str | None = None,
        epsilon: float = 1.0,
        matching: str = "probabilities",
        entries: str | None = None,
        probes: str = "fixed",
        ridge: float = 1e-6,
        pos_label: Any = None,
        n_folds: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.basis = basis
        self.gradient = gradient
        self.epsilon = epsilon
        self.matching = matching
        self.entries = entries
        self.probes = probes
        self.ridge = ridge
        self.pos_label = pos_label
        self.n_folds = n_folds
