"""Matthews' correlation coefficient."""

from karat.metrics.families import MCC

__all__ = ["mcc"]

mcc = MCC()
"""Matthews' correlation coefficient, for any number of classes."""
