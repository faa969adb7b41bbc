"""The value of an area under a rule of ties, and the form of its limits."""

from dataclasses import dataclass

from karat.ranking.areas import area, box_area, curve, strict_area
from karat.ranking.placements import Placements
from karat.ranking.weights import TwoWayBand, Weight

__all__ = ["AreaLimits", "value_of"]


@dataclass(frozen=True, slots=True)
class AreaLimits:
    """Limits of an area; ``note`` says what to do where they are too wide to be of use."""

    lower: float
    upper: float
    standard_error: float | None = None
    note: str = ""
    value: float | None = None  # of the area, where it comes with the limits


def value_of(placed: Placements, weight: Weight | TwoWayBand, ties: str) -> float:
    """Return the area by a rule of ties."""
    if isinstance(weight, TwoWayBand):
        return box_area(*curve(placed), weight)
    return strict_area(placed, weight) if ties == "strict" else area(placed, weight)
