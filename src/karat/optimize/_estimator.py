"""What every classifier of this package shares: reading, checking and predicting."""

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    binary_order,
    check_classes,
    check_fitted,
    check_probabilities,
    check_same_length,
    encode_labels,
    named,
    refuse_lazy,
    require_two_classes,
    shown,
)
from karat.exceptions import DataError, LabelError, SmallSampleWarning
from karat.metrics import GroupMetric, MetricBase, as_metric
from karat.optimize._basis import FittedBasis, fit_basis
from karat.optimize._black_box import Rows
from karat.optimize._read_basis import candidates_of, independent, read_basis
from karat.optimize._task import (
    Task,
    independent_names,
    kinds_of,
    read_groups,
    read_sample,
    require_every_class,
    require_seen,
    with_functions,
    with_groups,
)

__all__ = ["PostShiftClassifier"]


class PostShiftClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of classifiers that decide by the probabilities of another one."""

    estimator: Any
    metric: Any

    # --- fitting

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
        """Fit the estimator if it is not fitted, and find the classifier.

        Parameters
        ----------
        X : array or frame (n, columns)
            Training rows.
        y : column (n,)
            Their labels, which may be noisy, or of a proxy.
        X_val, y_val : array or frame (m, columns) and column (m,), optional
            Rows with the labels that the metric is about. Without them X and y serve, and there is
            a warning: the metric is then measured on the rows that the model was fitted to.
        groups_val : column (m,), optional
            Groups of the validation rows, for a metric that is a function of them. The classifier
            does not see them.
        sample_weight, sample_weight_val : columns, optional
            Weights of at least 0.
        """
        refuse_lazy(X=X, y=y, X_val=X_val, y_val=y_val, sample_weight=sample_weight)
        if (X_val is None) != (y_val is None):
            raise DataError("X_val and y_val belong together; pass both or none")
        self.estimator_ = self._fitted_estimator(X, y, sample_weight)
        if X_val is None:
            self._warn_same_rows()
            X_val, y_val, sample_weight_val = X, y, sample_weight
            same = True
        else:
            same = False
        known = np.asarray(self.estimator_.classes_)
        (codes,), _ = encode_labels({"y_val": y_val}, known)
        proba_val = self._model_proba(X_val)
        check_same_length(X_val=proba_val, y_val=codes)
        needs = self._needs_training()
        proba = proba_val if same else (self._model_proba(X) if needs else None)
        found = []
        for basis in candidates_of(self._basis()):
            fitted = fit_basis(basis, X_val, np.asarray(known)[codes])
            on_val = fitted.values(X_val)
            on_train = on_val if same else (fitted.values(X) if needs else None)
            found.append((fitted, on_val, on_train))
        return self._fit(
            (proba, y, sample_weight) if needs else None,
            (proba_val, y_val, sample_weight_val, groups_val),
            [(f.names, v, t) for f, v, t in found],
            [f for f, _, _ in found],
            known,
        )

    def fit_from_proba(
        self,
        proba: Frame,
        y: Column,
        *,
        proba_val: Frame | None = None,
        y_val: Column | None = None,
        basis_train: Frame | None = None,
        basis_val: Frame | None = None,
        groups_val: Column | None = None,
        sample_weight: Column | None = None,
        sample_weight_val: Column | None = None,
        classes: Column | None = None,
    ) -> Self:
        """Find the classifier from saved probabilities; the model itself is not needed.

        Parameters
        ----------
        proba : matrix (n, k)
            The model's class probabilities of the training rows.
        y : column (n,)
            Their labels.
        proba_val, y_val : matrix (m, k) and column (m,), optional
            The same of rows with the labels that the metric is about; by default the training rows
            serve.
        basis_train, basis_val : matrix (n, L) and (m, L), optional
            Values of the basis functions, in [0, 1]; by default the constant. The columns of a
            frame name them.
        groups_val, sample_weight, sample_weight_val
            As in `fit`.
        classes : column (k,), optional
            The classes in the order of the columns; by default those found, sorted.
        """
        refuse_lazy(proba=proba, proba_val=proba_val)
        if (proba_val is None) != (y_val is None):
            raise DataError("proba_val and y_val belong together; pass both or none")
        same = proba_val is None
        columns = {"y": y} if same else {"y": y, "y_val": y_val}
        order = encode_labels(columns)[1] if classes is None else check_classes(classes)
        if same:
            proba_val, y_val, sample_weight_val = proba, y, sample_weight
            if basis_val is not None and basis_train is None:
                basis_train = basis_val
            basis_val = basis_train
        elif (basis_train is None) != (basis_val is None) and self._needs_training():
            raise DataError("basis_train and basis_val belong together; pass both or none")
        names, on_val = read_basis(basis_val, proba_val, "basis_train" if same else "basis_val")
        needs = self._needs_training()
        on_train = on_val
        if needs and not same:
            names_train, on_train = read_basis(basis_train, proba, "basis_train")
            if names_train != names:
                raise DataError(
                    f"basis_train has the columns {named(list(names_train))} and basis_val "
                    f"{named(list(names))}; pass the same functions"
                )
        if hasattr(self, "estimator_"):
            del self.estimator_
        return self._fit(
            (proba, y, sample_weight) if needs else None,
            (proba_val, y_val, sample_weight_val, groups_val),
            [(names, on_val, on_train if needs else None)],
            None,
            order,
        )

    def _fit(
        self,
        training: tuple[Any, Any, Any] | None,
        validation: tuple[Any, Any, Any, Any],
        candidates: list[tuple[tuple[str, ...], FloatArray, FloatArray | None]],
        fitted: list[FittedBasis] | None,
        classes: AnyArray,
    ) -> Self:
        """Check everything, choose the basis, and find the classifier."""
        require_two_classes(classes, "y")
        order = self._metric_order(classes)
        metric = self._checked_metric(len(classes))
        proba_val, y_val, weight_val, groups_val = validation
        tasks = []
        for names, on_val, on_train in candidates:
            sample = read_sample(
                proba_val, y_val, weight_val, on_val, classes[order], classes, "_val"
            )
            groups = read_groups(groups_val, len(sample.proba))
            require_every_class(sample, classes[order])
            if isinstance(metric, GroupMetric):
                sample = with_groups(sample, groups, metric)
            require_seen(sample, names)
            if not sample.weight.all():  # such rows are as if they were absent
                present = np.flatnonzero(sample.weight)
                sample = sample.take(present)
                groups = None if groups is None else groups[present]
            train = None
            if training is not None and training[0] is proba_val:
                train = sample  # the very object: folds must hold its rows out too
            elif training is not None and on_train is not None:
                train = read_sample(*training, on_train, classes[order], classes, "")
            even = np.ptp(sample.weight) == 0
            keep = independent(sample.basis if train is None else train.basis)
            tasks.append(
                Task(
                    with_functions(sample, keep),
                    None if train is None else with_functions(train, keep),
                    classes[order],
                    metric,
                    Rows(
                        classes[order][sample.labels],
                        groups,
                        None if even else sample.weight,
                        np.argsort(order),
                    ),
                    tuple(names[i] for i in keep),
                )
            )
        chosen = self._optimise(tasks)
        self.classes_ = classes
        self._order_ = order
        self._keep_ = independent_names(candidates[chosen][0], tasks[chosen].basis_names)
        self._n_basis_ = len(candidates[chosen][0])
        self.basis_ = None if fitted is None else fitted[chosen]
        self._kinds_ = kinds_of(tasks[chosen])
        return self

    @abstractmethod
    def _optimise(self, tasks: list[Task]) -> int:
        """Find the classifier; return which of the tasks (one for each basis) it is for."""

    @abstractmethod
    def _shares(self, proba: FloatArray, basis: FloatArray) -> FloatArray:
        """Return the class shares on rows, in the order of the metric."""

    def _codes(self, proba: FloatArray, basis: FloatArray) -> IntArray:
        """Return the predicted codes on rows, in the order of the metric."""
        return np.asarray(np.argmax(self._shares(proba, basis), axis=1))

    # --- what subclasses may change

    def _needs_training(self) -> bool:
        return False

    def _basis(self) -> Any:
        return ["constant"]

    def _checked_metric(self, k: int) -> Any:
        """Return a metric for k classes, or a function."""
        if callable(self.metric) and not isinstance(self.metric, MetricBase):
            return self.metric
        return as_metric(self.metric).for_classes(k)

    # --- predicting

    def predict(self, X: Any) -> AnyArray:
        """Return the predicted labels; the same rows are predicted alike every time."""
        proba, basis = self._rows(X)
        return self._labels(self._codes(proba, basis))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return with what probability `predict` chooses each class.

        These are the shares of a randomised decision, not how probable the classes are.
        """
        proba, basis = self._rows(X)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def _rows(self, X: Any) -> tuple[FloatArray, FloatArray]:
        check_fitted(self, "classes_")
        if not hasattr(self, "estimator_") or self.basis_ is None:
            raise NotFittedError(
                f"this {type(self).__name__} was fitted from probabilities and has no model; use "
                "predict_from_proba"
            )
        proba = self._model_proba(X)
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

    # --- reading

    def _fitted_estimator(self, X: Any, y: Column, sample_weight: Column | None) -> Any:
        self._check_estimator()
        try:
            check_is_fitted(self.estimator)
        except NotFittedError:
            return self._fitted_clone(X, y, sample_weight)
        return self.estimator

    def _fitted_clone(self, X: Any, y: Column, sample_weight: Column | None) -> Any:
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return clone(self.estimator).fit(X, y, **weights)

    def _check_estimator(self) -> None:
        if self.estimator is None or not hasattr(self.estimator, "fit"):
            raise DataError(
                f"estimator is {shown(self.estimator)}; expected a scikit-learn classifier with "
                "predict_proba. With saved probabilities, use fit_from_proba"
            )
        if not hasattr(self.estimator, "predict_proba"):
            raise DataError(
                f"{type(self.estimator).__name__} has no predict_proba; wrap it in "
                "sklearn.calibration.CalibratedClassifierCV, or pass a classifier that has it"
            )

    def _model_proba(self, X: Any) -> FloatArray:
        refuse_lazy(X=X)  # an estimator may be able to read it, in an order of its own
        found = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        known = np.asarray(self.estimator_.classes_)
        if found.ndim != 2 or found.shape[1] != len(known):
            raise DataError(
                f"{type(self.estimator_).__name__}.predict_proba returned shape {found.shape} and "
                f"its classes_ are {named(known.tolist())}; expected one column for each class"
            )
        return check_probabilities(found, f"{type(self.estimator_).__name__}.predict_proba(X)")

    def _warn_same_rows(self) -> None:
        warnings.warn(
            "no validation rows were passed, so the metric is measured on the rows that the model "
            "was fitted to, where it looks better than it is; pass X_val and y_val",
            SmallSampleWarning,
            stacklevel=3,
        )

    def _metric_order(self, classes: AnyArray) -> IntArray:
        """Return the positions of the classes in the order of the metric: the positive one last."""
        label = getattr(self, "pos_label", None)
        if label is None:
            return np.arange(len(classes))
        if len(classes) != 2:
            raise LabelError(f"pos_label is for two classes and there are {len(classes)}")
        ordered = binary_order(classes, label, name="the labels")
        return np.array([int(np.flatnonzero(classes == c)[0]) for c in ordered])
