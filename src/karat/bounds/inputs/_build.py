"""Put a bound's data together: counts by fold, and q̂ learned on the other folds."""

from typing import Any

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray
from karat.bounds.inputs._predictions import Predictions
from karat.bounds.inputs._predictor import features, learn_predictions
from karat.bounds.inputs._read import Inputs
from karat.bounds.problem import Problem, Sample, split_counts, split_rows
from karat.statistics.kernels import joint_counts

__all__ = ["build_problem", "cross_fit", "number_of_folds", "plug_in"]

_FOLDS = 5
# (fold, pattern, prediction) cells in memory; with more, two folds keep the arrays small. Any
# number of folds is valid, fewer only learn q̂ from fewer items.
_MOST_CELLS = 20_000_000


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
    """Count the items, split them into folds and learn q̂ = P(Ŷ | z) of each fold.

    ``n_outcomes`` is the number of distinct predictions; ``rows`` selects items (a group).
    ``slack`` is the total variation by which P(Y | z) may be off, and ``prior`` a given P(Y).
    """
    ids, weight, cluster = inputs.votes.ids, inputs.weight, inputs.cluster
    if rows is not None:
        ids, predicted = ids[rows], predicted.of(rows)
        weight = None if weight is None else weight[rows]
        cluster = None if cluster is None else np.unique(cluster[rows], return_inverse=True)[1]
    shape = (len(inputs.p), n_outcomes)
    folds = number_of_folds(shape, method)
    sample = _count(ids, predicted, weight, cluster, shape, folds, rng)
    q = plug_in(sample) if method == "plugin" else cross_fit(sample, inputs)
    return Problem(sample, inputs.p, q, slack, prior, inputs.group)


def number_of_folds(shape: tuple[int, ...], method: str) -> int:
    """Return the number of folds for a table of (pattern, prediction)."""
    if method == "plugin":
        return 1
    return _FOLDS if np.prod(shape) < _MOST_CELLS / _FOLDS else 2


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
    """Return the observed P(Ŷ | z), as Maia Polo et al. (2023) do; uniform in empty patterns."""
    counts = sample.counts.sum(axis=0)
    seen = counts.sum(axis=1, keepdims=True)
    uniform = 1.0 / counts.shape[1]
    return np.asarray(np.where(seen > 0, counts / np.where(seen > 0, seen, 1.0), uniform)[None])


def cross_fit(sample: Sample, inputs: Inputs) -> FloatArray:
    """Return q̂ of each fold, learned from the other folds, separately in each group."""
    x = features(inputs.votes.patterns, inputs.p, len(inputs.classes))
    group = np.zeros(len(x), dtype=int) if inputs.group is None else inputs.group
    total = sample.counts.sum(axis=0)
    q = np.empty(sample.counts.shape)
    for own in (group == g for g in range(group.max() + 1)):
        for fold, counts in enumerate(sample.counts):
            # Weights leave a rounding error, possibly below 0, where a cell becomes empty.
            others = np.maximum(total[own] - counts[own], 0.0)
            q[fold, own] = learn_predictions(x[own], others)
    return q
