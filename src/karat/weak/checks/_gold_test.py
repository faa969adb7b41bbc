"""Test of whether a few true labels look like draws from P(Y | Z)."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["GOLD_TESTS", "GoldRows", "GoldTest", "gold_test"]

_DRAWS = 999
_CELLS = 4_000_000  # drawn at a time
_POWER = 1.96 + 0.84  # standard errors that a test at 5 % notices four times in five

# What each statistic looks at, in the order of `GoldTest.worst`.
GOLD_TESTS = ("class", "top", "log loss", "top where sure", "top where unsure")


class GoldRows(NamedTuple):
    """True labels as codes (g,), and P(Y | Z) of their items (g, k) from a model without them."""

    labels: IntArray
    proba: FloatArray


class GoldTest(NamedTuple):
    """Outcome: ``worst`` is the place of the most extreme statistic in `GOLD_TESTS`.

    ``accuracy`` is how often the most probable class is true and ``promised`` how often it should
    be; ``noticeable`` is the gap between the two that so many labels notice four times in five.
    """

    p_value: float
    worst: int
    accuracy: float
    promised: float
    noticeable: float


def gold_test(gold: GoldRows, rng: np.random.Generator) -> GoldTest:
    """Test that the true labels are draws from the class probabilities of their items.

    Five statistics, each squared and in its standard errors: the class whose count is furthest
    off; how often the most probable class is true; the log loss; and the second again in the half
    of the items where the model is surer and in the other. Each is ranked among the same simulated
    labels; so is the least of the five p-values, which makes it an exact p-value.
    """
    labels, proba = gold
    p = proba / proba.sum(axis=1, keepdims=True)
    edges = np.cumsum(p, axis=1)[:, :-1]
    values = [_statistics(labels[None], p)]
    step = max(1, _CELLS // p.size)
    for start in range(0, _DRAWS, step):
        uniform = rng.random((min(step, _DRAWS - start), len(p), 1))
        values.append(_statistics((uniform > edges).sum(axis=2), p))
    table = np.concatenate(values)
    each = np.stack([_p_values(column) for column in table.T], axis=1)
    least = each.min(axis=1)
    top = p.max(axis=1)
    return GoldTest(
        p_value=float(np.mean(least <= least[0])),
        worst=int(each[0].argmin()),
        accuracy=float(np.mean(labels == p.argmax(axis=1))),
        promised=float(top.mean()),
        noticeable=float(_POWER * np.sqrt(np.sum(top * (1 - top))) / len(p)),
    )


def _statistics(drawn: IntArray, p: FloatArray) -> FloatArray:
    """Return the five statistics of each draw of labels (b, g): (b, 5)."""
    k = p.shape[1]
    total = np.stack([(drawn == c).sum(axis=1) for c in range(k)], axis=1) - p.sum(axis=0)
    by_class = (total**2 / np.maximum((p * (1 - p)).sum(axis=0), 1e-9)).max(axis=1)
    log = np.log(np.maximum(p, 1e-12))
    mean, square = np.sum(p * log, axis=1), np.sum(p * log**2, axis=1)
    score = log[np.arange(len(p)), drawn].sum(axis=1) - mean.sum()
    loss = score**2 / max(float((square - mean**2).sum()), 1e-9)
    top, sure = p.max(axis=1), p.argmax(axis=1)
    off = (drawn == sure) - top
    half = top >= np.median(top)
    tops = []
    for part in (np.ones(len(p), dtype=bool), half, ~half):
        spread = max(float((top * (1 - top))[part].sum()), 1e-9)
        tops.append(off[:, part].sum(axis=1) ** 2 / spread)
    # Rounded, so that equal draws tie in spite of the order of summation.
    return np.stack([by_class, tops[0], loss, tops[1], tops[2]], axis=1).round(9)


def _p_values(values: FloatArray) -> FloatArray:
    """Return the share of all values that are at least as large as each."""
    order = np.sort(values)
    below = np.searchsorted(order, values, side="left")
    return np.asarray((len(values) - below) / len(values))
