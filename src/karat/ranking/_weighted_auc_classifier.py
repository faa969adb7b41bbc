"""A linear classifier that is trained for a weighted AUC."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, validate_data

from karat._callers import caller_level
from karat._typing import AnyArray, BoolArray, FloatArray
from karat._validate import (
    check_count,
    check_fitted,
    check_number,
    refuse_lazy,
    refuse_option,
)
from karat.exceptions import LabelError
from karat.ranking.learning import (
    Goal,
    best_threshold,
    check_loss,
    fit_linear,
    likelihood_share,
    lower_weight,
    scales,
)
from karat.ranking.weights import Uniform, Weight

__all__ = ["WeightedAUCClassifier"]


class WeightedAUCClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear scores that maximise a surrogate of a weighted AUC.

    After Maurer & Pontil (2020), section 2.2, it minimises, over w and b,

    ``(1 − λ)·Σⱼ ωⱼ·meanᵢ φ(w·(xᵢ − xⱼ) / margin) + λ·log-loss(w, b) + ‖w‖² / (2·C·n)``

    over positives i and negatives j, with ``ωⱼ = (K(r/n₀) − K((r−1)/n₀)) / K(1)`` for the negative
    of ascending rank r. The first term is 1 − f_{W′,ℓ} / ‖W′‖₁, where ℓ = 1 − φ is at most the
    step that counts a pair as ranked well, and W′ ≤ W has no jumps. Value and gradient take
    O(n log n) by sorting. The log-loss is a regulariser: a narrow band rests on few negatives, and
    the log-loss of all rows guides the search and fixes the scale of the scores.

    Parameters
    ----------
    weight : Weight, default None
        What a false-positive rate is worth, such as ``FprBand(0, 0.05)``; None is ``Uniform()``,
        the AUC.
    loss : {"truncated_hinge", "hinge", "squared_hinge", "logistic"}
        φ at a difference d, in units of the margin:

        - ``"truncated_hinge"``: 1 for d ≤ 0, 0 for d ≥ 1, two parabolas between. The one loss here
          that is bounded, as Theorem 3 asks, and so follows the area itself. Not convex; the
          search starts at a logistic regression.
        - ``"hinge"``: ``max(0, 1 − d)``, its corner rounded over 0.9 < d < 1.1 (at most 0.025
          above it). ``"squared_hinge"`` is its square, ``"logistic"`` is ``log(1 + exp(−d))``.
          These are convex where the weight does not rise with the false-positive rate. They
          charge a positive by how far it is below a negative, so in a narrow band, with many
          positives far below its negatives, such pairs dominate the sum, and without the log-loss
          w = 0 can be the minimum: use them for weights as wide as the AUC.
    likelihood : float, optional
        λ, between 0 (the ranking alone) and 1 (a logistic regression). By default 3/4, and nearer
        to 1 where the weight looks at fewer than ten rows for each column of X: the fewer of the
        positives and of the negatives under it, ``n₀·‖W′‖₁/‖W′‖_∞``. Lower values pay off where no
        linear model has the right probabilities; choose it by cross-validation.
    margin : float, default 0.3
        The difference of scores from which a pair counts as ranked well. With λ > 0 scores are on
        the scale of log-odds.
    C : float, default 1.0
        Inverse strength of the penalty, as in scikit-learn; it applies to standardised columns, so
        the units of X do not matter.
    ramp : float, default 0.1
        Width of the ramps of W′ as a share of the band of an ``FprBand``, between 0 (none) and 1;
        other weights are taken as they are.
    max_iter : int, default 1000
        Most iterations of L-BFGS.
    tol : float, default 1e-5
        The search ends when no entry of the gradient exceeds it, or when the objective falls by a
        share of less than ``tol**2``.

    Attributes
    ----------
    classes_ : array (2,)
        Labels in ascending order; the second is the positive one.
    coef_ : array (1, columns)
        Coefficients in the units of X.
    intercept_ : array (1,)
        Minus the threshold of the greatest training accuracy, for `predict`; no weighted AUC
        depends on it.
    likelihood_ : float
        λ as used.
    objective_ : float
        What was minimised, at the end.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether the search ended before ``max_iter``; there is a warning if not.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    There is no ``predict_proba``: scores trained for a part of the ROC curve are no probabilities.
    ``sklearn.calibration.CalibratedClassifierCV`` makes some from held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.ranking import FprBand, WeightedAUCClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = rng.normal(size=(400, 2)) + 1.5 * (y == "spam")[:, None]
    >>> model = WeightedAUCClassifier(FprBand(0, 0.1)).fit(X, y)
    >>> model.predict([[-1, 0], [3, 2]]).tolist()
    ['ham', 'spam']
    """

    def __init__(
        self,
        weight: Weight | None = None,
        *,
        loss: str = "truncated_hinge",
        likelihood: float | None = None,
        margin: float = 0.3,
        C: float = 1.0,
        ramp: float = 0.1,
        max_iter: int = 1000,
        tol: float = 1e-5,
    ) -> None:
        self.weight = weight
        self.loss = loss
        self.likelihood = likelihood
        self.margin = margin
        self.C = C
        self.ramp = ramp
        self.max_iter = max_iter
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the scores.

        Parameters
        ----------
        X : array or frame (n, columns)
            Finite numbers.
        y : column (n,)
            Two classes; the larger label is the positive one.
        sample_weight : column (n,), optional
            How many rows a row stands for.
        """
        refuse_lazy(X=X, y=y, sample_weight=sample_weight)
        goal = self._goal()
        rows, positive, mass = self._read(X, y, sample_weight)
        if self.likelihood is None:
            share = likelihood_share(positive, mass, goal.weight, rows.shape[1])
            goal = goal._replace(likelihood=share)
        self.likelihood_ = goal.likelihood
        mean, scale = scales(rows, mass)
        standard = (rows - mean) / scale
        start = _start(standard, positive, mass, goal.c)
        options = {"max_iter": int(self.max_iter), "tol": float(self.tol)}
        found = fit_linear(standard, positive, mass, start, goal, **options)  # type: ignore[arg-type]
        # A search that starts at its end took no step, and scikit-learn expects one.
        self.n_iter_, self.objective_ = max(found.n_iter, 1), found.objective
        self.converged_ = not found.capped
        if found.capped:
            text = f"the search stopped at max_iter={self.max_iter}; raise max_iter or tol"
            warnings.warn(text, ConvergenceWarning, stacklevel=caller_level())
        self.coef_ = (found.coef / scale)[None, :]
        cut = best_threshold(standard @ found.coef, positive, mass)
        self.intercept_ = np.array([-cut - float(self.coef_[0] @ mean)])
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of rows; above 0 they are called positive."""
        check_fitted(self, "classes_")
        refuse_lazy(X=X)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(rows @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> AnyArray:
        """Return the labels of rows."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(np.intp)])

    def _goal(self) -> Goal:
        """Check the options."""
        for name in ("C", "margin"):
            if check_number(getattr(self, name), name, at_least=0.0) == 0:
                refuse_option(getattr(self, name), name, "a number above 0")
        check_count(self.max_iter, "max_iter")
        check_number(self.tol, "tol", at_least=0.0)
        weight = Uniform() if self.weight is None else self.weight
        asked = 1.0 if self.likelihood is None else self.likelihood
        share = check_number(asked, "likelihood", at_least=0.0, at_most=1.0)
        return Goal(
            weight=lower_weight(weight, self.ramp),
            loss=check_loss(self.loss),
            margin=float(self.margin),
            likelihood=share,
            c=float(self.C),
        )

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[FloatArray, BoolArray, FloatArray]:
        """Check the data; return rows that count, which are positive, and their weights."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if len(self.classes_) > 2:
            kind = type_of_target(labels, input_name="y")
            raise LabelError(
                f"Only binary classification is supported. The type of the target is {kind}. "
                f"y has {len(self.classes_)} classes; wrap the classifier in "
                "sklearn.multiclass.OneVsRestClassifier"
            )
        mass = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        counted = mass > 0
        seen = np.unique(labels[counted])
        if len(seen) < 2:
            raise LabelError(
                f"y holds one class only ({seen.tolist()}) in rows of positive sample_weight; "
                "expected two classes"
            )
        return rows[counted], labels[counted] == self.classes_[1], mass[counted]


def _start(x: FloatArray, positive: BoolArray, mass: FloatArray, c: float) -> FloatArray:
    """Return a logistic regression: not far from the best ranking, and the same every time."""
    # Far below the tolerance of the search, so that the start adds nothing to its error.
    model = LogisticRegression(C=c, tol=1e-8, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(x, positive, sample_weight=mass)
    return np.append(model.coef_[0], model.intercept_)
