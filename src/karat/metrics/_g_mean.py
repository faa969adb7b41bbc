"""The geometric mean of the recalls."""

from karat.metrics.families import GMean

__all__ = ["g_mean"]

g_mean = GMean()
"""Geometric mean of the recalls, for any number of classes."""
