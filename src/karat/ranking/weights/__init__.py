"""What a point of the ROC curve is worth: weights on false-positive rates, and bands of rates.

A `Weight` W is a function of the false-positive rate with its norms and its integral
``K(v) = ∫₀ᵛ W``, which is all that areas and certificates ask of it. `TprBand` and `TwoWayBand` are
not such functions: the first becomes one with the classes swapped (`TprBand.mirrored`), the second
is a box that has formulas of its own. `AnyWeight` names all three kinds, and `check_weight` and
`scale_of` are what public functions do with an option ``weight=``.
"""

from karat.ranking.weights._any_weight import AnyWeight, check_weight, scale_of
from karat.ranking.weights._fpr_band import FprBand, Sandwich
from karat.ranking.weights._function_weight import FunctionWeight
from karat.ranking.weights._piecewise_linear import PiecewiseLinear
from karat.ranking.weights._power import Power
from karat.ranking.weights._rate_band import RateBand
from karat.ranking.weights._tpr_band import TprBand
from karat.ranking.weights._two_way_band import TwoWayBand
from karat.ranking.weights._uniform import Uniform
from karat.ranking.weights._weight import Weight

__all__ = [
    "AnyWeight",
    "FprBand",
    "FunctionWeight",
    "PiecewiseLinear",
    "Power",
    "RateBand",
    "Sandwich",
    "TprBand",
    "TwoWayBand",
    "Uniform",
    "Weight",
    "check_weight",
    "scale_of",
]
