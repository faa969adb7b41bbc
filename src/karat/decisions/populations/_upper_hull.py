"""The upper hull of a curve."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["upper_hull"]

# Slopes on both sides of a vertex differ by more than this share of the range of slopes; what
# differs by less is rounding of sums.
_ROUNDING = 1e-12


def upper_hull(points: FloatArray) -> IntArray:
    """Return the positions of the vertices of the upper hull of a falling curve.

    Parameters
    ----------
    points : array (n, 2)
        Points whose first coordinate never falls and whose second never rises from one point to
        the next, such as the correct predictions of two classes while a threshold moves.

    Notes
    -----
    With ``t = x − y`` as the abscissa every step goes forward, and the hull's slopes in t are the
    falling least-squares fit of the slopes of the steps, each weighed by its length in t (pool
    adjacent violators; Robertson, Wright & Dykstra 1988, Theorem 1.2.1), which SciPy has compiled.
    """
    from scipy.optimize import isotonic_regression

    steps = np.diff(points, axis=0)
    length = steps[:, 0] - steps[:, 1]
    moving = np.flatnonzero(length > 0)
    if moving.size == 0:
        return np.array([0, len(points) - 1]) if len(points) > 1 else np.arange(len(points))
    slopes = (steps[moving, 0] + steps[moving, 1]) / length[moving]
    fitted = isotonic_regression(slopes, weights=length[moving], increasing=False).x
    falls = np.flatnonzero(np.diff(fitted) < -_ROUNDING)
    # The vertex before a step that moves is where the step starts.
    return np.concatenate([[0], moving[falls + 1], [len(points) - 1]])
