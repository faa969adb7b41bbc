"""What the classifiers of this package share: reading, fitting and predicting as scikit-learn does.

`PostShiftClassifier` decides by the probabilities of another model: it fits that model if need be,
reads rows, labels, groups and basis functions into tasks, and predicts by class shares.
`ProbingClassifier` finds its shares by probing the metric. `check_model` and `fitted_clone` check
and fit the model itself. The module imports scikit-learn, so only the classifiers import it.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from karat._callers import caller_level
from karat._result import keeps_kind
from karat._sentences import Argument, Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_classes,
    check_fitted,
    check_flag,
    check_probabilities,
    check_same_length,
    check_weights,
    encode_labels,
    is_matrix,
    named,
    order_classes,
    read_column,
    refuse_lazy,
    refuse_option,
    require_two_classes,
    shown,
)
from karat.decisions import Mixture
from karat.decisions.rules import one_hot
from karat.exceptions import DataError, LabelError, SmallSampleWarning
from karat.metrics import GroupMetric, as_metric
from karat.metrics.base import MetricBase
from karat.optimize._feedback import Preferences, ValidationRows
from karat.optimize._probes import Sample
from karat.optimize._problem import SearchOptions, Task, check_n_folds, check_search_options
from karat.optimize._search import HeldOut, class_weights_of, held_out, history_of, run_search
from karat.optimize.basis import FittedBasis, candidates_of, fit_basis, independent, read_basis
from karat.optimize.result import DecisionRegions

# --- Fitting a classifier that decides by the probabilities of another one.


class PostShiftClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of classifiers that decide by the probabilities of another one."""

    estimator: Any
    classes_: AnyArray
    basis_: FittedBasis | None
    _order_: IntArray
    _keep_: IntArray
    _n_basis_: int
    metric: Any
    _same_rows_: bool  # whether the validation rows are those that the model was fitted to

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
        self._same_rows_ = same
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
            raise DataError(
                Argument("proba_val"),
                " and y_val belong together",
                Remedy("pass both or none"),
            )
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
            raise DataError(
                Argument("basis"),
                " and basis_val belong together",
                Remedy("pass both or none"),
            )
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
        self._same_rows_ = False
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
        if label is not None and len(classes) != 2:
            refuse_option(label, "pos_label", f"None where there are {len(classes)} classes")
        metric = self.metric
        if not isinstance(metric, str | MetricBase):
            if label is None:  # a function of labels knows their names; a person saw them
                return np.arange(len(classes))
            ordered = order_classes(classes, label, name="the labels").classes
        else:
            ordered = as_metric(metric)._order_of(classes, pos_label=label, name="the labels")
            if len(ordered) > len(classes):
                raise LabelError(
                    f"the metric is about {named(ordered.tolist())} and the labels are "
                    f"{named(classes.tolist())}; pass rows of every class"
                )
        return np.array([int(np.flatnonzero(classes == c)[0]) for c in ordered])

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
                Argument("basis"),
                f" has {values.shape[1]} functions and the classifier was fitted with "
                f"{self._n_basis_}",
                Remedy("pass the same"),
            )
        return checked[:, self._order_], values[:, self._keep_]

    def _labels(self, codes: IntArray) -> AnyArray:
        return np.asarray(self.classes_[self._order_[codes]])

    def _in_class_order(self, shares: FloatArray) -> FloatArray:
        back = np.empty_like(shares)
        back[:, self._order_] = shares
        return back


