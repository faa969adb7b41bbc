"""Frank–Wolfe with elicited gradients, as a classifier."""

from typing import Any

from karat.optimize.post_shift import ProbingClassifier

__all__ = ["FrankWolfeClassifier"]


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
        ``probes`` for a `FairMetric` alone), and "harmonic" for others; for a function a direct
        search of at most 60 evaluations follows.
    gradient : {None, "known", "probed"}
        Whether slopes come from the gradient of a metric of `karat.metrics` (the default for
        these) or from its values at probes (the only way for a function).
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
        The positive class of a metric for two classes; by default the larger label.
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
    0.11 0.69
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
