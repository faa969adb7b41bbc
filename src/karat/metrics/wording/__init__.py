"""Metrics in words, for ``metric.describe()``.

Names of classes and of kinds of error, what each error costs against a right prediction, where the
threshold of a binary linear metric lies, a linear form written with P(truth, prediction), and how
far a power mean of recalls counts a class that is found seldom.
"""

from karat.metrics.wording._gains import (
    class_name,
    class_names,
    describe_gains,
    error_names,
    linear_form,
)
from karat.metrics.wording._power_means import describe_power_mean

__all__ = [
    "class_name",
    "class_names",
    "describe_gains",
    "describe_power_mean",
    "error_names",
    "linear_form",
]
