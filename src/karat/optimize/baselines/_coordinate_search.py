"""The metric along the weight of one class, the weights of the others staying."""

import numpy as np

from karat._typing import FloatArray
from karat.decisions.rules import decide, last_argmax, one_hot
from karat.metrics import MetricBase
from karat.optimize.feedback import BlackBox, ProbedMetric
from karat.optimize.probes import Position, Sample
from karat.optimize.search import Task

__all__ = ["confusions_along", "middle_of_best", "values_along"]


def values_along(task: Task, weights: FloatArray, j: int, grid: FloatArray) -> FloatArray:
    """Return the metric with each weight of class j on the grid, the others staying."""
    sample = task.validation
    if isinstance(task.metric, MetricBase):
        inside = sample.confusion(sample.proba)
        return ProbedMetric(task.metric, 1.0, 1.0, inside).values(
            confusions_along(sample, weights, j, grid)
        )
    box = BlackBox(task.metric, task.rows, 1.0, str)
    values = []
    for value in grid:
        moved = weights.copy()
        moved[j] = value
        codes = decide(sample.proba, moved[None], np.ones((len(sample.proba), 1)))
        shares = one_hot(codes, len(weights))
        values.append(box.value(Position(shares, None, None, shares)))  # it reads the shares alone
    return np.array(values)


def middle_of_best(values: FloatArray) -> int:
    """Return the middle of the first run of the greatest values.

    At the ends of the run some row changes its class, so there rounding or a slightly different
    row would decide.
    """
    first = int(np.argmax(values))
    ends = np.flatnonzero(values[first:] != values[first])
    return first + ((int(ends[0]) if ends.size else len(values) - first) - 1) // 2


def confusions_along(sample: Sample, weights: FloatArray, j: int, grid: FloatArray) -> FloatArray:
    """Return the confusions of all weights of class j at once.

    A row turns to class j when its weight passes ``max_{i≠j} w_i·η_i / η_j``; so each grid point
    differs from the one before by the rows that turn between them.
    """
    k, n_truth = len(weights), len(weights) * sample.n_groups
    rest = np.delete(np.arange(k), j)
    scores = sample.proba[:, rest] * weights[rest]
    other = rest[last_argmax(scores)]
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = scores.max(axis=1) / sample.proba[:, j]
    # Ties go to the later class.
    step = np.where(
        j > other, np.searchsorted(grid, turn, "left"), np.searchsorted(grid, turn, "right")
    )
    cells = (step * n_truth + sample.truth) * k + other
    turned = np.bincount(cells, sample.weight, minlength=(len(grid) + 1) * n_truth * k)
    turned = np.cumsum(turned.reshape(-1, n_truth, k), axis=0)
    confusions = turned[-1] - turned[:-1]
    confusions[:, :, j] += turned[:-1].sum(axis=2)
    return np.asarray(np.maximum(confusions, 0.0))
