"""The classifiers found so far, for each block of items with rules of its own."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray

__all__ = ["Columns", "Oracle"]

# Maps directions (b, d) to what makes the best classifier of each block, (b, blocks, ...), and to
# the points (b, blocks, d) that these classifiers attain. Points of blocks are added.
Oracle = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
_ROUNDING = 1e-14  # relative: a point better by less than the rounding of its sum is not new


class Columns:
    """Extreme points of a sum of convex sets, one set per block, found direction by direction.

    Whatever is maximised over mixtures (a metric, a distance, a difference) is maximised over
    shares of these points; the prices of the solution are the direction in which to look for the
    next ones. That is column generation (Dantzig & Wolfe 1960).

    Attributes
    ----------
    makers : list of arrays
        For each block what makes each of its classifiers: the weights of a rule, or a direction.
    points : list of arrays (n, d)
        For each block what its classifiers attain.
    """

    def __init__(self, oracle: Oracle, directions: FloatArray) -> None:
        self.oracle = oracle
        makers, points = oracle(directions)
        self.makers = [makers[:, b] for b in range(makers.shape[1])]
        self.points = [points[:, b] for b in range(points.shape[1])]

    def copy(self) -> "Columns":
        """Return a copy to which points can be added without changing these columns."""
        twin = object.__new__(Columns)
        twin.oracle, twin.makers, twin.points = self.oracle, list(self.makers), list(self.points)
        return twin

    @property
    def n_blocks(self) -> int:
        return len(self.points)

    @property
    def dim(self) -> int:
        return int(self.points[0].shape[1])

    def look(self, directions: FloatArray) -> tuple[FloatArray, bool]:
        """Look for better points; return the greatest value in each direction, and if any is new.

        Points that are no better than known ones are not kept. An oracle that is not exact may
        return less than a known point attains; the value is then that of the known point.
        """
        makers, points = self.oracle(directions)
        value, grown = np.zeros(len(directions)), False
        for b in range(self.n_blocks):
            known = (self.points[b] @ directions.T).max(axis=0)
            found = np.einsum("nd,nd->n", points[:, b], directions)
            new = found > known + _ROUNDING * np.abs(known)
            value += np.maximum(known, found)
            if new.any():
                grown = True
                self.makers[b] = np.concatenate([self.makers[b], makers[new, b]])
                self.points[b] = np.concatenate([self.points[b], points[new, b]])
        return value, grown

    def best(self, direction: FloatArray) -> list[int]:
        """Return, for each block, the known point that is best in a direction."""
        return [int(np.argmax(points @ direction)) for points in self.points]
