"""How precise so many labels are, before anything is labelled."""

from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.audit.design._calls import Calls
from karat.audit.design._influence import influence
from karat.audit.design._strata import Strata, bounded_guess

__all__ = ["Spread", "labels_for", "precision_of", "spread_of"]

_SLACK = 1.2  # limits that hold for few labels need so many more than the normal law says


class Spread(NamedTuple):
    """The metric that the guesses imply, and the variance of one label, random and chosen."""

    expected: float
    random: float
    chosen: float


def spread_of(calls: Calls, guess: FloatArray, strata: Strata) -> Spread:
    """Return what labels vary by if the guesses are right."""
    p = bounded_guess(guess)
    totals: FloatArray = np.stack(
        [np.bincount(calls.code, p[:, y], len(calls.first)) for y in range(p.shape[1])],
        axis=1,
        dtype=np.float64,
    )
    added = influence(calls, totals)
    mean, square = np.zeros(len(p)), np.zeros(len(p))
    for y in range(p.shape[1]):
        own = added[:, y][calls.code]
        mean += p[:, y] * own
        square += p[:, y] * own**2
    n, inside = len(p), strata.of >= 0
    sums = [np.bincount(strata.of[inside], part[inside], strata.n) for part in (mean, square)]
    within = np.maximum(sums[1] / strata.size - (sums[0] / strata.size) ** 2, 0.0)
    chosen = float(np.sum((strata.size / n) ** 2 * within / strata.share))
    if calls.worth is None:
        expected = float(calls.values(totals[None])[0])
    else:
        expected = float(np.sum(totals * calls.worth[calls.outcome]) / n)
    return Spread(expected, float(square.sum() / n), chosen)


def precision_of(variance: float, n: FloatArray, total: float, z: float) -> FloatArray:
    """Return half the distance between the limits of n labels."""
    left = np.clip(1 - n / total, 0.0, None)
    return np.asarray(z * np.sqrt(_SLACK * variance * left / n))


def labels_for(variance: float, precision: float, total: float, z: float) -> int:
    """Return how many labels have a precision."""
    wanted = _SLACK * variance * (z / precision) ** 2
    return int(np.ceil(min(wanted / (1 + wanted / total), total)))
