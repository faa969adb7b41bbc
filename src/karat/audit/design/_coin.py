"""The coin that draws strata, one label at a time."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["chances", "draw_items"]

_LEAN = 0.25  # how much more likely a stratum is for each label that it is behind
_LEAST, _MOST = 0.3, 3.0  # times its share


def chances(share: FloatArray, asked: IntArray, size: FloatArray) -> FloatArray:
    """Return the probability of each stratum, given how many of its items were asked for."""
    behind = share * (asked.sum() + 1) - asked
    lean = share * np.clip(1 + _LEAN * behind, _LEAST, _MOST) * (asked < size)
    return np.asarray(lean / lean.sum())


def draw_items(
    share: FloatArray,
    taken: IntArray,
    members: list[IntArray],
    n: int,
    rng: np.random.Generator,
    is_free: "np.ndarray[tuple[int], np.dtype[np.bool_]]",
) -> tuple[list[int], list[int]]:
    """Draw n items that are free: strata by the coin, items of a stratum at random.

    ``taken`` counts the items of each stratum that are not free; it and ``is_free`` are changed.
    """
    size = np.array([len(m) for m in members], dtype=np.float64)
    items, strata = [], []
    for _ in range(n):
        h = int(rng.choice(len(size), p=chances(share, taken, size)))
        item = _one(members[h], size[h] - taken[h], is_free, rng)
        is_free[item] = False
        taken[h] += 1
        items.append(item)
        strata.append(h)
    return items, strata


def _one(
    member: IntArray,
    left: float,
    is_free: "np.ndarray[tuple[int], np.dtype[np.bool_]]",
    rng: np.random.Generator,
) -> int:
    """Draw one of the members that are free."""
    if left > 0.2 * len(member):  # most tries succeed
        while True:
            item = int(member[rng.integers(len(member))])
            if is_free[item]:
                return item
    free = member[is_free[member]]
    return int(free[rng.integers(len(free))])
