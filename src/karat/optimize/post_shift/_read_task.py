"""From rows as users pass them to a task that is checked."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat._validate import (
    check_probabilities,
    check_same_length,
    check_weights,
    encode_labels,
    is_matrix,
    named,
    read_column,
    shown,
)
from karat.exceptions import DataError, LabelError
from karat.metrics import GroupMetric
from karat.optimize.basis import independent
from karat.optimize.feedback import ValidationRows
from karat.optimize.probes import Sample
from karat.optimize.search import Task

__all__ = ["BasisValues", "GivenRows", "TaskReader"]


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
            f"{metric.title} compares groups; pass groups_val=, the group of each validation row"
        )
    names, codes = np.unique(groups, return_inverse=True)
    if len(names) != metric.n_groups:
        raise DataError(
            f"{metric.title} is for {metric.n_groups} groups and groups_val has {len(names)}: "
            f"{named(names.tolist())}"
        )
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
