"""Confidence limits that belong to no single statistic: of proportions and means, by resampling.

Every function takes ``confidence=`` and its result holds one `Estimate`: ``value``, ``lower``,
``upper``, ``confidence``, and as ``basis`` what the limits rest on, ``"guaranteed"`` or
``"likely"``. ``guarantee`` says more of the method: ``"exact"`` (the law of the count itself),
``"finite-sample"`` (an inequality that holds for any number of items) or ``"approximate"`` (right
as the number of items grows). Limits of `anytime_mean` and `anytime_ratio` hold after every label,
however often one looks. All results of karat that are a number with limits hold an `Estimate`.
"""

from karat._result import Estimate
from karat.limits.anytime import anytime_mean, anytime_ratio
from karat.limits.means import bernstein_mean, betting_mean, normal_mean
from karat.limits.prediction_powered import prediction_powered_mean, prediction_powered_ratio
from karat.limits.proportions import binomial_kl, clopper_pearson, wilson
from karat.limits.pseudo import pseudo_count
from karat.limits.resampling import bootstrap
from karat.limits.result import Limits

__all__ = [
    "Estimate",
    "Limits",
    "anytime_mean",
    "anytime_ratio",
    "bernstein_mean",
    "betting_mean",
    "binomial_kl",
    "bootstrap",
    "clopper_pearson",
    "normal_mean",
    "prediction_powered_mean",
    "prediction_powered_ratio",
    "pseudo_count",
    "wilson",
]
