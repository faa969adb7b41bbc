"""Metrics as values: score with them, differentiate them, save them, optimise and bound them.

A metric is a frozen object, callable on a confusion ``C[i, j] = P(Y=i, Ŷ=j)``; greater is better.
"""

from karat.metrics._accuracy import accuracy
from karat.metrics._as_metric import as_metric
from karat.metrics._balanced_accuracy import balanced_accuracy
from karat.metrics._cost_matrix import cost_matrix
from karat.metrics._f_beta import f_beta
from karat.metrics._fair_metric import FairMetric
from karat.metrics._fair_quadratic_metric import FairQuadraticMetric
from karat.metrics._g_mean import g_mean
from karat.metrics._jaccard import jaccard
from karat.metrics._linear_fractional_metric import LinearFractionalMetric
from karat.metrics._linear_metric import LinearMetric
from karat.metrics._load_metric import load_metric
from karat.metrics._macro import macro
from karat.metrics._mcc import mcc
from karat.metrics._micro import micro
from karat.metrics._polynomial_metric import PolynomialMetric
from karat.metrics._power_mean_metric import PowerMeanMetric
from karat.metrics._precision import precision
from karat.metrics._quadratic_metric import QuadraticMetric
from karat.metrics._recall import recall
from karat.metrics._weighted_accuracy import weighted_accuracy
from karat.metrics.base import GroupMetric, Metric, MetricBase
from karat.metrics.result import MetricEstimate, MetricGap

__all__ = [
    "FairMetric",
    "FairQuadraticMetric",
    "GroupMetric",
    "LinearFractionalMetric",
    "LinearMetric",
    "Metric",
    "MetricBase",
    "MetricEstimate",
    "MetricGap",
    "PolynomialMetric",
    "PowerMeanMetric",
    "QuadraticMetric",
    "accuracy",
    "as_metric",
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
