"""What each row adds to an area: the influence function behind DeLong's variance."""

import numpy as np

from karat._typing import FloatArray
from karat.ranking.placements import Placements
from karat.ranking.weights import Weight

__all__ = ["influence", "variance"]


def influence(placed: Placements, weight: Weight) -> tuple[FloatArray, FloatArray]:
    """Return the influence of each positive and of each step of negatives, up to a constant.

    A positive counts with its placement value ``K̄(F₀(x−), F₀(x))``. A negative y moves the
    placement of every positive above it (both ends) and tied with it (the upper end), so it counts
    with ``E[∂ₐK̄·1{y < X} + ∂_bK̄·1{y ≤ X}]``; for ``W ≡ 1`` these are DeLong's components.
    """
    a, b = placed.below(), placed.upto()
    value = weight.mean_cumulative(a, b)
    width = b - a
    tied = width > 0
    low, high = np.zeros(len(placed)), weight.density(b)
    width, inner = width[tied], value[tied]
    low[tied] = (inner - weight.cumulative(a[tied])) / width
    high[tied] = (weight.cumulative(b[tied]) - inner) / width
    mass = 1.0 / len(placed) if placed.mass is None else placed.mass
    steps = placed.n_steps + 1
    moved = np.bincount(placed.left, low * mass, steps) + np.bincount(
        placed.right, high * mass, steps
    )
    return value, moved.sum() - np.cumsum(moved)[:-1]


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
