"""Theorem 2 of Maurer & Pontil (2020), for weights with a Lipschitz bound and for bands."""

import math

from karat._validate import refuse_option
from karat.ranking.certificates._value import AreaLimits, value_of
from karat.ranking.placements import Placements
from karat.ranking.weights import FprBand, Weight

__all__ = ["theorem_2"]

_VACUOUS = "the bound of Theorem 2 is {:.3g} here; certificate='dkw' needs far fewer rows"


def theorem_2(placed: Placements, weight: Weight, delta: float, ties: str) -> AreaLimits:
    """Return the limits of Theorem 2; a step is put between two ramps (remark 2 to it)."""
    n = placed.n_positive + placed.n_negative
    rare = min(placed.n_positive, placed.n_negative) / n
    root = math.sqrt(2 * math.log(4 / delta) / n)
    if rare <= root:  # the event A_δ of eq. 2 was not seen: nothing is promised
        note = f"the rarer class is {rare:.2g} of the rows and Theorem 2 needs more than {root:.2g}"
        return AreaLimits(0.0, math.inf, note=note)

    def bound(w: Weight) -> float:
        return (w.lipschitz + 9 * w.sup) / rare**2 * root

    if math.isfinite(weight.lipschitz):
        value, margin = value_of(placed, weight, ties), bound(weight)
        return AreaLimits(value - margin, value + margin, note=_VACUOUS.format(margin))
    if not isinstance(weight, FprBand):
        refuse_option(
            "maurer-pontil",
            "certificate",
            f"'dkw' for {weight!r}: Theorem 2 needs a weight without jumps, or a declared "
            "Lipschitz bound",
        )
    # A ramp of width w costs up to w/2 of area at each end and 1/w of slope; this balances them
    # without looking at the scores.
    below, above = weight.sandwich(math.sqrt(2 * root / (rare**2 * weight.variation)))
    return AreaLimits(
        value_of(placed, below, ties) - bound(below),
        value_of(placed, above, ties) + bound(above),
        note=_VACUOUS.format(bound(below)),
    )
