"""Test of whether a few true labels look like draws from P(Y | Z)."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["GoldTest", "gold_test"]

_CELLS = 2_000_000  # drawn at a time
_DRAWS = 9999


class GoldTest(NamedTuple):
    """Outcome: ``worst`` is 0 for the log score, 1 for the class totals, 2 for the accuracy."""

    p_value: float
    worst: int
    accuracy: float
    promised: float


def gold_test(counts: IntArray, proba: FloatArray, rng: np.random.Generator) -> GoldTest:
    """Test that ``counts[z, y]`` true labels of each pattern are draws from ``proba[z]``.

    Log score, class totals and accuracy of the most probable class are each ranked among the same
    simulated draws; so is the least of the three p-values, which makes it an exact p-value.
    """
    n = counts.sum(axis=1)
    cells = counts.size
    draws = int(np.clip(25 * _CELLS // cells, 999, _DRAWS))
    step = max(1, _CELLS // cells)
    values = [_statistics(counts[None], n, proba)]
    for start in range(0, draws, step):
        size = (min(step, draws - start), len(n))
        values.append(_statistics(rng.multinomial(n, proba, size=size), n, proba))
    table = np.concatenate(values)
    each = np.stack([_p_values(column) for column in table.T], axis=1)
    least = each.min(axis=1)
    top = proba.argmax(axis=1)
    rows = np.arange(len(n))
    return GoldTest(
        p_value=float(np.mean(least <= least[0])),
        worst=int(each[0].argmin()),
        accuracy=float(counts[rows, top].sum() / n.sum()),
        promised=float(n @ proba[rows, top] / n.sum()),
    )


def _statistics(counts: IntArray, n: IntArray, proba: FloatArray) -> FloatArray:
    """Return how far each draw (b, z, y) is from what is expected, in three ways: (b, 3)."""
    log = np.log(np.maximum(proba, 1e-12))
    expected = n[:, None] * proba
    score = np.einsum("bzy,zy->b", counts - expected, log)
    total = counts.sum(axis=1) - expected.sum(axis=0)
    variance = (expected * (1 - proba)).sum(axis=0)
    spread = (total**2 / np.maximum(variance, 1e-9)).sum(axis=1)
    rows, top = np.arange(len(n)), proba.argmax(axis=1)
    right = (counts[:, rows, top] - expected[rows, top]).sum(axis=1)
    # Rounded, so that equal draws tie in spite of the order of summation.
    return np.stack([np.abs(score), spread, np.abs(right)], axis=1).round(9)


def _p_values(values: FloatArray) -> FloatArray:
    """Return the share of all values that are at least as large as each."""
    order = np.sort(values)
    below = np.searchsorted(order, values, side="left")
    return np.asarray((len(values) - below) / len(values))
