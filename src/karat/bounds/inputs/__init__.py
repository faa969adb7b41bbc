"""From what users pass to a problem that can be solved.

`read_inputs`, `read_predictions` and `read_gold` check votes, label model, predictions and true
labels; the ``check_*`` functions check options that several public functions share.
`refitted` fits a label model again to some of the true labels. `build_problem` counts the items by
fold, pattern and prediction, and learns from the other folds how predictions depend on the votes
(q̂, by `learn_predictions` on `features` of the patterns). `true_value` is the metric itself, where
every true label is known. `read_counted` and `counted_problem` do the same from counts alone.
"""

from karat.bounds.inputs._build import build_problem
from karat.bounds.inputs._counted import (
    counted_problem,
    read_counted,
    refuse_weighted_counts,
)
from karat.bounds.inputs._options import (
    check_groups,
    check_limit,
    check_method,
    check_metric,
    check_prior,
    check_robustness,
    sparse_share,
    warn_if_sparse,
)
from karat.bounds.inputs._predictions import Predictions, read_predictions
from karat.bounds.inputs._predictor import features, learn_predictions
from karat.bounds.inputs._read import Inputs, read_gold, read_inputs, refitted
from karat.bounds.inputs._truth import true_value

__all__ = [
    "Inputs",
    "Predictions",
    "build_problem",
    "check_groups",
    "check_limit",
    "check_method",
    "check_metric",
    "check_prior",
    "check_robustness",
    "counted_problem",
    "features",
    "learn_predictions",
    "read_counted",
    "read_gold",
    "read_inputs",
    "read_predictions",
    "refitted",
    "refuse_weighted_counts",
    "sparse_share",
    "true_value",
    "warn_if_sparse",
]
