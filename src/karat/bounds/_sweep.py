"""One pass over all thresholds: counts, q̂ and the moments of TP's bounds."""

from typing import Any, NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.bounds._inputs import Inputs
from karat.bounds._predictor import features

__all__ = ["FOLDS", "Sums", "sweep"]

FOLDS = 2
_STRENGTH = 30.0
_BLOCK = 1_000_000  # cells of (threshold, fold, pattern) that are worked on at a time


class Sums(NamedTuple):
    """At each threshold: means of TP's two bounds, and the moments their errors need."""

    low: FloatArray
    high: FloatArray
    low_moments: FloatArray
    high_moments: FloatArray


def sweep(inputs: Inputs, score: FloatArray, cuts: FloatArray, fold: IntArray, folds: int) -> Sums:
    """Count positives by (fold, pattern) at every threshold and bound TP."""
    patterns, n = len(inputs.p), inputs.n
    cell = fold * patterns + inputs.votes.ids
    seen = np.bincount(cell, minlength=folds * patterns).reshape(folds, patterns).astype(float)
    level = np.searchsorted(cuts, score, side="right")  # positive at thresholds 0 .. level - 1
    guess = _guess(inputs, score, cuts, fold, folds) if folds > 1 else None
    p = np.tile(inputs.p[:, 1], folds)
    columns = _columns(seen.ravel(), p)
    order = np.argsort(-level, kind="stable")
    starts = np.searchsorted(-level[order], -np.arange(len(cuts), 0, -1), side="right")
    block = max(1, _BLOCK // (folds * patterns))
    called = np.zeros(folds * patterns)
    done = 0
    out: list[FloatArray] = []
    for first in range(0, len(cuts), block):
        tops = range(first, min(first + block, len(cuts)))  # thresholds from the highest down
        table = np.empty((len(tops), folds * patterns))
        for row, top in enumerate(tops):
            fresh = cell[order[done : starts[top]]]
            called += np.bincount(fresh, minlength=len(called))
            done = starts[top]
            table[row] = called
        at = len(cuts) - 1 - np.array(tops)
        expected = _expected(table, seen, folds, None if guess is None else guess(at))
        out.append(_bounded(table, *expected, p, columns, n))
    sums = np.concatenate(out, axis=1)[:, ::-1]  # back to ascending thresholds
    return Sums(sums[0], sums[1], sums[2:7], sums[7:12])


def _expected(
    called: FloatArray, seen: FloatArray, folds: int, guess: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return q̂ as a fraction: the other folds' positives and items, with the regression's guess."""
    if guess is None:
        return called, np.maximum(seen.ravel(), 1.0)
    # With two folds, the other fold is the other row.
    guess *= _STRENGTH
    guess += called.reshape(len(called), folds, -1)[:, ::-1]
    return guess.reshape(called.shape), seen[::-1].ravel() + _STRENGTH


def _guess(inputs: Inputs, score: FloatArray, cuts: FloatArray, fold: IntArray, folds: int) -> Any:
    """Regress normal ranks of the scores on the votes; return P(score ≥ cut | z) by index."""
    from scipy.special import ndtri

    n = len(score)
    ranked = np.empty(n)
    ranked[np.argsort(score, kind="stable")] = ndtri((np.arange(n) + 0.5) / n)
    x = features(inputs.votes.patterns, inputs.p, 2)
    means, spreads = [], []
    for f in range(folds):
        keep = fold != f
        ids = inputs.votes.ids[keep]
        weight = np.bincount(ids, minlength=len(x))
        sums = np.bincount(ids, weights=ranked[keep], minlength=len(x))
        gram = x.T @ (weight[:, None] * x) + np.eye(x.shape[1])
        mean = x @ np.linalg.solve(gram, x.T @ sums)
        means.append(mean)
        spreads.append(np.sqrt(np.mean((ranked[keep] - mean[ids]) ** 2)) + 1e-9)
    below = np.searchsorted(np.sort(score), cuts, side="left") / n
    cut_ranks = ndtri(np.clip(below, 0.5 / n, 1 - 0.5 / n))
    mean = np.array(means, dtype=np.float32)
    spread = np.array(spreads, dtype=np.float32)[:, None]
    cut_ranks = cut_ranks.astype(np.float32)

    def at(index: IntArray) -> FloatArray:
        # The logistic curve is within .01 of the normal one and much cheaper; any guess will do.
        z = (cut_ranks[index][:, None, None] - mean) * (1.702 / spread)
        np.exp(np.minimum(z, 80.0, out=z), out=z)
        z += 1.0
        return np.asarray(np.reciprocal(z, out=z))

    return at


class _Columns(NamedTuple):
    """For each cell: what it adds to the mean and the moments, alone and per item called."""

    low: FloatArray
    low_called: FloatArray
    high: FloatArray
    high_called: FloatArray
    fixed: FloatArray


def _columns(seen: FloatArray, p: FloatArray) -> _Columns:
    """Return the columns of mean, E[t²], E[t·h] and E[t·p] for either bound of TP.

    An item's TP value is t(z, h), h being 1 if it is called positive: h + p − 1 or 0 for the lower
    bound, h or p for the upper. Sums of such products are linear in which of the two is used.
    """
    one, none, miss = np.ones_like(p), np.zeros_like(p), p - 1.0
    return _Columns(
        low=np.stack([seen * miss, seen * miss**2, none, seen * p * miss], axis=1),
        low_called=np.stack([one, 2 * p - 1, p, p], axis=1),
        high=np.stack([-seen * p, -seen * p**2, none, -seen * p**2], axis=1),
        high_called=np.stack([one, one, 1 - p, p], axis=1),
        fixed=np.array([seen @ p, seen @ p**2, 0.0, seen @ p**2]),
    )


def _bounded(
    called: FloatArray,
    top: FloatArray,
    bottom: FloatArray,
    p: FloatArray,
    columns: _Columns,
    n: int,
) -> FloatArray:
    """Return, for each threshold, TP's bounds and five moments for the error of each.

    Which value an item has is what q̂ = top/bottom makes better. The moments are E[t²], E[t·h],
    E[t·p], E[h·p] and E[p²].
    """
    low = (top > (1.0 - p) * bottom).astype(np.float64)  # q̂ + p > 1
    high = (top < p * bottom).astype(np.float64)  # q̂ < p
    lows, highs = low @ columns.low, high @ columns.high + columns.fixed
    low *= called
    high *= called
    lows += low @ columns.low_called
    highs += high @ columns.high_called
    both = called @ p
    highs[:, 2] += both
    shared = [both, np.full(len(called), columns.fixed[1])]
    rows = [lows[:, 0], highs[:, 0], *lows[:, 1:].T, *shared, *highs[:, 1:].T, *shared]
    return np.stack(rows) / n
