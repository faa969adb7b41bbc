"""A problem that is read and checked: its rows, its classes, its metric."""

from collections.abc import Sequence
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
from karat.optimize._black_box import Rows
from karat.optimize._sample import Sample

__all__ = [
    "Task",
    "independent_names",
    "kinds_of",
    "read_groups",
    "read_sample",
    "require_every_class",
    "require_seen",
    "with_functions",
    "with_groups",
]

# Kinds of rows are looked for in so many; distinct rows of a million take a second.
_KINDS_FROM = 20_000


class Task(NamedTuple):
    """A problem that is read and checked; columns are in the order of the metric."""

    validation: Sample
    training: Sample | None
    classes: AnyArray
    metric: Any
    rows: Rows
    basis_names: tuple[str, ...]


def independent_names(names: Sequence[str], kept: Sequence[str]) -> IntArray:
    """Return the positions of the kept basis functions, which keep their order."""
    at, positions = 0, []
    for name in kept:
        at = names.index(name, at)
        positions.append(at)
        at += 1
    return np.array(positions, dtype=np.intp)


def read_sample(
    proba: Any,
    y: Any,
    weight: Any,
    basis: FloatArray,
    ordered: AnyArray,
    classes: AnyArray,
    suffix: str,
) -> Sample:
    """Check rows; columns come in the order of the classes and leave in that of the metric."""
    checked = check_probabilities(proba, f"proba{suffix}", classes=classes)
    (codes,), _ = encode_labels({f"y{suffix}": y}, ordered)
    weights = check_weights(weight)
    given = {f"proba{suffix}": checked, f"y{suffix}": codes, f"sample_weight{suffix}": weights}
    check_same_length(**given)
    weights = np.ones(len(codes)) if weights is None else weights
    columns = [int(np.flatnonzero(classes == c)[0]) for c in ordered]
    if columns != list(range(len(columns))):
        checked = np.ascontiguousarray(checked[:, columns])
    return Sample(checked, basis, weights / weights.sum(), codes.astype(np.intp))


def with_functions(sample: Sample, keep: IntArray) -> Sample:
    if len(keep) == sample.basis.shape[1]:
        return sample
    return replace(sample, basis=sample.basis[:, keep])


def with_groups(sample: Sample, groups: AnyArray | None, metric: GroupMetric) -> Sample:
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


def require_every_class(sample: Sample, classes: AnyArray) -> None:
    mass = np.bincount(sample.labels, sample.weight, minlength=len(classes))  # type: ignore[arg-type]
    absent = np.flatnonzero(mass == 0)
    if absent.size:
        raise LabelError(
            f"no validation row has the class {shown(classes[absent[0]])}, so the metric cannot "
            "say what it is worth; add rows of it, or leave the class out of the model"
        )


def require_seen(sample: Sample, names: Sequence[str]) -> None:
    silent = np.flatnonzero(sample.weight @ sample.basis == 0)
    if silent.size:
        raise DataError(
            f"the basis function {names[silent[0]]!r} is 0 in every validation row, so the metric "
            "cannot say what it is worth; drop it, or add rows where it is not 0"
        )


def read_groups(groups: Any, n: int) -> AnyArray | None:
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


def kinds_of(task: Task) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return the distinct rows of basis values, how often each occurs, and what to call it."""
    step = max(1, len(task.validation.proba) // _KINDS_FROM)
    basis, weight = task.validation.basis[::step], task.validation.weight[::step]
    found, where = np.unique(basis, axis=0, return_inverse=True)
    if len(found) > 12:
        return (weight @ basis)[None], np.ones(1), ("the average row",)
    weight = weight / weight.sum()
    share = np.asarray(np.bincount(where.reshape(-1), weight, minlength=len(found)), float)
    order = np.argsort(-share)
    labels = []
    for row in found[order]:
        on = [n for n, v in zip(task.basis_names, row, strict=True) if v > 0 and n != "constant"]
        labels.append(", ".join(on) if on else "other rows")
    if len(found) == 1:
        labels = ["all rows"]
    return found[order], share[order], tuple(labels)
