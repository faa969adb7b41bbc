"""One bound to find, and what is found.

A `Problem` holds counts of (fold, pattern, prediction) in a `Sample`, P(Y | pattern) of the label
model, and P(prediction | pattern) as the other folds predict it. A `Limit` says how far from an
estimate its confidence limit lies. A `BoundPair` is the answer: the lower and the upper `Bound`.
"""

from karat.bounds.problem._bound_pair import Bound, BoundPair
from karat.bounds.problem._limit import Limit
from karat.bounds.problem._problem import Problem
from karat.bounds.problem._sample import Sample, split_counts, split_rows
from karat.bounds.problem._skew import skew_limit

__all__ = [
    "Bound",
    "BoundPair",
    "Limit",
    "Problem",
    "Sample",
    "skew_limit",
    "split_counts",
    "split_rows",
]
