"""The classifiers: Frank-Wolfe over plug-in rules, and baselines with the same interface."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from karat._typing import Column, FloatArray, IntArray
from karat._validate import (
    check_count,
    check_number,
    check_same_length,
    check_weights,
    encode_labels,
    refuse_lazy,
    refuse_option,
)
from karat.decisions.rules import decide, last_argmax, one_hot
from karat.exceptions import DataError, MetricError
from karat.metrics import LinearMetric
from karat.metrics.base import MetricBase
from karat.optimize._feedback import BlackBox, ProbedMetric
from karat.optimize._post_shift import (
    PostShiftClassifier,
    ProbingClassifier,
    check_model,
    fitted_clone,
)
from karat.optimize._probes import Position, Sample
from karat.optimize._problem import Task, metric_value
from karat.optimize._search import best_threshold


class RuleClassifier(PostShiftClassifier):
    """Base of classifiers that decide by ``rule_``, the weights of a plug-in rule."""

    rule_: FloatArray

    def _codes(self, proba: FloatArray, basis: FloatArray) -> IntArray:
        return decide(proba, self.rule_, np.ones((len(proba), 1)))

    def _shares(self, proba: FloatArray, basis: FloatArray) -> FloatArray:
        return one_hot(self._codes(proba, basis), proba.shape[1])


# --- Weights by a search along one class after another: the baseline that probes are meant to beat.


class CoordinateSearchClassifier(RuleClassifier):
    """The rule ``argmax_i w_i·η_i(x)`` with weights from a grid, class by class.

    For two classes this is the best threshold on the validation rows: of all thresholds where the
    metric is one of `karat.metrics`, of those of the grid where it is a function, each of which is
    an evaluation. Hiranandani (2021), appendix E.6, compares two classes at a time with a rule that
    predicts no other class, for which metrics such as the G-mean are 0 throughout; here the weight
    of one class moves while the others stay. The ratio that eq. E.73 calls the best ζ is ζ/(1−ζ).

    Parameters
    ----------
    estimator : classifier with predict_proba
        Used as it is if it is fitted, else cloned and fitted.
    metric : Metric, str or callable, default "g_mean"
        As in `FrankWolfeClassifier`.
    spacing : float, default 1e-4
        Spacing of the grid of ζ in (0, 1); two classes with a metric of `karat.metrics` need none.
    n_cycles : int, default 2
        How often each class is visited; once is enough for two classes.
    pos_label : label, optional
        The positive class of a metric for two classes; see `FrankWolfeClassifier`.

    Attributes
    ----------
    classes_ : array (k,)
        The classes.
    rule_ : array (1, k)
        The weights, in the order of the metric.
    value_ : float
        The metric on the validation rows.
    n_evaluations_ : int
        At how many classifiers the metric was evaluated; for two classes and a metric of
        `karat.metrics`, how many thresholds there are, upward and downward.
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
    >>> print(round(clf.value_, 3), clf.n_evaluations_)
    0.696 8002
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
        if len(task.classes) == 2 and isinstance(task.metric, MetricBase):
            best = best_threshold(task.validation, task.metric)
            weights, self.n_evaluations_ = best.weights, best.n_tried
        else:
            weights, self.n_evaluations_ = _searched(task, spacing, n_cycles)
        self.rule_ = (weights / np.abs(weights).mean())[None]
        shares = self._shares(task.validation.proba, task.validation.basis)
        self.value_ = metric_value(task, shares)
        return 0


def _searched(task: Task, spacing: float, n_cycles: int) -> tuple[FloatArray, int]:
    """Return the weights of a search class by class, and the number of evaluations."""
    k = len(task.classes)
    zeta = np.arange(1, np.ceil(1.0 / spacing - 1e-9)) * spacing
    weights, n_evaluations = np.ones(k), 0
    for visit in range(1 if k == 2 else k * n_cycles):
        j = 1 if k == 2 else visit % k
        others = np.exp(np.mean(np.log(np.delete(weights, j))))
        grid = others * zeta / (1.0 - zeta)
        values = values_along(task, weights, j, grid)
        n_evaluations += len(grid)
        weights[j] = grid[middle_of_best(values)]
    return weights, n_evaluations


# --- The Bayes rule of a cost matrix.

_ROUNDING = 1e-12  # relative; sums over rows in another order are the same classifier


