"""Metrics in words, for ``metric.describe()``.

Names of classes and of kinds of error, what each error costs against a right prediction, where the
threshold of a binary linear metric lies, and a linear form written with P(truth, prediction).
"""

from karat.metrics.wording._gains import (
    class_name,
    class_names,
    describe_gains,
    error_names,
    linear_form,
)

__all__ = ["class_name", "class_names", "describe_gains", "error_names", "linear_form"]
