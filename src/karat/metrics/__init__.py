"""Metrics as values: score with them, differentiate them, save them, optimise and bound them.

A metric is a frozen object, callable on a confusion ``C[i, j] = P(Y=i, Ŷ=j)``; greater is better.
"""

from karat.metrics._accuracy import accuracy
from karat.metrics._averages import macro, micro
from karat.metrics._balanced_accuracy import balanced_accuracy
from karat.metrics._base import Metric
from karat.metrics._binary_ratios import f_beta, jaccard, precision, recall
from karat.metrics._fair import FairMetric
from karat.metrics._fair_quadratic import FairQuadraticMetric
from karat.metrics._g_mean import g_mean
from karat.metrics._gains import cost_matrix, weighted_accuracy
from karat.metrics._group_metric import GroupMetric
from karat.metrics._linear import LinearMetric
from karat.metrics._linear_fractional import LinearFractionalMetric
from karat.metrics._load_metric import load_metric
from karat.metrics._mcc import mcc
from karat.metrics._metric_base import MetricBase
from karat.metrics._polynomial import PolynomialMetric
from karat.metrics._quadratic import QuadraticMetric

__all__ = [
    "FairMetric",
    "FairQuadraticMetric",
    "GroupMetric",
    "LinearFractionalMetric",
    "LinearMetric",
    "Metric",
    "MetricBase",
    "PolynomialMetric",
    "QuadraticMetric",
    "accuracy",
    "balanced_accuracy",
    "cost_matrix",
    "f_beta",
    "g_mean",
    "jaccard",
    "load_metric",
    "macro",
    "mcc",
    "micro",
    "precision",
    "recall",
    "weighted_accuracy",
]
