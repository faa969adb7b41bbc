"""Put a bound's data together: counts by fold, and q̂ learned on the other folds."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import check_probabilities, check_same_length, encode_labels, is_matrix
from karat.bounds._inputs import Inputs
from karat.bounds._predictor import features, learn_predictions
from karat.bounds._problem import Problem
from karat.bounds._sample import Sample, split_counts, split_rows
from karat.statistics.kernels import joint_counts

__all__ = ["Predictions", "build_problem", "plug_in", "read_predictions"]

_FOLDS = 5
_MOST_CELLS = 20_000_000


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predicted codes (n,), or class probabilities (n, k) of a randomised classifier."""

    codes: IntArray | None
    proba: FloatArray | None = None

    def of(self, rows: BoolArray) -> "Predictions":
        """Return those of some rows."""
        if self.proba is not None:
            return replace(self, proba=self.proba[rows])
        return replace(self, codes=None if self.codes is None else self.codes[rows])


def read_predictions(y_pred: Column | Frame, inputs: Inputs, name: str = "y_pred") -> Predictions:
    """Check predictions against the classes and the number of items."""
    if is_matrix(y_pred):
        proba = check_probabilities(y_pred, name, classes=inputs.given)
        check_same_length(weak_labels=inputs.votes.ids, **{name: proba})
        return Predictions(None, proba[:, inputs.keep])
    (codes,), _ = encode_labels({name: y_pred}, inputs.classes)
    check_same_length(weak_labels=inputs.votes.ids, **{name: codes})
    return Predictions(codes)


def build_problem(
    inputs: Inputs,
    predicted: Predictions,
    *,
    n_outcomes: int,
    method: str,
    rng: np.random.Generator,
    rows: BoolArray | None = None,
    slack: float = 0.0,
    prior: FloatArray | None = None,
) -> Problem:
    """Count, split into folds and learn q̂; ``rows`` chooses some items (a group)."""
    ids, weight, cluster = inputs.votes.ids, inputs.weight, inputs.cluster
    if rows is not None:
        ids, predicted = ids[rows], predicted.of(rows)
        weight = None if weight is None else weight[rows]
        cluster = None if cluster is None else np.unique(cluster[rows], return_inverse=True)[1]
    shape = (len(inputs.p), n_outcomes)
    folds = 1 if method == "plugin" else (_FOLDS if np.prod(shape) < _MOST_CELLS / _FOLDS else 2)
    sample = _count(ids, predicted, weight, cluster, shape, folds, rng)
    q = plug_in(sample) if method == "plugin" else _cross_fit(sample, inputs)
    return Problem(sample, inputs.p, q, slack, prior, inputs.group)


def _count(
    ids: IntArray,
    predicted: Predictions,
    weight: FloatArray | None,
    cluster: IntArray | None,
    shape: tuple[int, int],
    folds: int,
    rng: np.random.Generator,
) -> Sample:
    if predicted.proba is not None:
        # An item that predicts j with probability h_j is k weighted items of one cluster.
        n, k = predicted.proba.shape
        own = predicted.proba if weight is None else predicted.proba * weight[:, None]
        units = np.arange(n) if cluster is None else cluster
        return split_rows(
            np.repeat(ids, k), np.tile(np.arange(k), n), shape, own.ravel(), np.repeat(units, k),
            folds, rng,
        )  # fmt: skip
    codes: Any = predicted.codes
    if weight is None and cluster is None:
        return split_counts(joint_counts([ids, codes], list(shape)), folds, rng)
    return split_rows(ids, codes, shape, weight, cluster, folds, rng)


def plug_in(sample: Sample) -> FloatArray:
    """Return the observed P(Ŷ | z) itself, as the paper does."""
    counts = sample.counts.sum(axis=0)
    seen = counts.sum(axis=1, keepdims=True)
    uniform = 1.0 / counts.shape[1]
    return np.asarray(np.where(seen > 0, counts / np.where(seen > 0, seen, 1.0), uniform)[None])


def _cross_fit(sample: Sample, inputs: Inputs) -> FloatArray:
    """Return q̂ for each fold, learned from the others; in each group by itself."""
    x = features(inputs.votes.patterns, inputs.p, len(inputs.classes))
    group = np.zeros(len(x), dtype=int) if inputs.group is None else inputs.group
    total = sample.counts.sum(axis=0)
    q = np.empty(sample.counts.shape)
    for own in (group == g for g in range(group.max() + 1)):
        for fold, counts in enumerate(sample.counts):
            q[fold, own] = learn_predictions(x[own], _kept(total[own] - counts[own]))
    return q


def _kept(counts: AnyArray) -> AnyArray:
    return np.maximum(counts, 0.0)  # weights leave a rounding error where a cell becomes empty
