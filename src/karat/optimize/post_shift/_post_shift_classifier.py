"""Fitting a classifier that decides by the probabilities of another one."""

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np

from karat._callers import caller_level
from karat._frames import keeps_kind
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    binary_order,
    check_classes,
    check_same_length,
    encode_labels,
    named,
    refuse_lazy,
    refuse_option,
    require_two_classes,
)
from karat.exceptions import DataError, SmallSampleWarning
from karat.metrics import MetricBase, as_metric
from karat.optimize.basis import FittedBasis, candidates_of, fit_basis, read_basis
from karat.optimize.post_shift._model import fitted_model, model_probabilities
from karat.optimize.post_shift._read_task import BasisValues, GivenRows, TaskReader
from karat.optimize.post_shift._row_kinds import row_kinds
from karat.optimize.post_shift._share_classifier import ShareClassifier
from karat.optimize.search import Task

__all__ = ["PostShiftClassifier"]


class PostShiftClassifier(ShareClassifier):
    """Base of classifiers that decide by the probabilities of another one."""

    metric: Any

    # --- fitting

    @keeps_kind
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
        same = X_val is None
        if same:
            _refuse_weights_alone(sample_weight_val, "X_val and y_val")
        self.estimator_ = self._fitted_model(X, y, sample_weight)
        if same:
            self._warn_same_rows()
            X_val, y_val, sample_weight_val = X, y, sample_weight
        known = np.asarray(self.estimator_.classes_)
        (codes,), _ = encode_labels({"y_val": y_val}, known)
        proba_val = model_probabilities(self.estimator_, X_val)
        check_same_length(X_val=proba_val, y_val=codes)
        training = None
        if self._needs_training():
            proba = proba_val if same else model_probabilities(self.estimator_, X)
            training = GivenRows(proba, y, sample_weight)
        fitted = [fit_basis(b, X_val, known[codes]) for b in candidates_of(self._basis())]
        values = []
        for functions in fitted:
            on_val = functions.values(X_val)
            on_train = on_val if same or training is None else functions.values(X)
            values.append(BasisValues(functions.names, on_val, on_train))
        validation = GivenRows(proba_val, y_val, sample_weight_val, groups_val)
        return self._fit(training, validation, values, fitted, known)

    @keeps_kind
    def fit_from_proba(
        self,
        proba: Frame,
        y: Column,
        *,
        proba_val: Frame | None = None,
        y_val: Column | None = None,
        basis: Frame | None = None,
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
        basis, basis_val : matrix (n, L) and (m, L), optional
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
            _refuse_weights_alone(sample_weight_val, "proba_val and y_val")
            if basis is not None and basis_val is not None:
                raise DataError("basis_val belongs to proba_val; pass both, or basis alone")
            proba_val, y_val, sample_weight_val = proba, y, sample_weight
            basis = basis_val = basis_val if basis is None else basis
        elif (basis is None) != (basis_val is None) and self._needs_training():
            raise DataError("basis and basis_val belong together; pass both or none")
        wanted = getattr(self, "basis", None)
        if basis_val is None and wanted is not None:  # there is no X to compute a basis from
            refuse_option(
                wanted, "basis", "None without X; pass the values of its functions as basis="
            )
        names, on_val = read_basis(basis_val, proba_val, "basis" if same else "basis_val")
        training, on_train = None, None
        if self._needs_training():
            training = GivenRows(proba, y, sample_weight)
            on_train = on_val if same else _training_basis(basis, proba, names)
        if hasattr(self, "estimator_"):
            del self.estimator_
        validation = GivenRows(proba_val, y_val, sample_weight_val, groups_val)
        return self._fit(training, validation, [BasisValues(names, on_val, on_train)], None, order)

    def _fit(
        self,
        training: GivenRows | None,
        validation: GivenRows,
        candidates: list[BasisValues],
        fitted: list[FittedBasis] | None,
        classes: AnyArray,
    ) -> Self:
        """Check everything, choose the basis, and find the classifier."""
        require_two_classes(classes, "y")
        order = self._metric_order(classes)
        metric = self._checked_metric(len(classes))
        reader = TaskReader(validation, training, classes, order, metric)
        tasks, kept = zip(*map(reader.read, candidates), strict=True)
        chosen = self._optimise(list(tasks))
        self.classes_ = classes
        self._order_ = order
        self._keep_ = kept[chosen]
        self._n_basis_ = len(candidates[chosen].names)
        self.basis_ = None if fitted is None else fitted[chosen]
        self._kinds_ = row_kinds(tasks[chosen], candidates[chosen], kept[chosen])
        return self

    @abstractmethod
    def _optimise(self, tasks: list[Task]) -> int:
        """Find the classifier; return which of the tasks (one for each basis) it is for."""

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

    def _fitted_model(self, X: Any, y: Column, sample_weight: Column | None) -> Any:
        return fitted_model(self.estimator, X, y, sample_weight)

    def _warn_same_rows(self) -> None:
        warnings.warn(
            "no validation rows were passed, so the metric is measured on the rows that the model "
            "was fitted to, where it looks better than it is; pass X_val and y_val",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )

    def _metric_order(self, classes: AnyArray) -> IntArray:
        """Return the positions of the classes in the order of the metric: the positive one last."""
        label = getattr(self, "pos_label", None)
        if label is None:
            return np.arange(len(classes))
        if len(classes) != 2:
            refuse_option(label, "pos_label", f"None where there are {len(classes)} classes")
        ordered = binary_order(classes, label, name="the labels")
        return np.array([int(np.flatnonzero(classes == c)[0]) for c in ordered])


def _training_basis(basis: Any, proba: Any, names: tuple[str, ...]) -> FloatArray:
    """Return the basis functions of the training rows, which must be those of the validation."""
    found, values = read_basis(basis, proba, "basis")
    if found != names:
        raise DataError(
            f"basis has the columns {named(list(found))} and basis_val "
            f"{named(list(names))}; pass the same functions"
        )
    return values


def _refuse_weights_alone(sample_weight_val: Any, owners: str) -> None:
    """Refuse weights of validation rows where there are none."""
    if sample_weight_val is not None:
        raise DataError(f"sample_weight_val belongs to {owners}; pass them, or use sample_weight")
