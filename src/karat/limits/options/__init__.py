"""What the functions of this package share: their options, and the result they return.

`check_asked` reads ``confidence=`` and ``side=`` and knows the error of each side; the other
functions check counts of trials, the range of values, and values within a range.
"""

from karat.limits.options._asked import Asked, check_asked
from karat.limits.options._data import bounded_values, check_range, check_trials

__all__ = ["Asked", "bounded_values", "check_asked", "check_range", "check_trials"]
