"""What the functions of this package share: their options, and the result they return.

`check_request` reads ``confidence=`` and ``side=`` and knows the error of each side; the other
functions check counts of trials, the range of values, values within a range, and predictions
beside labelled values. `path_result` holds the estimate of every look inside its limits.
"""

from karat.limits.options._data import bounded_values, check_range, check_trials
from karat.limits.options._kinds import check_kinds
from karat.limits.options._path import path_result
from karat.limits.options._predictions import LabelledPredictions, powered_result, read_labelled
from karat.limits.options._request import LimitRequest, check_request

__all__ = [
    "LabelledPredictions",
    "LimitRequest",
    "bounded_values",
    "check_kinds",
    "check_range",
    "check_request",
    "check_trials",
    "path_result",
    "powered_result",
    "read_labelled",
]
