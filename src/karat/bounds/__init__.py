"""How good a classifier can and must be, with no labels.

From predictions, weak labels and P(Y | weak labels): sharp bounds on any metric, with confidence
limits that hold however sparse the weak labels are.
"""

from karat.bounds._collections import bounds_curve, rank_models, robustness_curve, weak_label_value
from karat.bounds._difference import difference_bounds, difference_bounds_from_counts
from karat.bounds._expectation import expectation_bounds
from karat.bounds._performance import performance_bounds, performance_bounds_from_counts
from karat.bounds.result import (
    BoundsCurve,
    DifferenceBounds,
    ExpectationBounds,
    ModelRanking,
    PerformanceBounds,
    RobustnessCurve,
    WeakLabelValue,
)

__all__ = [
    "BoundsCurve",
    "DifferenceBounds",
    "ExpectationBounds",
    "ModelRanking",
    "PerformanceBounds",
    "RobustnessCurve",
    "WeakLabelValue",
    "bounds_curve",
    "difference_bounds",
    "difference_bounds_from_counts",
    "expectation_bounds",
    "performance_bounds",
    "performance_bounds_from_counts",
    "rank_models",
    "robustness_curve",
    "weak_label_value",
]