class ProbingClassifier(PostShiftClassifier):
    """Base of `PlugInClassifier` and `FrankWolfeClassifier`, which declare the options."""

    basis: Any
    epsilon: float
    matching: str
    entries: str | None
    probes: str
    ridge: float
    gradient: str | None
    deterministic: bool
    n_folds: int | None
    rng: Any
    n_iter: int
    step: str | None

    def _basis(self) -> Any:
        return ["constant"] if self.basis is None else self.basis

    def _needs_training(self) -> bool:
        return check_choice(self.matching, "matching", ("probabilities", "labels")) == "labels"

    def _checked_metric(self, k: int) -> Any:
        if isinstance(self.metric, Preferences):
            return self.metric
        return super()._checked_metric(k)

    # --- finding the classifier

    def _optimise(self, tasks: list[Task]) -> int:
        check_flag(self.deterministic, "deterministic")
        metric = tasks[0].metric
        options = check_search_options(self, metric)
        n_folds = check_n_folds(self.n_folds, len(tasks), metric, tasks[0].validation)
        tried = [self._held_out(task, options, n_folds) for task in tasks] if n_folds else []
        best = int(np.argmax([t.held_out.value for t in tried])) if tried else 0
        task = tasks[best]
        found = run_search(task, options)
        self.mixture_ = found.mixture
        self.n_iter_ = len(found.steps)
        self.history_ = history_of(
            task, found, tried[best] if tried else None, randomized=not self.deterministic
        )
        self.weights_ = class_weights_of(task, found)
        return best

    def _held_out(self, task: Task, options: SearchOptions, n_folds: int) -> HeldOut:
        def fit(some: IntArray) -> Callable[[FloatArray, FloatArray], FloatArray]:
            return partial(self._shares_of, run_search(task, options, some).mixture)

        return held_out(task, fit, n_folds)

    @keeps_kind
    def decision_regions(self) -> DecisionRegions:
        """Return, for two classes, where the second is predicted: its share by the probability.

        There is one curve for each kind of row that the basis functions distinguish.
        """
        check_fitted(self, "classes_")
        if len(self.classes_) != 2:
            raise DataError(
                f"decision regions are drawn for two classes and there are {len(self.classes_)}"
            )
        kinds, frequency, names = self._kinds_
        grid = np.linspace(0.0, 1.0, 1001)
        proba = np.column_stack([1.0 - grid, grid])
        curves = [self._shares(proba, np.repeat(kind[None], len(grid), axis=0)) for kind in kinds]
        return DecisionRegions(
            probability=grid,
            shares=np.stack([curve[:, 1] for curve in curves]),
            kinds=names,
            frequency=frequency,
            classes=self.classes_[self._order_],
        )

    # --- predicting

    def _shares(self, proba: FloatArray, basis: FloatArray) -> FloatArray:
        return self._shares_of(self.mixture_, proba, basis)

    def _shares_of(self, mixture: Mixture, proba: FloatArray, basis: FloatArray) -> FloatArray:
        shares = mixture.class_shares(proba, basis)
        if self.deterministic:
            return one_hot(np.argmax(shares, axis=1), shares.shape[1])
        return shares

    def _codes(self, proba: FloatArray, basis: FloatArray) -> IntArray:
        if self.deterministic:
            shares = self.mixture_.class_shares(proba, basis)
            return np.asarray(np.argmax(shares, axis=1))
        return self.mixture_.draw(proba, basis)


def _training_basis(basis: Any, proba: Any, names: tuple[str, ...]) -> FloatArray:
    """Return the basis functions of the training rows, which must be those of the validation."""
    found, values = read_basis(basis, proba, "basis")
    if found != names:
        raise DataError(
            Argument("basis"),
            f" has the columns {named(list(found))} and basis_val {named(list(names))}",
            Remedy("pass the same functions"),
        )
    return values


def _refuse_weights_alone(sample_weight_val: Any, owners: str) -> None:
    """Refuse weights of validation rows where there are none."""
    if sample_weight_val is not None:
        raise DataError(
            f"sample_weight_val belongs to {owners}; pass them, or use ", Argument("sample_weight")
        )


# --- The kinds of rows that basis functions distinguish, for pictures of decisions.

# Kinds are looked for in so many rows; the distinct ones of a million take a second.
_ROWS = 20_000
_MOST_KINDS = 12  # curves in a picture
_ROUNDING = 1e-6


class RowKinds(NamedTuple):
    """Distinct rows of basis values, how often each occurs, and what to call it."""

    values: FloatArray
    frequency: FloatArray
    names: tuple[str, ...]