class CostSensitiveClassifier(RuleClassifier):
    """Predicts the class of the greatest expected gain, for gains of (truth, prediction).

    Costs of any number of classes, for any classifier with probabilities; the elicited metric of
    `karat.elicit` is such a cost matrix. With accuracy it predicts the most probable class. The
    probabilities are assumed to be calibrated, so no validation rows are needed. Where there are
    some, and two classes, the best threshold on them replaces this rule if it is better there; the
    rows that the model was fitted to say nothing about a threshold and are not used.

    Parameters
    ----------
    estimator : classifier with predict_proba
        Used as it is if it is fitted, else cloned and fitted.
    metric : Metric or str, default "accuracy"
        A linear metric, such as ``cost_matrix([[0, 1], [5, 0]])``.
    pos_label : label, optional
        The positive class of a metric for two classes. By default the last class that the metric
        names, else the one that the labels tell: 1 of 0 and 1, True, or a word such as "yes",
        "spam" or "fraud". Where nothing tells it, a metric that needs it is refused.

    Attributes
    ----------
    classes_ : array (k,)
        The classes.
    rule_ : array (1, k, k)
        The gains of (truth, prediction), in the order of the metric; of a threshold, a diagonal.
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
        """Do not warn: these rows are not used."""

    def _optimise(self, tasks: list[Task]) -> int:
        task = tasks[0]
        self.rule_ = _gains(task.metric)
        if len(task.classes) == 2 and not self._same_rows_:
            best = best_threshold(task.validation, task.metric)
            own = _value(task.validation, self.rule_, task.metric)
            if best.value > own + _ROUNDING * max(1.0, abs(own)):
                self.rule_ = np.diag(best.weights)[None]
        return 0


def _value(sample: Sample, rule: FloatArray, metric: LinearMetric) -> float:
    """Return the metric of a rule on the rows."""
    confusion = sample.confusion(decide(sample.proba, rule, np.ones((len(sample.proba), 1))))
    return float(metric._values(confusion[None])[0])


def _gains(metric: Any) -> FloatArray:
    if not isinstance(metric, LinearMetric):
        title = getattr(metric, "title", repr(metric))
        raise MetricError(
            f"{title} is not a linear metric, so it has no cost matrix; use FrankWolfeClassifier"
        )
    return np.asarray(metric.weights)[None]


class FrankWolfeClassifier(ProbingClassifier):
    """The best mixture of post-shifted classifiers for a metric (FW-EG).

    A model gives probabilities; nothing is retrained (Hiranandani 2021, Algorithm 7.3). In each
    iteration the metric's linear approximation at the current mixture is elicited as weights of the
    classes, ``W_i(x) = Σ_l α_li·φ_l(x)``, and the rule ``argmax_i W_i(x)·η_i(x)`` joins the mixture
    with the share 2/(t+2).

    Parameters
    ----------
    estimator : classifier with predict_proba
        Used as it is if it is fitted (or a ``FrozenEstimator``), else cloned and fitted. None is
        enough for `fit_from_proba`.
    metric : Metric, str, callable or Preferences, default "g_mean"
        A metric of `karat.metrics` or its name; metrics of groups, such as ``FairMetric``, need
        ``groups_val``. Or a function ``metric(y_true, shares, groups) -> float`` of the validation
        labels, the shares with which a classifier predicts each class (columns in the order of
        ``classes_``) and the groups, with a parameter ``sample_weight`` if validation rows have
        weights. Or, where the metric has no value, `Preferences`. Greater is better.
    basis : list, default ["constant"]
        Functions of a row along which weights may vary: "constant", the name or position of a
        column (one function for each of its values), a function of X with values in [0, 1],
        `Clusters` or `RadialBasis`. A list of lists is a choice, made by cross-validation.
    n_iter : int, default 20
        Number of iterations of the steps "harmonic" and "line-search".
    step : {None, "harmonic", "line-search", "corrective"}
        The share of each new rule: 2/(t+2); or the best on the validation rows, which needs fewer
        iterations and stops by itself, but with few rows fits their noise (for a metric that
        compares groups both are tried); or the best mixture there is on the validation rows, by
        `karat.decisions.maximise`, for known metrics: it runs to a gap of 1e-7, whatever
        ``n_iter`` is, and with more than two classes rests on the probabilities. By default
        "corrective" for ratios and metrics of groups (with other ``matching``, ``entries`` or
        ``probes`` for a `FairMetric` alone), and "harmonic" for others. Whatever the step, a single
        rule that is better on the validation rows replaces what was found: for known metrics the
        best of all thresholds of two classes, or classes weighed by 1/prior; for a function that of
        a direct search of at most 60 evaluations.
    gradient : {None, "known", "probed"}
        Whether slopes come from the gradient of a metric of `karat.metrics` (the default for
        these) or from its values at probes (the only way for a function). With "probed" nothing but
        values at probes is used, so no thresholds are tried either.
    epsilon : float, default 0.001
        How far probes are from the current classifier: small, for a local slope; larger where the
        metric is rounded or noisy.
    matching : {"probabilities", "labels"}, default "probabilities"
        What the weights are matched on. "probabilities" takes the validation rows and the labels
        that the model expects there: no training row is needed, and chance in the rows cancels.
        "labels" takes the training rows with their labels, as Hiranandani (2021) does.
    entries : {None, "diagonal", "all"}
        Whether weights are for the diagonal of the confusion or for all of it (appendix E.1). By
        default all of it where a metric of `karat.metrics` asks for it.
    probes : {"fixed", "separated"}, default "fixed"
        Always-one-class moves (eq. 7.16 of Hiranandani 2021), or classifiers that satisfy eq. 7.14.
    ridge : float, default 1e-6
        Of the weight system, relative to its greatest singular value.
    deterministic : bool, default False
        Whether to predict, in each row, the class of the greatest share instead of drawing one. For
        a metric that compares groups a direct search follows, since that class need not be even.
    pos_label : label, optional
        The positive class of a metric for two classes. By default the last class that the metric
        names, else the one that the labels tell: 1 of 0 and 1, True, or a word such as "yes",
        "spam" or "fraud". Where nothing tells it, a metric that needs it is refused.
    n_folds : int, optional
        Number of folds of the validation rows with which the metric is also measured on rows that
        took no part. 5 if there are bases to choose among, else none.
    rng : int or generator, default 0
        Seed of the draws. A row is predicted alike every time, whatever rows come with it, and so
        are rows of equal probabilities; pass ``deterministic=True`` for a model with few of these.

    Attributes
    ----------
    classes_ : array (k,)
        The classes.
    history_ : OptimizationHistory
        Metric, gap, condition number and number of evaluations of each iteration.
    weights_ : ClassWeights
        The weights of the last rule.
    mixture_ : Mixture
        The rules and their shares: what `predict` uses.
    basis_ : FittedBasis
        The basis functions; None after `fit_from_proba`.
    estimator_ : classifier
        The model; absent after `fit_from_proba`.
    n_iter_ : int
        Iterations made.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where the estimator saw any.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.optimize import FrankWolfeClassifier
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 9, size=4000)
    >>> y = (rng.random(4000) < p).astype(int)
    >>> proba = np.column_stack([1 - p, p])
    >>> clf = FrankWolfeClassifier(metric="g_mean").fit_from_proba(proba, y)
    >>> print(round(clf.history_.baseline, 2), round(clf.history_.value, 2))
    0.11 0.7
    """

    def __init__(
        self,
        estimator: Any = None,
        metric: Any = "g_mean",
        *,
        basis: Any = None,
        n_iter: int = 20,
        step: str | None = None,
        gradient: str | None = None,
        epsilon: float = 1e-3,
        matching: str = "probabilities",
        entries: str | None = None,
        probes: str = "fixed",
        ridge: float = 1e-6,
        deterministic: bool = False,
        pos_label: Any = None,
        n_folds: int | None = None,
        rng: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.basis = basis
        self.n_iter = n_iter
        self.step = step
        self.gradient = gradient
        self.epsilon = epsilon
        self.matching = matching
        self.entries = entries
        self.probes = probes
        self.ridge = ridge
        self.deterministic = deterministic
        self.pos_label = pos_label
        self.n_folds = n_folds
        self.rng = rng


class ImportanceWeightedClassifier(RuleClassifier):
    """The estimator, fitted again to training rows with importance weights.

    A model f gives the probability that a row and its label are from the validation sample, and
    training rows get the weight ``f(x, y)/(1 − f(x, y))`` (Hiranandani 2021, section 7.7.2). It
    retrains, and it does not depend on a metric.

    Parameters
    ----------
    estimator : classifier with predict_proba and sample_weight
        It is cloned and fitted, also if it is fitted already.
    discriminator : classifier with predict_proba, optional
        f; by default a logistic regression of the standardised columns and the label.
    clip : float, default 100
        Greatest weight, as a multiple of the mean one.

    Attributes
    ----------
    classes_ : array (k,)
        The classes.
    estimator_ : classifier
        The model that was fitted with weights.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where the estimator saw any.
    """

    def __init__(
        self, estimator: Any = None, *, discriminator: Any = None, clip: float = 100.0
    ) -> None:
        self.estimator = estimator
        self.discriminator = discriminator
        self.clip = clip

    metric = "accuracy"

    def fit(
        self,
        X: Any,
        y: Column,
        *,
        X_val: Any = None,
        y_val: Column | None = None,
        groups_val: Column | None = None,
        sample_weight: Column | None = None,
        sample_weight_val: Column | None = None,
    ) -> Self:
        """Weight the training rows and fit the estimator to them.

        Parameters
        ----------
        X, y
            Training rows and labels; X must be numbers.
        X_val, y_val
            Validation rows and labels; without them all weights are 1.
        groups_val
            Not used; it is here so that all classifiers are called alike.
        sample_weight, sample_weight_val : columns, optional
            Weights of at least 0.
        """
        refuse_lazy(X=X, X_val=X_val)
        check_number(self.clip, "clip", at_least=1.0)
        weight = check_weights(sample_weight)
        if X_val is not None and y_val is not None:
            odds = self._weights(X, y, X_val, y_val)
            weight = odds if weight is None else odds * weight
        return super().fit(
            X,
            y,
            X_val=X_val,
            y_val=y_val,
            sample_weight=weight,
            sample_weight_val=sample_weight_val,
        )

    def fit_from_proba(self, *args: Any, **kwargs: Any) -> Self:
        """Refuse: this classifier retrains, so it needs the rows."""
        raise DataError("importance weighting retrains the estimator; use fit with the rows")

    def _weights(self, X: Any, y: Column, X_val: Any, y_val: Column) -> Any:
        (codes, codes_val), classes = encode_labels({"y": y, "y_val": y_val})
        check_same_length(X=X, y=codes)
        check_same_length(X_val=X_val, y_val=codes_val)
        labels = np.eye(len(classes))
        rows = np.column_stack([np.asarray(X, dtype=float), labels[codes]])
        rows_val = np.column_stack([np.asarray(X_val, dtype=float), labels[codes_val]])
        default = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        model = default if self.discriminator is None else clone(self.discriminator)
        origin = np.repeat([0, 1], [len(rows), len(rows_val)])
        model.fit(np.vstack([rows, rows_val]), origin)
        chance = np.clip(model.predict_proba(rows)[:, 1], 1e-12, 1 - 1e-12)
        odds = chance / (1.0 - chance)
        return np.minimum(odds / odds.mean(), self.clip)

    def _fitted_model(self, X: Any, y: Column, sample_weight: Any) -> Any:
        check_model(self.estimator)
        if isinstance(self.estimator, FrozenEstimator):
            refuse_option(
                self.estimator,
                "estimator",
                "one that can be fitted again: importance weighting retrains it",
            )
        return fitted_clone(self.estimator, X, y, sample_weight)

    def _warn_same_rows(self) -> None:
        """Do not warn: no metric is measured."""

    def _optimise(self, tasks: list[Task]) -> int:
        self.rule_ = np.ones((1, len(tasks[0].classes)))
        return 0


class PlugInClassifier(ProbingClassifier):
    """A post-shifted classifier for a linear metric (PI-EW).

    The weights of the classes are elicited once and the rule ``argmax_i W_i(x)·η_i(x)`` is the
    classifier (Hiranandani 2021, Algorithms 7.1 and 7.2). For a metric that is not linear it
    follows the linear approximation at the model's own probabilities; `FrankWolfeClassifier` goes
    on from there. For two classes and a metric whose form is known every threshold is tried too,
    and the best of them on the validation rows is kept if it is better: elicited weights are only
    as good as the probabilities.

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
    [0.16]
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


