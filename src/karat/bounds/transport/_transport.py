"""Small transport problems, many at a time: the dual that bounds an expected gain, the coupling."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from karat._typing import FloatArray

__all__ = ["transport_duals", "transport_plans"]

_ROWS_PER_THREAD = 200  # about a millisecond of work, ten times what starting a thread takes


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
    from karat.bounds.transport._transport_loops import solve_transports

    g, q, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (gain, predicted, truth))
    duals = np.empty(p.shape)
    _in_threads(len(p), lambda at: solve_transports(g, q[at], p[at], float(slack), duals[at]))
    return duals


def transport_plans(gain: FloatArray, predicted: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the π of ``max Σ gain[i, j]·π[i, j]`` for each row of margins, (r, k, j)."""
    from karat.bounds.transport._transport_loops import solve_plans

    g, q, p = (np.ascontiguousarray(a, dtype=np.float64) for a in (gain, predicted, truth))
    plans = np.empty((len(p), *g.shape))
    _in_threads(len(p), lambda at: solve_plans(g, q[at], p[at], plans[at]))
    return plans


def _in_threads(rows: int, solve: Callable[[slice], None]) -> None:
    """Solve all rows, in as many threads as there are processors and work for them.

    The threads live as long as the call. Those of numba's own parallel loops outlive it, and a
    process forked after that waits for them forever.
    """
    threads = min(_processors(), rows // _ROWS_PER_THREAD)
    if threads < 2:
        solve(slice(0, rows))
        return
    edges = np.linspace(0, rows, threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(solve, map(slice, edges[:-1], edges[1:])))


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
