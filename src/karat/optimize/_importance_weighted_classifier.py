"""Training rows weighted to look like the validation rows: a baseline under shift."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from karat._typing import Column
from karat._validate import (
    check_number,
    check_same_length,
    check_weights,
    encode_labels,
    refuse_lazy,
    refuse_option,
)
from karat.exceptions import DataError
from karat.optimize.baselines import RuleClassifier
from karat.optimize.post_shift import check_model, fitted_clone
from karat.optimize.search import Task

__all__ = ["ImportanceWeightedClassifier"]


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
