"""Balanced accuracy."""

from karat.metrics.families import BalancedAccuracy

__all__ = ["balanced_accuracy"]

balanced_accuracy = BalancedAccuracy()
"""Mean recall over the classes, for any number of them."""
