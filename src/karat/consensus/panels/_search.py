"""The cheapest set of judges that loses little."""

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray

__all__ = ["Panel", "cheapest"]

_EXACT = 12  # judges up to which every set is tried


class Panel(NamedTuple):
    """A set of judges, what it loses, and whether no cheaper set does as well."""

    judges: tuple[int, ...]
    loss: float
    exact: bool


def cheapest(loss: Callable[[tuple[int, ...]], float], cost: FloatArray, tolerance: float) -> Panel:
    """Return the cheapest set whose loss is within the tolerance.

    Up to twelve judges every set is tried, in the order of their cost; beyond, judges are added by
    what they save per cost and then dropped where they are not needed.
    """
    m = len(cost)
    if m <= _EXACT:
        sets = [s for r in range(1, m + 1) for s in combinations(range(m), r)]
        sets.sort(key=lambda s: (round(float(cost[list(s)].sum()), 9), len(s), s))
        within, best = None, np.inf
        for s in sets:
            price = float(cost[list(s)].sum())
            if within is not None and price > best + 1e-9:
                break
            found = loss(s)
            if found <= tolerance and (within is None or found < within.loss - 1e-12):
                within, best = Panel(s, found, True), price
        assert within is not None  # all judges together lose nothing
        return within
    return _greedy(loss, cost, tolerance)


def _greedy(loss: Callable[[tuple[int, ...]], float], cost: FloatArray, tolerance: float) -> Panel:
    left, now = set(range(len(cost))), np.inf
    chosen: tuple[int, ...] = ()
    while now > tolerance:
        tried = {j: loss((*chosen, j)) for j in left}
        start = 0.5 if not np.isfinite(now) else now
        j = max(left, key=lambda k: ((start - tried[k]) / max(float(cost[k]), 1e-12), -cost[k], -k))
        if tried[j] >= now:  # nobody helps alone: take the one that harms least
            j = min(left, key=lambda k: (tried[k], cost[k], k))
        chosen, now = (*chosen, j), tried[j]
        left.discard(j)
        if not left:
            break
    for j in sorted(chosen, key=lambda k: -cost[k]):
        rest = tuple(k for k in chosen if k != j)
        if rest and loss(rest) <= tolerance:
            chosen = rest
    return Panel(tuple(sorted(chosen)), loss(chosen), False)
