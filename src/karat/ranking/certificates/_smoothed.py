"""Limits of the AUC for small samples: a beta law whose spread knows of one unseen row.

DeLong's variance is 0 where the classes are separated, and too small where the rarer class has few
rows. Here the rarer class gets one more row, half of it below and half of it above all rows of the
other class, and the limits are quantiles of the beta law with the mean and the variance that
result. The limits are approximate: simulations, not a theorem, say that they hold.
"""

import math

import numpy as np

from karat._typing import FloatArray
from karat._validate import refuse_option
from karat.ranking.areas import influence
from karat.ranking.certificates._pairs import all_of_the_curve
from karat.ranking.certificates._value import AreaLimits, value_of
from karat.ranking.placements import Placements
from karat.ranking.weights import Weight

__all__ = ["smoothed_limits"]


def smoothed_limits(placed: Placements, weight: Weight, delta: float, ties: str) -> AreaLimits:
    """Return the limits; they are certain of 1 where the classes are separated, and of 0."""
    if not all_of_the_curve(weight) or ties == "strict":
        refuse_option(
            "smoothed",
            "certificate",
            f"'delong', 'bootstrap' or 'auto' for {weight.title} with ties={ties!r}: 'smoothed' is "
            "for the AUC",
        )
    from scipy.special import betaincinv

    value = value_of(placed, weight, ties)
    mean, variance = _smoothed_moments(placed, weight)
    rows = mean * (1 - mean) / variance - 1
    lower, upper = betaincinv(rows * mean, rows * (1 - mean), [delta / 2, 1 - delta / 2])
    return AreaLimits(
        0.0 if value <= 0 else float(lower),
        1.0 if value >= 1 else float(upper),
        math.sqrt(variance),
        value=value,
    )


def _smoothed_moments(placed: Placements, weight: Weight) -> tuple[float, float]:
    """Return the mean and the variance of the AUC with one more row of the rarer class."""
    ones, zeros = influence(placed, weight)
    share = None if placed.share is None else np.diff(placed.share)
    sides = (ones, placed.mass, placed.n_positive), (zeros, share, placed.n_negative)
    (rare, rare_share, n), (common, common_share, n_common) = sorted(sides, key=lambda s: s[2])
    size = n + 1.0
    mean = (n * _mean(rare, rare_share) + 0.5) / size
    square = (n * _mean(rare**2, rare_share) + 0.5) / size
    spread = _mean((common - _mean(common, common_share)) ** 2, common_share)
    return mean, (square - mean**2) / (size + 1.0) + spread / max(n_common - 1.0, 1.0)


def _mean(values: FloatArray, shares: FloatArray | None) -> float:
    return float(np.average(values, weights=shares))
