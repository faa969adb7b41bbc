"""How good the ranking is where it matters.

`weighted_auc` measures any weighted area under the ROC curve with limits that hold; `compare_auc`
compares models, `roc_at` looks at one point, `uniform_margin` covers models chosen on the same
rows, and `WeightedAUCClassifier` learns a ranking for a weight. `average_precision`,
`precision_at`, `recall_at`, `lift`, `net_benefit` and `cost_curve` ask other questions of the same
rows, and `compare_rankings` compares models by any of them.
"""

from typing import TYPE_CHECKING, Any

from karat.ranking._compare_auc import compare_auc, compare_auc_from_counts
from karat.ranking._compare_rankings import RankingComparison, RankingDifference, compare_rankings
from karat.ranking._measures import (
    RankingMeasure,
    average_precision,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
)
from karat.ranking._roc_at import roc_at
from karat.ranking._uniform_margin import uniform_margin
from karat.ranking._weighted_auc import weighted_auc, weighted_auc_from_counts
from karat.ranking.certificates import FiniteFamily, GaussianComplexity, LinearScores
from karat.ranking.result import RocPoint, UniformMargin, WeightedAUC
from karat.ranking.weights import (
    FprBand,
    FunctionWeight,
    PiecewiseLinear,
    Power,
    TprBand,
    TwoWayBand,
    Uniform,
    Weight,
)

if TYPE_CHECKING:
    from karat.ranking.learning import WeightedAUCClassifier

__all__ = [
    "FiniteFamily",
    "FprBand",
    "FunctionWeight",
    "GaussianComplexity",
    "LinearScores",
    "PiecewiseLinear",
    "Power",
    "RankingComparison",
    "RankingDifference",
    "RankingMeasure",
    "RocPoint",
    "TprBand",
    "TwoWayBand",
    "Uniform",
    "UniformMargin",
    "Weight",
    "WeightedAUC",
    "WeightedAUCClassifier",
    "average_precision",
    "compare_auc",
    "compare_auc_from_counts",
    "compare_rankings",
    "cost_curve",
    "lift",
    "net_benefit",
    "precision_at",
    "recall_at",
    "roc_at",
    "uniform_margin",
    "weighted_auc",
    "weighted_auc_from_counts",
]


def __getattr__(name: str) -> Any:
    """Import the classifier on first use: scikit-learn takes a second that areas do not need."""
    if name == "WeightedAUCClassifier":
        from karat.ranking.learning import WeightedAUCClassifier

        return WeightedAUCClassifier
    raise AttributeError(f"module 'karat.ranking' has no attribute {name!r}")