# --- The metric along the weight of one class, the weights of the others staying.


def values_along(task: Task, weights: FloatArray, j: int, grid: FloatArray) -> FloatArray:
    """Return the metric with each weight of class j on the grid, the others staying."""
    sample = task.validation
    if isinstance(task.metric, MetricBase):
        inside = sample.confusion(sample.proba)
        return ProbedMetric(task.metric, 1.0, 1.0, inside).values(
            confusions_along(sample, weights, j, grid)
        )
    box = BlackBox(task.metric, task.rows, 1.0, str)
    values = []
    for value in grid:
        moved = weights.copy()
        moved[j] = value
        codes = decide(sample.proba, moved[None], np.ones((len(sample.proba), 1)))
        shares = one_hot(codes, len(weights))
        values.append(box.value(Position(shares, None, None, shares)))  # it reads the shares alone
    return np.array(values)


def middle_of_best(values: FloatArray) -> int:
    """Return the middle of the first run of the greatest values.

    At the ends of the run some row changes its class, so there rounding or a slightly different
    row would decide.
    """
    first = int(np.argmax(values))
    ends = np.flatnonzero(values[first:] != values[first])
    return first + ((int(ends[0]) if ends.size else len(values) - first) - 1) // 2


def confusions_along(sample: Sample, weights: FloatArray, j: int, grid: FloatArray) -> FloatArray:
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
