"""Average precision, cuts, net benefit and expected cost: their values, limits and effects of rows.

A `Measure` reads an `Ordering`. The limits rest on the exact laws of counts where there are any
(a cut at a score), on two such counts whose surprises add (`NetBenefit`, `ExpectedCost`), with the
cut of the population as a third unknown (`Cut` by share), and on what each row adds
(`AveragePrecision`).
"""

from karat.ranking.measures._average_precision import average_precision_effects
from karat.ranking.measures._benefit_measure import ExpectedCost, NetBenefit, benefit_of_all
from karat.ranking.measures._cut_measure import Cut
from karat.ranking.measures._expected_cost import cheapest_cuts, left_out_errors
from karat.ranking.measures._measure import Curve, Measure, Row
from karat.ranking.measures._precision_measure import AveragePrecision

__all__ = [
    "AveragePrecision",
    "Curve",
    "Cut",
    "ExpectedCost",
    "Measure",
    "NetBenefit",
    "Row",
    "average_precision_effects",
    "benefit_of_all",
    "cheapest_cuts",
    "left_out_errors",
]
