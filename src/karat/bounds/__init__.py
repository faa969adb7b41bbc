"""How good a classifier can and must be, with no labels.

From predictions, weak labels and P(Y | weak labels): sharp bounds on any metric, with confidence
limits that hold however sparse the weak labels are. The results of curves, rankings and
expectations are described with the functions that return them, and stand in
`karat.bounds.result`.
"""

from karat.bounds._collections import bounds_curve, rank_models, robustness_curve, weak_label_value
from karat.bounds._difference import difference_bounds
from karat.bounds._expectation import expectation_bounds
from karat.bounds._performance import performance_bounds
from karat.bounds.result import DifferenceBounds, PerformanceBounds

__all__ = [
    "DifferenceBounds",
    "PerformanceBounds",
    "bounds_curve",
    "difference_bounds",
    "expectation_bounds",
    "performance_bounds",
    "rank_models",
    "robustness_curve",
    "weak_label_value",
]
