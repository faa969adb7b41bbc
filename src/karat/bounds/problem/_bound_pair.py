"""A lower and an upper bound, with their confidence limits."""

from typing import NamedTuple

__all__ = ["Bound", "BoundPair"]


class Bound(NamedTuple):
    """One side of an interval: the estimated bound, and its confidence limit further out."""

    value: float
    limit: float


class BoundPair(NamedTuple):
    """The two bounds of a metric; ``sharp`` if some law with the given margins attains them.

    ``iterations`` and ``gap`` certify an iterative solution: how many steps it took, and how far
    the value may be from the optimum.
    """

    lower: Bound
    upper: Bound
    sharp: bool = True
    iterations: int = 0
    gap: float = 0.0
