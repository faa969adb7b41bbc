"""The kinds of rows that basis functions distinguish, for pictures of decisions."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.optimize.post_shift._read_task import BasisValues
from karat.optimize.search import Task

__all__ = ["RowKinds", "row_kinds"]

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
