"""What the functions of this package share: their options, and the result they return.

`check_request` reads ``confidence=`` and ``side=`` and knows the error of each side; the other
functions check counts of trials, the range of values, and values within a range.
"""

from karat.limits.options._data import bounded_values, check_range, check_trials
from karat.limits.options._request import LimitRequest, check_request

__all__ = ["LimitRequest", "bounded_values", "check_range", "check_request", "check_trials"]
