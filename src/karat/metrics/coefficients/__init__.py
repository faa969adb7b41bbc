"""Checks of the coefficients that metrics are made of.

A matrix must be square, a tensor the same in every order of its indices, costs at least 0, and a
table of violations must have one row for each pair of groups. What fails a check is refused with
a `MetricError` that says which shape or sign was expected.
"""

from karat.metrics.coefficients._groups import groups_for, read_cost, rescaled
from karat.metrics.coefficients._tensors import square_matrix, symmetric_tensor

__all__ = ["groups_for", "read_cost", "rescaled", "square_matrix", "symmetric_tensor"]
