"""The best vertex of a hull in many directions at once."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["Chain"]


class Chain:
    """A concave chain of points, the first coordinate rising and the second falling.

    What a direction (a, b) gains along an edge (dx, dy) is ``a·dx + b·dy``. For positive a and b
    these gains turn from gains into losses once, at the vertex that is best, so that it is found by
    bisection; for other directions an end of the chain is best.
    """

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        edges = np.diff(points, axis=0)
        # The angle at which an edge gains nothing falls along the chain, but for rounding.
        self._angles = np.maximum.accumulate(-np.arctan2(edges[:, 0], -edges[:, 1]))

    def best(self, directions: FloatArray) -> IntArray:
        """Return the position of the best point for each direction (b, 2), the first of equals."""
        last = len(self.points) - 1
        angles = np.arctan2(directions[:, 1], directions[:, 0])
        middle = np.searchsorted(self._angles, -angles)
        near = np.clip(middle[:, None] + np.arange(-2, 3), 0, last)
        ends = np.broadcast_to([0, last], (len(near), 2))
        tried = np.sort(np.hstack([near, ends]), axis=1)
        values = np.einsum("bcd,bd->bc", self.points[tried], directions)
        return np.asarray(tried[np.arange(len(tried)), np.argmax(values, axis=1)])
