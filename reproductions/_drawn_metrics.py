"""Metrics drawn at random as in Hiranandani 2021, chapters 5 and 6, and rates that are attained.

The thesis' metrics are costs of rates; karat's are better the greater they are, so these are
minus the costs.
"""

from math import comb

import numpy as np
from numpy.typing import NDArray

from karat.elicit import RateSpace
from karat.metrics import FairMetric, FairQuadraticMetric, PolynomialMetric, QuadraticMetric

__all__ = ["draw_cubic", "draw_fair", "draw_fair_quadratic", "draw_quadratic", "ideal_space"]

Array = NDArray[np.float64]
_ITEMS = 100  # items of each class in each group of the ideal space, on average


def ideal_space(k: int, m: int | None = None) -> RateSpace:
    """Return a space in which every rate is attained: that of a model that is never wrong.

    Groups are of one size, and their classes are dealt at random.
    """
    y = np.tile(np.arange(k), _ITEMS * (m or 1))
    members = None if m is None else np.random.default_rng(0).permutation(np.arange(len(y)) % m)
    return RateSpace.from_proba(y, np.eye(k)[y], groups=members)


def draw_fair(rng: np.random.Generator, k: int, m: int) -> FairMetric:
    """Draw a metric of Definition 5.1: |normal| weights and a uniform trade-off."""
    q = k * k - k
    cost, violation = np.abs(rng.normal(size=q)), np.abs(rng.normal(size=(comb(m, 2), q)))
    scale = np.linalg.norm(violation, axis=1).sum()
    return FairMetric(cost / np.linalg.norm(cost), violation / scale, rng.uniform())


def draw_quadratic(rng: np.random.Generator, k: int) -> QuadraticMetric:
    """Draw a metric of Definition 6.3: normal coefficients."""
    q = k * k - k
    square = rng.normal(size=(q, q))
    return QuadraticMetric(rng.normal(size=q), (square + square.T) / 2).normalized()


def draw_fair_quadratic(rng: np.random.Generator, k: int, m: int) -> FairQuadraticMetric:
    """Draw a metric of Definition 6.4: |normal| costs, A·Aᵀ of normal A, a uniform trade-off."""
    q = k * k - k
    cost, roots = np.abs(rng.normal(size=q)), rng.normal(size=(comb(m, 2), q, q))
    violation = roots @ np.swapaxes(roots, 1, 2)
    scale = 0.5 * np.linalg.norm(violation, axis=(1, 2)).sum()
    return FairQuadraticMetric(cost / np.linalg.norm(cost), violation / scale, rng.uniform())


def draw_cubic(rng: np.random.Generator, k: int) -> PolynomialMetric:
    """Draw a metric of eq. 6.26: normal coefficients, symmetric and jointly of norm 1."""
    q = k * k - k
    linear, square, cube = rng.normal(size=q), rng.normal(size=(q, q)), rng.normal(size=(q, q, q))
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    parts = [
        linear,
        (square + square.T) / 2,
        np.mean([cube.transpose(order) for order in orders], axis=0),
    ]
    size = np.sqrt(sum(float((part**2).sum()) for part in parts))
    return PolynomialMetric([part / size for part in parts])
