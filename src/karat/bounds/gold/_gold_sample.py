"""The labelled items, and label models that have not seen their labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from karat._typing import BoolArray, Column, FloatArray, IntArray
from karat.bounds.inputs import Inputs, refitted
from karat.weak.models import has_seen_gold

__all__ = ["GoldSample", "read_sample"]

_FOLDS = 5


@dataclass(frozen=True, slots=True)
class GoldSample:
    """Items with a true label: their places, classes and folds.

    ``p[f]`` is P(Y | pattern) of a label model that has not seen the labels of fold f; all labels
    are of one fold where the label model has seen none.
    """

    rows: IntArray
    labels: IntArray
    fold: IntArray
    p: FloatArray

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, rows: BoolArray | None) -> "GoldSample":
        """Return the labels among the selected items."""
        if rows is None:
            return self
        kept = rows[self.rows]
        return GoldSample(self.rows[kept], self.labels[kept], self.fold[kept], self.p)

    def posterior(self, ids: IntArray) -> FloatArray:
        """Return P(Y | Z) of every label from a model without it; ``ids`` of all items."""
        return np.asarray(self.p[self.fold, ids[self.rows]])


def read_sample(
    inputs: Inputs,
    label_model: Any,
    gold: Any,
    class_prior: Column | None,
    rng: np.random.Generator,
) -> GoldSample | None:
    """Refit the label model without each fold of the labels, if it has seen them.

    It has if it was fitted here, or if it was fitted with true labels (``gold_n_``); P(Y | Z) as
    an array and models that cannot be refitted are taken not to have. ``gold`` is what `read_gold`
    returned. Labels of one cluster are in one fold.
    """
    if gold is None or not gold[1].any():
        return None
    rows = np.flatnonzero(gold[1])
    labels = gold[0][rows]
    if label_model is not None and not has_seen_gold(label_model):
        return GoldSample(rows, labels, np.zeros(len(rows), dtype=int), inputs.p[None])
    unit = np.arange(len(rows)) if inputs.cluster is None else inputs.cluster[rows]
    _, unit = np.unique(unit, return_inverse=True)
    n_units = int(unit.max()) + 1
    folds = min(_FOLDS, n_units)
    fold = rng.permutation(np.arange(n_units) % folds)[unit]
    p = []
    for f in range(folds):
        known = gold[0].copy()
        known[rows[fold == f]] = -1
        p.append(refitted(inputs, label_model, known, class_prior))
    return GoldSample(rows, labels, fold, np.array(p))
