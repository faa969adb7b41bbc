"""Recall, of two classes."""

from karat.metrics._linear_fractional_metric import LinearFractionalMetric

__all__ = ["recall"]

# Coefficients of [[TN, FP], [FN, TP]]: class 1, the last, is the positive one.
recall = LinearFractionalMetric([[0, 0], [0, 1]], [[0, 0], [1, 1]], name="recall")
"""Share of the positives that are found: TP / (TP + FN)."""
