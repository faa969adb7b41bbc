"""Confidence limits that belong to no single statistic: of proportions and means, by resampling.

Every function takes ``confidence=`` and its result says what the limits rest on: ``"exact"`` (the
law of the count itself), ``"finite-sample"`` (an inequality that holds for any number of items) or
``"approximate"`` (right as the number of items grows). Those of `anytime_mean` and `anytime_ratio`
hold after every label, however often one looks.
"""

from karat.limits._anytime_mean import anytime_mean
from karat.limits._anytime_ratio import anytime_ratio
from karat.limits._bernstein_mean import bernstein_mean
from karat.limits._betting_mean import betting_mean
from karat.limits._binomial_kl import binomial_kl
from karat.limits._bootstrap import bootstrap
from karat.limits._clopper_pearson import clopper_pearson
from karat.limits._normal_mean import normal_mean
from karat.limits._powered_mean import powered_mean
from karat.limits._powered_ratio import powered_ratio
from karat.limits._surprise import surprise
from karat.limits._wilson import wilson
from karat.limits.result import AnytimeLimits, Limits, PoweredLimits

__all__ = [
    "AnytimeLimits",
    "Limits",
    "PoweredLimits",
    "anytime_mean",
    "anytime_ratio",
    "bernstein_mean",
    "betting_mean",
    "binomial_kl",
    "bootstrap",
    "clopper_pearson",
    "normal_mean",
    "powered_mean",
    "powered_ratio",
    "surprise",
    "wilson",
]
