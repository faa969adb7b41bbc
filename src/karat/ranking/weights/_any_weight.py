"""Every kind of weight that an area can have, as the option ``weight=`` of public functions."""

from typing import Any

from karat._validate import refuse_option
from karat.ranking.weights._tpr_band import TprBand
from karat.ranking.weights._two_way_band import TwoWayBand
from karat.ranking.weights._weight import Weight

__all__ = ["AnyWeight", "check_weight", "scale_of"]

AnyWeight = Weight | TprBand | TwoWayBand


def check_weight(weight: Any) -> AnyWeight:
    """Check the option ``weight=`` of an area."""
    if not isinstance(weight, Weight | TprBand | TwoWayBand):
        refuse_option(
            weight,
            "weight",
            "FunctionWeight(function, sup=...), which declares the bound of a function"
            if callable(weight) and not isinstance(weight, type)
            else "Uniform(), FprBand(0, 0.1) or another weight of karat.ranking",
        )
    return weight


def scale_of(weight: AnyWeight, normalize: str) -> tuple[float, float]:
    """Return the factor and the shift that turn a raw area into one on the scale ``normalize``."""
    if normalize == "raw":
        return 1.0, 0.0
    if normalize == "mean":
        return 1.0 / weight.area, 0.0
    above_chance = weight.area - weight.chance
    if above_chance <= 1e-12 * weight.area:  # rounding of two equal areas
        refuse_option(
            normalize,
            "normalize",
            f"'raw' or 'mean', since {weight!r} has no room above the diagonal and 'mcclish' "
            "compares with chance",
        )
    factor = 0.5 / above_chance
    return factor, 0.5 - factor * weight.chance
