"""The kinds of rows that basis functions distinguish, for pictures of decisions."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.optimize.search import Task

__all__ = ["RowKinds", "row_kinds"]

# Kinds are looked for in so many rows; the distinct ones of a million take a second.
_ROWS = 20_000
_MOST_KINDS = 12  # curves in a picture


class RowKinds(NamedTuple):
    """Distinct rows of basis values, how often each occurs, and what to call it."""

    values: FloatArray
    frequency: FloatArray
    names: tuple[str, ...]


def row_kinds(task: Task) -> RowKinds:
    """Return the kinds of rows of a task; the average row where there are many kinds."""
    step = max(1, len(task.validation.proba) // _ROWS)
    basis, weight = task.validation.basis[::step], task.validation.weight[::step]
    found, where = np.unique(basis, axis=0, return_inverse=True)
    if len(found) > _MOST_KINDS:
        return RowKinds((weight @ basis)[None], np.ones(1), ("the average row",))
    weight = weight / weight.sum()
    share = np.asarray(np.bincount(where.reshape(-1), weight, minlength=len(found)), float)
    order = np.argsort(-share)
    labels = []
    for row in found[order]:
        on = [n for n, v in zip(task.basis_names, row, strict=True) if v > 0 and n != "constant"]
        labels.append(", ".join(on) if on else "other rows")
    if len(found) == 1:
        labels = ["all rows"]
    return RowKinds(found[order], share[order], tuple(labels))
