"""Predicting by class shares, from the rows of a model or from saved probabilities."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from karat._typing import AnyArray, FloatArray, Frame, IntArray
from karat._validate import check_fitted, check_probabilities
from karat.exceptions import DataError
from karat.optimize.basis import FittedBasis, read_basis
from karat.optimize.post_shift._model import model_probabilities

__all__ = ["ShareClassifier"]


class ShareClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of classifiers that predict by shares of the classes, found by a subclass's ``fit``.

    Inside, columns are in the order of the metric (`_order_`: the positive class last) and basis
    functions are those that were kept (`_keep_`); outside, in the order of ``classes_``.
    """

    estimator: Any
    classes_: AnyArray
    basis_: FittedBasis | None
    _order_: IntArray
    _keep_: IntArray
    _n_basis_: int

    @abstractmethod
    def _shares(self, proba: FloatArray, basis: FloatArray) -> FloatArray:
        """Return the class shares on rows, in the order of the metric."""

    def _codes(self, proba: FloatArray, basis: FloatArray) -> IntArray:
        """Return the predicted codes on rows, in the order of the metric."""
        return np.asarray(np.argmax(self._shares(proba, basis), axis=1))

    def predict(self, X: Any) -> AnyArray:
        """Return the predicted labels; the same rows are predicted alike every time."""
        proba, basis = self._model_rows(X)
        return self._labels(self._codes(proba, basis))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return with what probability `predict` chooses each class.

        These are the shares of a randomised decision, not how probable the classes are.
        """
        proba, basis = self._model_rows(X)
        return self._in_class_order(self._shares(proba, basis))

    def predict_from_proba(self, proba: Frame, *, basis: Frame | None = None) -> AnyArray:
        """Return the predicted labels from the model's probabilities.

        Parameters
        ----------
        proba : matrix (n, k)
            The model's class probabilities.
        basis : matrix (n, L), optional
            Values of the basis functions, as in `fit_from_proba`.
        """
        return self._labels(self._codes(*self._saved_rows(proba, basis)))

    def predict_proba_from_proba(self, proba: Frame, *, basis: Frame | None = None) -> FloatArray:
        """Return with what probability each class is predicted, from the model's probabilities.

        Parameters
        ----------
        proba : matrix (n, k)
            The model's class probabilities.
        basis : matrix (n, L), optional
            Values of the basis functions, as in `fit_from_proba`.
        """
        return self._in_class_order(self._shares(*self._saved_rows(proba, basis)))

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X, if the estimator knows it."""
        check_fitted(self, "estimator_")
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the columns of X; there are none if the estimator saw no names."""
        check_fitted(self, "estimator_")
        return np.asarray(self.estimator_.feature_names_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def _model_rows(self, X: Any) -> tuple[FloatArray, FloatArray]:
        check_fitted(self, "classes_")
        if not hasattr(self, "estimator_") or self.basis_ is None:
            raise NotFittedError(
                f"this {type(self).__name__} was fitted from probabilities and has no model; use "
                "predict_from_proba"
            )
        proba = model_probabilities(self.estimator_, X)
        return proba[:, self._order_], self.basis_.values(X)[:, self._keep_]

    def _saved_rows(self, proba: Frame, basis: Frame | None) -> tuple[FloatArray, FloatArray]:
        check_fitted(self, "classes_")
        checked = check_probabilities(proba, "proba", classes=self.classes_)
        _, values = read_basis(basis, checked, "basis")
        if values.shape[1] != self._n_basis_:
            raise DataError(
                f"basis has {values.shape[1]} functions and the classifier was fitted with "
                f"{self._n_basis_}; pass the same"
            )
        return checked[:, self._order_], values[:, self._keep_]

    def _labels(self, codes: IntArray) -> AnyArray:
        return np.asarray(self.classes_[self._order_[codes]])

    def _in_class_order(self, shares: FloatArray) -> FloatArray:
        back = np.empty_like(shares)
        back[:, self._order_] = shares
        return back
