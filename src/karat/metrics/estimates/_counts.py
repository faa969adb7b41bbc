"""Labelled items counted into the cells of truth and prediction, by group and cluster."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, Column, FloatArray, IntArray
from karat._validate import (
    check_alike,
    check_probabilities,
    check_same_length,
    check_weights,
    encode_groups,
    encode_labels,
    is_matrix,
    require_two_classes,
)
from karat.exceptions import MetricError
from karat.metrics.base import MetricBase

__all__ = ["Counted", "count_items"]


class Counted(NamedTuple):
    """The cell of each item, with its weight, group and cluster; ``shape`` of a table of cells."""

    cell: IntArray
    weight: FloatArray | None
    group: IntArray | None
    group_names: AnyArray | None
    cluster: IntArray | None
    classes: AnyArray

    @property
    def size(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def of(self, group: int) -> "Counted":
        """Return the items of one group."""
        rows = np.flatnonzero(self.group == group)
        weight = None if self.weight is None else self.weight[rows]
        cluster = None
        if self.cluster is not None:
            cluster = np.unique(self.cluster[rows], return_inverse=True)[1]
        return self._replace(
            cell=self.cell[rows], weight=weight, group=None, group_names=None, cluster=cluster
        )

    def by_group(self) -> "Counted":
        """Return the items with cells (group, truth, prediction)."""
        assert self.group is not None
        return self._replace(cell=self.group * self.size**2 + self.cell)

    def table(self, cells: int) -> FloatArray:
        """Return the counts, or sums of weights, of all cells."""
        return np.bincount(self.cell, self.weight, cells).astype(np.float64)


def count_items(
    metric: MetricBase,
    y_true: Column,
    y_pred: Column,
    *,
    groups: Column | None,
    clusters: Column | None,
    sample_weight: Column | None,
    classes: Column | None,
    pos_label: Any,
) -> Counted:
    """Check and count what was passed to ``estimate``."""
    if is_matrix(y_pred):
        check_probabilities(y_pred, "y_pred")
        raise MetricError(
            "y_pred holds class probabilities; expected labels: estimate counts items in whole "
            "cells. Predict a class of each item first"
        )
    order = metric._class_order(y_true, y_pred, classes, pos_label)
    (true, called), found = encode_labels({"y_true": y_true, "y_pred": y_pred}, order)
    if classes is None:
        check_alike({"y_true": true, "y_pred": called}, found)
    require_two_classes(found, "y_true", "y_pred")
    weight = check_weights(sample_weight)
    group, names = encode_groups(groups)
    cluster, _ = encode_groups(clusters, name="clusters")
    check_same_length(
        y_true=true, y_pred=called, sample_weight=weight, groups=group, clusters=cluster
    )
    return Counted(true * len(found) + called, weight, group, names, cluster, found)
