"""Limits of the AUC that hold for any law: it is an average of means over independent pairs.

Join the rarer class to as many rows of the other one, in every way: each way gives m = min(n₀, n₁)
independent pairs, of which a share is ordered rightly (a tie counts ½), and the AUC is the average
of these shares (Hoeffding 1963). So whatever limits the mean of m independent numbers in [0, 1] and
rests on convexity limits the AUC.
"""

import math

from karat._validate import refuse_option
from karat.limits.kernels import hinge_limits, kl_limits
from karat.ranking.certificates._value import AreaLimits, value_of
from karat.ranking.placements import Placements
from karat.ranking.weights import Weight

__all__ = ["all_of_the_curve", "pair_limits"]


def all_of_the_curve(weight: object) -> bool:
    """Return whether a weight is 1 at all rates, so that its area is the AUC."""
    return isinstance(weight, Weight) and weight.area == weight.sup == 1.0 and not weight.variation


def pair_limits(
    kind: str, placed: Placements, weight: Weight, delta: float, ties: str
) -> AreaLimits:
    """Return limits of the AUC by ``hinge`` or ``kl``."""
    if not all_of_the_curve(weight):
        refuse_option(
            kind,
            "certificate",
            f"'auto', 'dkw' or 'beta' for {weight.title}: pairs limit the AUC of the whole curve",
        )
    value = value_of(placed, weight, ties)
    return AreaLimits(*mean_limits(kind, value, *_sizes(placed), delta / 2), value=value)


def mean_limits(kind: str, value: float, n1: int, n0: int, delta: float) -> tuple[float, float]:
    """Return limits of an AUC that was seen on n₁ and n₀ rows, each wrong with ``delta``."""
    m = min(n1, n0)
    if kind == "hinge":
        return hinge_limits(value * m, m, delta)
    low, high = kl_limits(value * m, m, delta)
    return float(low), float(high)


def _sizes(placed: Placements) -> tuple[int, int]:
    """Return whole numbers of rows; importance weights leave Kish's numbers, rounded down."""
    return tuple(  # type: ignore[return-value]
        max(1, math.floor(n + 1e-9)) for n in (placed.n_positive, placed.n_negative)
    )
