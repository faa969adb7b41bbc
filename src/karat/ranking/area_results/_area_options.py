"""The options of an area, checked."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from karat._validate import check_choice, check_confidence, check_rng, refuse_option
from karat.ranking.certificates import CERTIFICATES
from karat.ranking.weights import AnyWeight, TwoWayBand, check_weight

__all__ = ["AreaOptions", "check_area_options"]


@dataclass(frozen=True, slots=True)
class AreaOptions:
    """The checked options of an area."""

    weight: AnyWeight
    ties: str
    certificate: str
    confidence: float
    normalize: str
    rng: np.random.Generator

    def sharing(self, parts: int) -> "AreaOptions":
        """Return options whose limits hold for several areas together (Bonferroni)."""
        return replace(self, confidence=1 - (1 - self.confidence) / parts)


def check_area_options(
    weight: Any, ties: str, certificate: str, confidence: float, normalize: str, rng: Any
) -> AreaOptions:
    """Check the options of an area, each by itself and the weight with the rule of ties."""
    options = AreaOptions(
        check_weight(weight),
        check_choice(ties, "ties", ("interpolate", "strict")),
        check_choice(certificate, "certificate", CERTIFICATES),
        check_confidence(confidence),
        check_choice(normalize, "normalize", ("raw", "mcclish", "mean")),
        check_rng(rng),
    )
    if ties == "strict" and isinstance(weight, TwoWayBand):
        refuse_option(ties, "ties", "'interpolate', since eq. 1 has no two-way form")
    return options