def row_kinds(task: Task, functions: BasisValues, keep: IntArray) -> RowKinds:
    """Return the kinds of rows of a task; the average row where there are many kinds.

    Kinds are named by all ``functions``, those too that are combinations of the ones to ``keep``:
    with a constant and an indicator of each group, the last group has a name as well.
    """
    step = max(1, len(task.validation.proba) // _ROWS)
    basis, weight = task.validation.basis[::step], task.validation.weight[::step]
    found, where = np.unique(basis, axis=0, return_inverse=True)
    if len(found) > _MOST_KINDS:
        return RowKinds((weight @ basis)[None], np.ones(1), ("the average row",))
    weight = weight / weight.sum()
    share = np.asarray(np.bincount(where.reshape(-1), weight, minlength=len(found)), float)
    order = np.argsort(-share)
    labels = []
    gram = functions.validation.T @ functions.validation
    combine = np.linalg.lstsq(gram[np.ix_(keep, keep)], gram[keep], rcond=None)[0]
    for row in found[order] @ combine:
        named = zip(functions.names, row, strict=True)
        on = [name for name, value in named if value > _ROUNDING and name != "constant"]
        labels.append(", ".join(on) if on else "other rows")
    if len(found) == 1:
        labels = ["all rows"]
    return RowKinds(found[order], share[order], tuple(labels))


# --- From rows as users pass them to a task that is checked.


class GivenRows(NamedTuple):
    """Rows as they were passed: probabilities, labels, weights and groups."""

    proba: Any
    y: Any
    weight: Any
    groups: Any = None


class BasisValues(NamedTuple):
    """Names and values of basis functions, on validation rows and, where needed, training rows."""

    names: tuple[str, ...]
    validation: FloatArray
    training: FloatArray | None


class TaskReader(NamedTuple):
    """Reads tasks of the same rows, one for each basis; ``order`` is that of the metric."""

    validation: GivenRows
    training: GivenRows | None
    classes: AnyArray
    order: IntArray
    metric: Any

    def read(self, basis: BasisValues) -> tuple[Task, IntArray]:
        """Check everything; return the task, and which of the basis functions it keeps."""
        ordered = self.classes[self.order]
        sample = _read_sample(self.validation, basis.validation, ordered, self.classes, "_val")
        groups = _read_groups(self.validation.groups, len(sample.proba))
        _require_every_class(sample, ordered)
        if isinstance(self.metric, GroupMetric):
            sample = _with_groups(sample, groups, self.metric)
        _require_seen(sample, basis.names)
        if not sample.weight.all():  # such rows are as if they were absent
            present = np.flatnonzero(sample.weight)
            sample = sample.take(present)
            groups = None if groups is None else groups[present]
        train = self._training(basis, sample)
        keep = independent(sample.basis if train is None else train.basis)
        even = np.ptp(sample.weight) == 0
        rows = ValidationRows(
            ordered[sample.labels], groups, None if even else sample.weight, np.argsort(self.order)
        )
        task = Task(
            _with_functions(sample, keep),
            None if train is None else _with_functions(train, keep),
            ordered,
            self.metric,
            rows,
            tuple(basis.names[i] for i in keep),
        )
        return task, keep

    def _training(self, basis: BasisValues, validation: Sample) -> Sample | None:
        if self.training is None:
            return None
        if self.training.proba is self.validation.proba:
            return validation  # the very object: folds must hold its rows out too
        if basis.training is None:
            return None
        return _read_sample(
            self.training, basis.training, self.classes[self.order], self.classes, ""
        )


def _read_sample(
    given: GivenRows, basis: FloatArray, ordered: AnyArray, classes: AnyArray, suffix: str
) -> Sample:
    """Check rows; columns come in the order of the classes and leave in that of the metric."""
    checked = check_probabilities(given.proba, f"proba{suffix}", classes=classes)
    (codes,), _ = encode_labels({f"y{suffix}": given.y}, ordered)
    weights = check_weights(given.weight)
    check_same_length(
        **{f"proba{suffix}": checked, f"y{suffix}": codes, f"sample_weight{suffix}": weights}
    )
    weights = np.ones(len(codes)) if weights is None else weights
    columns = [int(np.flatnonzero(classes == c)[0]) for c in ordered]
    if columns != list(range(len(columns))):
        checked = np.ascontiguousarray(checked[:, columns])
    return Sample(checked, basis, weights / weights.sum(), codes.astype(np.intp))


def _with_functions(sample: Sample, keep: IntArray) -> Sample:
    """Return the sample with some of its basis functions."""
    if len(keep) == sample.basis.shape[1]:
        return sample
    return replace(sample, basis=sample.basis[:, keep])


def _with_groups(sample: Sample, groups: AnyArray | None, metric: GroupMetric) -> Sample:
    """Return the sample with the groups that a metric compares."""
    if groups is None or groups.ndim != 1:
        raise DataError(
            f"{metric.title} compares groups",
            Remedy("pass ", Option("groups_val"), ", the group of each validation row"),
        )
    names, codes = np.unique(groups, return_inverse=True)
    if len(names) != metric.n_groups:
        raise DataError(
            f"{metric.title} is for {metric.n_groups} groups and groups_val has {len(names)}: "
            f"{named(names.tolist())}"
        )
    order = metric.group_order(names).tolist()
    codes = np.array([order.index(g) for g in names.tolist()])[codes]
    return replace(sample, groups=codes.astype(np.intp), n_groups=len(names))


def _require_every_class(sample: Sample, classes: AnyArray) -> None:
    mass = np.bincount(sample.labels, sample.weight, minlength=len(classes))  # type: ignore[arg-type]
    absent = np.flatnonzero(mass == 0)
    if absent.size:
        raise LabelError(
            f"no validation row has the class {shown(classes[absent[0]])}, so the metric "
            "does not depend on it; add rows of it, or leave the class out of the model"
        )


def _require_seen(sample: Sample, names: tuple[str, ...]) -> None:
    absent = np.flatnonzero(sample.weight @ sample.basis == 0)
    if absent.size:
        raise DataError(
            f"the basis function {names[absent[0]]!r} is 0 in every validation row, so no "
            "weight can be found for it; drop it, or add rows where it is not 0"
        )


def _read_groups(groups: Any, n: int) -> AnyArray | None:
    """Check the groups of validation rows: a column, or a matrix for a function of the rows."""
    if groups is None:
        return None
    if is_matrix(groups):
        check_same_length(y_val=np.empty(n), groups_val=groups)
        return np.asarray(groups)
    values, missing = read_column(groups, "groups_val")
    if missing is not None:
        row = int(np.flatnonzero(missing)[0])
        raise DataError(f"groups_val row {row} is missing; give such rows a group of their own")
    check_same_length(y_val=np.empty(n), groups_val=values)
    return values


# --- The model whose probabilities are used: checked, fitted if need be, and asked.


def check_model(estimator: Any) -> None:
    """Check the option ``estimator=``."""
    if estimator is None or not hasattr(estimator, "fit"):
        refuse_option(
            estimator,
            "estimator",
            "a scikit-learn classifier with predict_proba. With saved probabilities, use "
            "fit_from_proba",
        )
    if not hasattr(estimator, "predict_proba"):
        refuse_option(
            estimator,
            "estimator",
            "a classifier with predict_proba; sklearn.calibration.CalibratedClassifierCV makes one",
        )


def fitted_model(estimator: Any, X: Any, y: Column, sample_weight: Column | None) -> Any:
    """Return the estimator if it is fitted, else a clone that is fitted to the rows."""
    check_model(estimator)
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return fitted_clone(estimator, X, y, sample_weight)
    return estimator


def fitted_clone(estimator: Any, X: Any, y: Column, sample_weight: Column | None) -> Any:
    """Return a clone of the estimator, fitted to the rows."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return clone(estimator).fit(X, y, **weights)


def model_probabilities(model: Any, X: Any) -> FloatArray:
    """Return the class probabilities of rows, checked."""
    refuse_lazy(X=X)  # a model may be able to read a lazy frame, in an order of its own
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    known = np.asarray(model.classes_)
    if found.ndim != 2 or found.shape[1] != len(known):
        raise DataError(
            f"{type(model).__name__}.predict_proba returned shape {found.shape} and its classes_ "
            f"are {named(known.tolist())}; expected one column for each class"
        )
    return check_probabilities(found, f"{type(model).__name__}.predict_proba(X)")
