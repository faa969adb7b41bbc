"""What each row adds to an area: the influence function behind DeLong's variance."""

import numpy as np

from karat._typing import FloatArray
from karat.ranking.placements import Placements
from karat.ranking.weights import Weight

__all__ = ["influence", "variance"]

_CHUNK = 1 << 18  # positives at a time, so that what is in between stays small


def influence(placed: Placements, weight: Weight) -> tuple[FloatArray, FloatArray]:
    """Return the influence of each positive and of each step of negatives, up to a constant.

    A positive counts with its placement value ``K̄(F₀(x−), F₀(x))``. A negative y moves the
    placement of every positive above it (both ends) and tied with it (the upper end), so it counts
    with ``E[∂ₐK̄·1{y < X} + ∂_bK̄·1{y ≤ X}]``; for ``W ≡ 1`` these are DeLong's components.
    """
    values, moved = np.empty(len(placed)), np.zeros(placed.n_steps + 1)
    for first in range(0, len(placed), _CHUNK):
        some = slice(first, min(first + _CHUNK, len(placed)))
        a, b = placed.below(some), placed.upto(some)
        values[some] = value = weight.mean_cumulative(a, b)
        width = b - a
        tied = width > 0
        low, high = np.zeros(len(a)), weight.density(b)
        width, inner = width[tied], value[tied]
        low[tied] = (inner - weight.cumulative(a[tied])) / width
        high[tied] = (weight.cumulative(b[tied]) - inner) / width
        mass = 1.0 / len(placed) if placed.mass is None else placed.mass[some]
        for steps, by in ((placed.left[some], low), (placed.right[some], high)):
            least = int(steps.min())  # positives ascend, so a chunk moves a stretch of steps
            part = np.bincount(steps - least, by * mass)
            moved[least : least + len(part)] += part
    total = moved.sum()
    np.cumsum(moved, out=moved)
    np.subtract(total, moved, out=moved)
    return values, moved[:-1]


def variance(placed: Placements, weight: Weight) -> float:
    """Return the variance of an area: that of the positives' influence, and of the negatives'."""
    ones, zeros = influence(placed, weight)
    share = None if placed.share is None else np.diff(placed.share)
    total = 0.0
    for values, shares, n in (
        (ones, placed.mass, placed.n_positive),
        (zeros, share, placed.n_negative),
    ):
        centred = values - np.average(values, weights=shares)
        total += float(np.average(centred**2, weights=shares)) / (n - 1) if n > 1 else np.inf
    return total
