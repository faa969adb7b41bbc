"""Linear-fractional metrics: two of their level sets say all that preferences can.

The level sets of ``N / D`` are hyperplanes ``N − τ·D = 0`` that all meet: a pencil of hyperplanes.
Any two of them span it, and the order that a metric gives is known once the pencil is (Hiranandani
2021, sections 3.4.2 and 4.4; the grid searches of Algorithms 3.3, 4.4 and 4.6 look for what is a
closed form).
"""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray
from karat.elicit.search._angle_search import angle_sweep
from karat.elicit.search._angles import direction
from karat.elicit.search._brackets import Brackets, Steps
from karat.elicit.spaces import Space
from karat.elicit.transcript import Query

__all__ = [
    "grid_ratio",
    "level_set_normals",
    "level_set_search",
    "ratio_from_level_sets",
    "two_centers",
]

_TOWARD = 0.5  # how far the two centers lie from guessing toward the best and the worst


def two_centers(space: Space) -> tuple[FloatArray, FloatArray, float]:
    """Return two points far apart in value, and the radius of a ball around each.

    The convex hull of the ball around the center and a feasible point holds a smaller ball around
    any point between them.
    """
    ones = space.sign * np.ones(space.dim)
    best, worst = space.coordinates(space.boundary(np.stack([ones, -ones])))
    center = space.center
    return (
        center + _TOWARD * (best - center),
        center + _TOWARD * (worst - center),
        (1.0 - _TOWARD) * space.radius,
    )


def level_set_search(space: Space, brackets: Brackets, tol: float) -> Steps:
    """Find the level set through each of two centers, one question a halving.

    Comparing ``z + ρu`` with ``z − ρu`` is exact for a ratio: with N and D at z, n and d along u,
    ``(N+ρn)(D−ρd) > (N−ρn)(D+ρd)`` exactly when ``n − φ(z)·d > 0``, whatever ρ.
    """
    *centers, radius = two_centers(space)
    size = space.dim - 1
    for start, center in zip((0, size), centers, strict=True):

        def pair(u: FloatArray, center: FloatArray = center) -> Query:
            step = space.sign * radius * u
            tables = space.confusion(np.stack([center + step, center - step]))
            return Query(tables[0], tables[1])

        yield from angle_sweep(brackets, tol, pair, start=start, size=size)


def ratio_from_level_sets(
    upper: FloatArray,
    upper_at: FloatArray,
    lower: FloatArray,
    lower_at: FloatArray,
    top: FloatArray,
) -> FloatArray:
    """Return the parameters (n, 2·dim) of the ratio with two given level sets.

    ``upper`` and ``lower`` (n, dim) are normals of the level sets through ``upper_at`` and
    ``lower_at``, the first of the greater value. The member of the pencil that vanishes at 0 is the
    numerator, ``s̄/⟨s̄, z̄⟩ − s̲/⟨s̲, z̲⟩`` up to sign; the one that vanishes at ``top`` is the
    rest.
    """

    def member(vanishing_at: FloatArray) -> FloatArray:
        a = upper / np.sum(upper * (upper_at - vanishing_at), axis=1, keepdims=True)
        b = lower / np.sum(lower * (lower_at - vanishing_at), axis=1, keepdims=True)
        difference = a - b
        signed = difference * np.sign(difference.sum(axis=1, keepdims=True))
        # Weights are at least 0; what is below is error of the search.
        return np.asarray(np.maximum(signed, 0.0) + 1e-12)

    return np.hstack([member(np.zeros_like(top)), member(top)])


def level_set_normals(angles: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return the normals (n, dim) of both level sets, of angles (n, 2·(dim−1))."""
    return direction(angles[:, : dim - 1]), direction(angles[:, dim - 1 :])


def grid_ratio(
    upper: FloatArray,
    upper_value: float,
    lower: FloatArray,
    lower_value: float,
    top: FloatArray,
    points: Callable[[int], FloatArray],
    *,
    step: float = 0.01,
) -> FloatArray:
    """Return the parameters (p, u) that Algorithms 3.3, 4.4 and 4.6 find on a grid.

    For each coordinate j after the first, the share of p_j against p_1 is the one for which the
    metrics that fit the upper and the lower level set are most nearly proportional on
    ``points(j)``. ``lower`` and ``lower_value`` are as in eq. 3.27 divided by −γ: positive.
    """
    shares = np.linspace(0.0, 1.0, round(1.0 / step) + 1)
    found = np.ones(len(top))
    for j in range(1, len(top)):
        p = np.zeros((len(shares), len(top)))
        p[:, 0], p[:, j] = 1.0 - shares, shares
        at = points(j)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = _fitted(p, upper, upper_value, top, at) / _fitted(
                p, lower, lower_value, top, at
            )
            spread = np.nanstd(np.where(np.isfinite(ratio), ratio, np.nan), axis=1)
        best = shares[int(np.nanargmin(spread))]
        found[j] = best / max(1.0 - best, 1e-9)
    p = found / found.sum()
    q, _ = _denominator(p[None], upper, upper_value, top)
    return np.concatenate([p, np.maximum(p - q[0], 0.0) + 1e-12])


def _denominator(
    p: FloatArray, slope: FloatArray, value: float, top: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return q and q₀ for each numerator p (Propositions 3.4, 4.5 and 4.7)."""
    above = p @ top
    scale = above / (above + value - slope @ top)
    return (p - slope) * scale[:, None], value * scale


def _fitted(
    p: FloatArray, slope: FloatArray, value: float, top: FloatArray, at: FloatArray
) -> FloatArray:
    """Return the value at points (m, dim) of each metric that fits a hyperplane: (grid, m)."""
    q, constant = _denominator(p, slope, value, top)
    return np.asarray((p @ at.T) / (q @ at.T + constant[:, None]))
