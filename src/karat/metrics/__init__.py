"""Metrics as values: score with them, differentiate them, save them, optimise and bound them.

A metric is a frozen object, callable on a confusion ``C[i, j] = P(Y=i, Ŷ=j)``; greater is better.
"""

from karat.metrics._group import FairMetric, FairQuadraticMetric, GroupMetric
from karat.metrics._json import load_metric
from karat.metrics.families import (
    LinearFractionalMetric,
    LinearMetric,
    PolynomialMetric,
    PowerMeanMetric,
    QuadraticMetric,
)
from karat.metrics.named import (
    accuracy,
    as_metric,
    balanced_accuracy,
    cohen_kappa,
    cost_matrix,
    f1,
    f_beta,
    g_mean,
    jaccard,
    macro,
    mcc,
    micro,
    precision,
    recall,
    specificity,
    weighted_accuracy,
)

__all__ = [
    "FairMetric",
    "FairQuadraticMetric",
    "GroupMetric",
    "LinearFractionalMetric",
    "LinearMetric",
    "PolynomialMetric",
    "PowerMeanMetric",
    "QuadraticMetric",
    "accuracy",
    "as_metric",
    "balanced_accuracy",
    "cohen_kappa",
    "cost_matrix",
    "f1",
    "f_beta",
    "g_mean",
    "jaccard",
    "load_metric",
    "macro",
    "mcc",
    "micro",
    "precision",
    "recall",
    "specificity",
    "weighted_accuracy",
]
