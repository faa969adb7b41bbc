"""Metrics for any number of classes that are neither linear nor a ratio of linear functions.

Means of recalls, Matthews' correlation coefficient and averages of a binary metric over classes.
The public names (`balanced_accuracy`, `g_mean`, `mcc`, `macro`) are made of these classes; solvers
that treat one of them by a formula of its own recognise it by its class. ``power_mean`` and its
slopes are the formula of `PowerMeanMetric` on arrays.
"""

from karat.metrics.families._averages import Average, Macro, from_one_vs_rest, one_vs_rest
from karat.metrics.families._balanced_accuracy import BalancedAccuracy
from karat.metrics.families._g_mean import GMean
from karat.metrics.families._mcc import MCC
from karat.metrics.families._power_means import power_mean, power_mean_slopes

__all__ = [
    "MCC",
    "Average",
    "BalancedAccuracy",
    "GMean",
    "Macro",
    "from_one_vs_rest",
    "one_vs_rest",
    "power_mean",
    "power_mean_slopes",
]
