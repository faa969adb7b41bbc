"""How far a count of trials is from a probability, by the exact law of the count."""

import numpy as np
from scipy.special import betainc, betaincinv, ndtr, ndtri

from karat._typing import FloatArray

__all__ = ["distance", "limit_above", "limit_below", "ring_limits"]

_ANGLES = 64


def distance(count: FloatArray, trials: FloatArray, p: FloatArray) -> FloatArray:
    """Return how surprising a count is, in standard deviations of a normal variable.

    Of the two tails of the binomial law that hold the count itself the smaller decides, as in
    Clopper and Pearson's limits; 0 where both exceed one half. Counts need not be whole.
    """
    count, trials, p = np.broadcast_arrays(count, trials, p)
    some, most = np.maximum(count, 1e-300), np.maximum(trials - count, 1e-300)
    over = np.where(count > 0, betainc(some, trials - count + 1, p), 1.0)
    under = np.where(trials > count, betainc(most, count + 1, 1 - p), 1.0)
    return np.asarray(np.maximum(0.0, -ndtri(np.minimum(over, under))))


def limit_below(count: FloatArray, trials: FloatArray, z: FloatArray) -> FloatArray:
    """Return the least probability at a distance of ``z`` from a count."""
    some = np.maximum(count, 1e-300)
    return np.where(count > 0, betaincinv(some, trials - count + 1, ndtr(-z)), 0.0)


def limit_above(count: FloatArray, trials: FloatArray, z: FloatArray) -> FloatArray:
    """Return the greatest probability at a distance of ``z`` from a count."""
    rest = np.maximum(trials - count, 1e-300)
    return np.where(trials > count, betaincinv(count + 1, rest, ndtr(z)), 1.0)


def ring_limits(
    first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray], z: float
) -> tuple[FloatArray, FloatArray]:
    """Return pairs of probabilities whose distances from two counts make ``z`` together.

    The two counts are independent given their numbers of trials, so the squares of their distances
    add; each pair is one angle of the ring (last axis).
    """
    angle = np.linspace(0, 2 * np.pi, _ANGLES, endpoint=False)
    found = []
    for (count, trials), part in ((first, np.cos(angle)), (second, np.sin(angle))):
        count, trials, far = np.asarray(count)[..., None], np.asarray(trials)[..., None], z * part
        low, high = limit_below(count, trials, -far), limit_above(count, trials, far)
        found.append(np.where(far < 0, low, high))
    return found[0], found[1]
