"""Precision and recall of the rows above a cut: a score, or a share of all rows."""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from karat._typing import FloatArray
from karat.ranking.measures._pivots import distance, limit_above, limit_below
from karat.ranking.orderings import Ordering

__all__ = [
    "precision_share_limits",
    "proportion_limits",
    "recall_share_limits",
]

_ROWS = 161  # numbers of rows above the true cut that are tried
_HALVINGS = 50


def proportion_limits(count: float, trials: float, delta: float) -> tuple[float, float]:
    """Return Clopper and Pearson's limits."""
    z = np.asarray(-ndtri(delta / 2))
    counts, all_of = np.asarray(count), np.asarray(trials)
    return float(limit_below(counts, all_of, z)), float(limit_above(counts, all_of, z))


def precision_share_limits(ordered: Ordering, share: float, delta: float) -> tuple[float, float]:
    """Return limits of the precision in the highest share of the population.

    The cut of the population is not that of the rows: N rows are above it, a binomial number, and
    given N the positives among them are binomial too. Every N is tried, and what it takes from the
    surprise that is allowed is not left for the positives.
    """
    z = -float(ndtri(delta / 2))
    rows = _tried(ordered.n, share, z)
    far = distance(rows, np.asarray(ordered.n), np.asarray(share))
    left = np.sqrt(np.maximum(z**2 - far**2, 0.0))
    seen = np.minimum(ordered.positives_among(rows), rows)
    inside = far <= z
    return (
        float(limit_below(seen, rows, left)[inside].min()),
        float(limit_above(seen, rows, left)[inside].max()),
    )


def recall_share_limits(ordered: Ordering, share: float, delta: float) -> tuple[float, float]:
    """Return limits of the share of positives in the highest share of the population.

    As for the precision, with the positives among all positives; the number of rows above the cut
    varies with that of the positives above it, of the negatives above it, and of positives at all.
    """
    z = -float(ndtri(delta / 2))
    n1, n, prevalence = ordered.n_positive, ordered.n, ordered.prevalence
    rows = _tried(n, share, z)
    seen = np.minimum(ordered.positives_among(rows), n1)

    def surprise(recall: float) -> float:
        others = np.clip((share - prevalence * recall) / (1 - prevalence), 0.0, 1.0)
        spread = ordered.n_negative * others * (1 - others)
        spread += (recall - others) ** 2 * n * prevalence * (1 - prevalence)
        missing = rows - n * share - (seen - n1 * recall)
        by_rows = missing**2 / max(float(spread), 0.25)
        by_count = distance(seen, np.asarray(n1), np.asarray(recall)) ** 2
        return float((by_rows + by_count).min())

    here = float(np.interp(n * share, rows, seen)) / n1
    return _end(surprise, here, 0.0, z), _end(surprise, here, 1.0, z)


def _tried(n: float, share: float, z: float) -> FloatArray:
    """Return numbers of rows that may be above the true cut, with the one expected."""
    reach = (z + 1.0) * np.sqrt(n * share * (1 - share)) + 2.0
    low, high = max(0.0, n * share - reach), min(n, n * share + reach)
    whole = np.unique(np.rint(np.linspace(low, high, _ROWS)))
    return np.union1d(whole, [n * share])


def _end(surprise: Callable[[float], float], here: float, end: float, z: float) -> float:
    """Return the last value between ``here`` and ``end`` that is not too surprising."""
    if surprise(end) <= z**2:
        return end
    inside, outside = here, end
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if surprise(middle) <= z**2:
            inside = middle
        else:
            outside = middle
    return outside
