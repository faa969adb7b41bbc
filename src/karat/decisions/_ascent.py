"""Improve a rule on the items at hand, weight by weight."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["ascended"]

_MOST_SWEEPS = 4
# Two totals that differ by less are the same sum in another order.
_ROUNDING = 1e-13


def ascended(proba: FloatArray, worth: FloatArray, rule: FloatArray) -> FloatArray:
    """Return a rule that gains at least as much as ``rule``, and most along each of its weights.

    Parameters
    ----------
    proba : array (n, k)
        What rules decide by: class j where ``Σ_i proba_i·rule[i, j]`` is greatest.
    worth : array (n, k)
        What is gained by predicting each class for each item.
    rule : array (k, k)
        Where to start.

    Notes
    -----
    As ``rule[i, j]`` grows, items turn to class j one after the other, each at a value that its
    scores tell; sorted by it, the gain of every value is a sum over the items before. Weights are
    taken in turn until none gains. The plug-in rule is best where probabilities are right; where
    labels are counted the best rule of more than two classes is a hard problem, and this is a
    local answer.
    """
    k = proba.shape[1]
    best, scores = rule.copy(), proba @ rule
    for _ in range(_MOST_SWEEPS):
        risen = False
        for j in range(k):
            for i in range(k):
                step = _best_step(proba[:, i], worth, scores, j)
                if step != 0.0:
                    best[i, j] += step
                    scores[:, j] += step * proba[:, i]
                    risen = True
        if not risen:
            break
    return best


def _best_step(column: FloatArray, worth: FloatArray, scores: FloatArray, j: int) -> float:
    """Return by how much to raise class j's scores, in units of ``column``; 0 if nothing gains."""
    rest = scores.copy()
    rest[:, j] = -np.inf
    other = np.argmax(rest, axis=1)
    rows = np.flatnonzero(column > 0)
    other = other[rows]
    turn = (rest[rows, other] - scores[rows, j]) / column[rows]
    order = np.argsort(turn, kind="stable")
    turn = turn[order]
    gain = (worth[rows, j] - worth[rows, other])[order]
    total = np.concatenate([[0.0], np.cumsum(gain)])
    # A position is a cut only between two different turns; today's cut is at 0.
    cuts = np.concatenate([[True], turn[1:] > turn[:-1], [True]])
    now = total[int(np.searchsorted(turn, 0.0, side="right"))]
    at = int(np.argmax(np.where(cuts, total, -np.inf)))
    if not total[at] > now + _ROUNDING:
        return 0.0
    if at == 0:
        return float(turn[0] - 1.0)
    if at == len(turn):
        return float(turn[-1] + 1.0)
    return float((turn[at - 1] + turn[at]) / 2)
