"""The Jaccard index, of two classes."""

from karat.metrics._linear_fractional_metric import LinearFractionalMetric

__all__ = ["jaccard"]

# Coefficients of [[TN, FP], [FN, TP]]: class 1, the last, is the positive one.
jaccard = LinearFractionalMetric([[0, 0], [0, 1]], [[0, 1], [1, 1]], name="jaccard")
"""Positives found, among all that are or are called positive: TP / (TP + FP + FN)."""
