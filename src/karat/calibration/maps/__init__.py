"""Maps from probabilities to calibrated ones, and their convex mixture.

`fit_parts` fits five maps: one factor of all logits (temperature), a logistic regression of each
label on its own logit (Platt) or on all of them (stack), and a copula on top of the first two.
`fit_mixture` weighs them by their log-loss on rows that they were not fitted to.
"""

from karat.calibration.maps._logistic import logistic_weights, logits
from karat.calibration.maps._mixture import MixtureMap, fit_mixture, mixture_weights
from karat.calibration.maps._parts import (
    PARTS,
    Map,
    Rows,
    fit_parts,
    fit_platt,
    fit_stack,
    fit_temperature,
)

__all__ = [
    "PARTS",
    "Map",
    "MixtureMap",
    "Rows",
    "fit_mixture",
    "fit_parts",
    "fit_platt",
    "fit_stack",
    "fit_temperature",
    "logistic_weights",
    "logits",
    "mixture_weights",
]
