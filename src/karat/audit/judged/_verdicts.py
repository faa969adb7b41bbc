"""Verdicts of judges, and true labels of some items."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_pos_label,
    check_same_length,
    encode_gold,
    encode_weak_labels,
    is_matrix,
    present_gold,
    read_column,
    require_two_classes,
)

__all__ = ["Verdicts", "read_verdicts"]


class Verdicts(NamedTuple):
    """Codes (n, judges), negative without a verdict; truth as codes, -1 unknown."""

    codes: IntArray
    truth: IntArray
    classes: AnyArray
    names: list[Any]

    @property
    def known(self) -> BoolArray:
        """Where there is a true label."""
        return np.asarray(self.truth >= 0)

    @property
    def positive(self) -> int:
        """Code of the class whose rate is asked for: the last one."""
        return len(self.classes) - 1

    def says(self) -> FloatArray:
        """Return 1 where a judge says the positive class, 0 where not, its mean where nothing."""
        cast = self.codes >= 0
        yes = (self.codes == self.positive) & cast
        mean = yes.sum(axis=0) / np.maximum(cast.sum(axis=0), 1)
        return np.asarray(np.where(cast, yes, mean))

    def majority(self) -> IntArray:
        """Return the class that most judges name, the larger one in a tie; -1 without a verdict."""
        k = len(self.classes)
        votes = np.stack([(self.codes == c).sum(axis=1) for c in range(k)], axis=1)
        best = k - 1 - np.argmax(votes[:, ::-1], axis=1)
        return np.where(votes.sum(axis=1) > 0, best, -1)


def read_verdicts(
    verdicts: Column | Frame, y_true: Column, classes: Column | None, pos_label: Any
) -> Verdicts:
    """Check verdicts, of one judge or several, beside true labels of some items."""
    table = verdicts
    if not is_matrix(verdicts) and not hasattr(verdicts, "columns"):
        array, mask = read_column(verdicts, "verdicts")
        absent = np.zeros(len(array), bool) if mask is None else mask
        table = [[None if gone else v] for v, gone in zip(array.tolist(), absent, strict=True)]
    gold, present = present_gold(y_true)
    order = None if classes is None else check_classes(classes)
    found = encode_weak_labels(table, order, also={"y_true": gold[present]}, name="verdicts")
    require_two_classes(found.classes, "verdicts", "y_true")
    if pos_label is not None:
        at = check_pos_label(pos_label, found.classes)
        order = np.concatenate([np.delete(found.classes, at), found.classes[at : at + 1]])
        found = encode_weak_labels(table, order, name="verdicts")
    truth = encode_gold(y_true, found.classes)
    check_same_length(verdicts=found.codes, y_true=truth)
    return Verdicts(found.codes, truth, found.classes, list(found.names))
