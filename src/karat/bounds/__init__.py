"""How good a classifier can and must be, with no labels.

From predictions, weak labels and P(Y | weak labels): sharp bounds on any metric, with confidence
limits that hold however sparse the weak labels are.
"""

from karat.bounds._bounds_curve import bounds_curve
from karat.bounds._difference_bounds import difference_bounds
from karat.bounds._difference_bounds_from_counts import difference_bounds_from_counts
from karat.bounds._expectation_bounds import expectation_bounds
from karat.bounds._performance_bounds import performance_bounds
from karat.bounds._performance_bounds_from_counts import performance_bounds_from_counts
from karat.bounds._rank_models import rank_models
from karat.bounds._robustness_curve import robustness_curve
from karat.bounds._weak_label_value import weak_label_value
from karat.bounds.collection_result import (
    BoundsCurve,
    ModelRanking,
    RobustnessCurve,
    WeakLabelValue,
)
from karat.bounds.difference_result import DifferenceBounds
from karat.bounds.result import ExpectationBounds, PerformanceBounds

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
