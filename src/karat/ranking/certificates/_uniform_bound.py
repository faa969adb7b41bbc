"""Bounds on the error of an area that hold for all models of a class at once."""

import math

import numpy as np

from karat._validate import refuse_option
from karat.ranking.areas import dkw_margin
from karat.ranking.certificates._families import Family, FiniteFamily, LinearScores
from karat.ranking.weights import FprBand, Weight

__all__ = ["half_space_margin", "uniform_bound"]


def uniform_bound(
    n1: float, n0: float, family: Family, weight: Weight, *, delta: float, slope: float
) -> tuple[float, str]:
    """Return the bound, infinite where none holds, and the theorem that it comes from.

    ``slope`` is the Lipschitz bound of the loss, which Theorem 3 alone uses.
    """
    if isinstance(family, FiniteFamily):
        e0, e1 = (dkw_margin(n, delta / (2 * family.size)) for n in (n0, n1))
        return weight.area * e1 + weight.sup * e0, "DKW, shared among the models"
    if isinstance(family, LinearScores):
        e0, e1 = (half_space_margin(n, family.dim, delta / 2) for n in (n0, n1))
        return weight.area * e1 + weight.sup * e0, "half-spaces, Devroye (1982)"
    margin = _theorem_3(n1, n0, weight, family.value, delta, slope)
    return margin, "Maurer and Pontil (2020), Theorem 3"


def half_space_margin(n: float, dim: int, delta: float) -> float:
    """Return ε with ``P(sup over half-spaces |F̂ − F| > ε) ≤ delta``.

    ``4·s(n²)·exp(4ε + 4ε² − 2nε²)`` bounds the probability, where ``s(N) = 2 Σ_{k≤dim} C(N−1, k)``
    is the number of ways in which half-spaces part N points (Cover 1965).
    """
    from scipy.special import logsumexp

    points = n * n - 1
    k = np.arange(1, min(dim, int(points)) + 1)
    # A sum of logarithms: differences of log Γ(n²) lose every digit where n is large.
    parts = np.concatenate([[0.0], np.cumsum(np.log((points - k + 1) / k))])
    need = math.log(4 * 2 / delta) + float(logsumexp(parts))
    a = 2 * n - 4  # (2n − 4)ε² − 4ε − need = 0
    if a <= 0:
        return 1.0
    return min(1.0, (4 + math.sqrt(16 + 4 * a * need)) / (2 * a))


def _theorem_3(
    n1: float, n0: float, weight: Weight, complexity: float, delta: float, slope: float
) -> float:
    """Return the bound of Theorem 3, infinite where the rarer class is too rare for it."""
    n = n1 + n0
    p0, p1 = n0 / n, n1 / n
    if min(p0, p1) <= math.sqrt(2 * math.log(4 / delta) / n):  # the event A_δ
        return math.inf
    rate = math.sqrt(4 * math.log(16 * n / delta) / n) / min(p0, p1) ** 2
    growth = 8 * math.sqrt(2 * math.pi) * slope / (p0**2 * p1) * complexity / n

    def bound(w: Weight) -> float:
        return growth * (w.sup + w.lipschitz) + (w.lipschitz + 10 * w.sup) * rate

    if math.isfinite(weight.lipschitz):
        return bound(weight)
    if not isinstance(weight, FprBand):
        refuse_option(
            weight, "weight", "a weight with a Lipschitz bound, or FprBand(...), for Theorem 3"
        )
    # Corollary 4 with a ramp whose slope and whose lost area are balanced.
    width = math.sqrt(2 * (growth + rate) / weight.variation)
    ramp = weight.sandwich(width).below
    return bound(ramp) + weight.area - ramp.area
