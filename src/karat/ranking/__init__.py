"""How good the ranking is where it matters.

`roc_auc` measures the area under the ROC curve and `weighted_auc` any weighted one, with limits
that hold; `roc_at` looks at one point, `uniform_margin` covers models chosen on the same rows, and
`WeightedAUCClassifier` learns a ranking for a weight. `average_precision`, `precision_at`,
`recall_at`, `lift`, `net_benefit` and `cost_curve` ask other questions of the same rows, and
`compare_rankings` compares models by any of them. What the functions return is in
`karat.ranking.result`.
"""

from typing import TYPE_CHECKING, Any

from karat.ranking._compare_rankings import compare_rankings
from karat.ranking._measures import (
    average_precision,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
)
from karat.ranking._roc_at import roc_at
from karat.ranking._uniform_margin import uniform_margin
from karat.ranking._weighted_auc import roc_auc, weighted_auc
from karat.ranking.methods import FiniteFamily, GaussianComplexity, LinearScores
from karat.ranking.result import WeightedAUC
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
    "TprBand",
    "TwoWayBand",
    "Uniform",
    "Weight",
    "WeightedAUC",
    "WeightedAUCClassifier",
    "average_precision",
    "compare_rankings",
    "cost_curve",
    "lift",
    "net_benefit",
    "precision_at",
    "recall_at",
    "roc_at",
    "roc_auc",
    "uniform_margin",
    "weighted_auc",
]


def __getattr__(name: str) -> Any:
    """Import the classifier on first use: scikit-learn takes a second that areas do not need."""
    if name == "WeightedAUCClassifier":
        from karat.ranking.learning import WeightedAUCClassifier

        return WeightedAUCClassifier
    raise AttributeError(f"module 'karat.ranking' has no attribute {name!r}")
