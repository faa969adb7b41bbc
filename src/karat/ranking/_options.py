"""What an area is asked for."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._validate import check_confidence, check_rng
from karat.exceptions import DataError
from karat.ranking._certificates import CERTIFICATES
from karat.ranking._tpr_band import TprBand
from karat.ranking._two_way_band import TwoWayBand
from karat.ranking._weight import Weight

__all__ = ["AnyWeight", "Options", "check_options", "scale_of"]

AnyWeight = Weight | TprBand | TwoWayBand
_TIES = ("interpolate", "strict")
_SCALES = ("raw", "mcclish", "mean")


@dataclass(frozen=True, slots=True)
class Options:
    """What an area is asked for, checked."""

    weight: AnyWeight
    ties: str
    certificate: str
    confidence: float
    normalize: str
    rng: np.random.Generator

    def sharing(self, parts: int) -> "Options":
        """Return options whose limits hold for several areas together."""
        return replace(self, confidence=1 - (1 - self.confidence) / parts)


def check_options(
    weight: Any, ties: str, certificate: str, confidence: float, normalize: str, rng: Any
) -> Options:
    """Check the options of an area."""
    if not isinstance(weight, Weight | TprBand | TwoWayBand):
        fix = (
            "wrap a function as FunctionWeight(function, sup=...), which declares its bound"
            if callable(weight)
            else "pass Uniform(), FprBand(0, 0.1) or another weight of karat.ranking"
        )
        raise DataError(f"weight is {weight!r}; {fix}")
    for name, value, known in (
        ("ties", ties, _TIES), ("certificate", certificate, CERTIFICATES),
        ("normalize", normalize, _SCALES),
    ):  # fmt: skip
        if value not in known:
            raise DataError(f"{name} is {value!r}; expected one of {list(known)}")
    if ties == "strict" and isinstance(weight, TwoWayBand):
        raise DataError("ties='strict' is eq. 1, which has no two-way form; use 'interpolate'")
    return Options(
        weight, ties, certificate, check_confidence(confidence), normalize, check_rng(rng)
    )


def scale_of(weight: AnyWeight, normalize: str) -> tuple[float, float]:
    """Return factor and shift of a scale."""
    if normalize == "raw":
        return 1.0, 0.0
    if normalize == "mean":
        return 1.0 / weight.area, 0.0
    room = weight.area - weight.chance
    if room <= 1e-12 * weight.area:
        raise DataError(
            f"normalize='mcclish' compares with chance, and {weight!r} leaves no room above the "
            "diagonal; use 'raw' or 'mean'"
        )
    factor = 0.5 / room
    return factor, 0.5 - factor * weight.chance
