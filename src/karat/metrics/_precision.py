"""Precision, of two classes."""

from karat.metrics._linear_fractional_metric import LinearFractionalMetric

__all__ = ["precision"]

# Coefficients of [[TN, FP], [FN, TP]]: class 1, the last, is the positive one.
precision = LinearFractionalMetric([[0, 0], [0, 1]], [[0, 1], [0, 1]], name="precision")
"""Share of the predicted positives that are positive: TP / (TP + FP)."""
