"""What the benchmarks share."""

import time
from collections.abc import Callable

__all__ = ["best_of", "compare", "race"]


def best_of(times: int, function: Callable[[], object]) -> float:
    """Return the least time of several calls, in seconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken)


def race(times: int, *functions: Callable[[], object]) -> list[float]:
    """Return the least time of each function; they take turns, so that noise falls on all."""
    best = [float("inf")] * len(functions)
    for _ in range(times):
        for i, function in enumerate(functions):
            best[i] = min(best[i], best_of(1, function))
    return best


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], peer: str) -> None:
    """Print how many times faster we are than a peer."""
    mine, other = best_of(3, ours), best_of(3, theirs)
    print(f"{name}: ratio {other / mine:.1f} (karat {mine:.3f} s, {peer} {other:.3f} s)")
