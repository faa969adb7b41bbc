"""Small transport problems, many at a time: the dual that bounds an expected gain, the coupling."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["transport_duals", "transport_plans"]


def transport_duals(
    gain: FloatArray, predicted: FloatArray, truth: FloatArray, slack: float
) -> FloatArray:
    """Return the dual α of ``max Σ gain[i, j]·π[i, j]`` for each row of margins.

    π couples a truth with distribution ``truth[r]``, or any within total variation ``slack`` of
    it, and a prediction with distribution ``predicted[r]``. Solved exactly by successive shortest
    paths on a graph of a few nodes.

    Parameters
    ----------
    gain : array (k, j)
    predicted : array (r, j)
    truth : array (r, k)
    slack : float
    """
    # Compiled on first use: numba is too heavy to import with the package.
    from karat.bounds._loops import solve_transports

    g, q, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (gain, predicted, truth))
    return np.asarray(solve_transports(g, q, p, float(slack)))


def transport_plans(gain: FloatArray, predicted: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the π of ``max Σ gain[i, j]·π[i, j]`` for each row of margins, (r, k, j)."""
    from karat.bounds._loops import solve_plans

    g, q, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (gain, predicted, truth))
    return np.asarray(solve_plans(g, q, p))
