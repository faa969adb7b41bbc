"""Gamma and binomial numbers in compiled loops; import only when needed.

They take uniform numbers from NumPy's generator; numba compiles its gamma numbers too, but three
times as long as these.
"""

import math

import numpy as np

from karat._compiled import compiled

__all__ = ["binomial", "gamma"]


@compiled
def gamma(rng: np.random.Generator, shape: float) -> float:
    """Draw a number of the Gamma law with ``shape`` > 0 and rate 1.

    G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, ACM Trans. Math.
    Softw. 26 (2000). It is for shapes of at least 1; a smaller one is raised by 1 and the number
    multiplied by the power 1/shape of a uniform number.
    """
    factor = 1.0
    if shape < 1.0:
        factor = rng.random() ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        # A normal number by the polar method (Marsaglia & Bray 1964): numba takes longer to
        # compile its own than all the rest of this function.
        x, radius = 0.0, 1.0
        while radius >= 1.0 or radius == 0.0:
            x, y = 2.0 * rng.random() - 1.0, 2.0 * rng.random() - 1.0
            radius = x * x + y * y
        x *= math.sqrt(-2.0 * math.log(radius) / radius)
        v = 1.0 + c * x
        if v > 0.0:
            v, square, u = v * v * v, x * x, 1.0 - rng.random()
            if u < 1.0 - 0.0331 * square * square:  # the common case needs no logarithm
                return factor * d * v
            if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
                return factor * d * v


@compiled
def binomial(rng: np.random.Generator, n: float, p: float) -> float:
    """Draw a binomial number at a cost that hardly depends on n.

    By inversion while the mean is small, else by transformed rejection: algorithm BTRS of
    W. Hörmann, The generation of binomial random variates, J. Stat. Comput. Simul. 46 (1993).
    """
    small = p if p < 0.5 else 1 - p
    if small <= 0:
        return n if p > 0.5 else 0.0
    q, k = 1 - small, 0.0
    if n * small < 10:
        chance, u = math.exp(n * math.log1p(-small)), rng.random()
        while u > chance and k < n:
            u -= chance
            k += 1
            chance *= (n - k + 1) / k * small / q
    else:
        spread = math.sqrt(n * small * q)
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * small
        alpha, mode = (2.83 + 5.1 / b) * spread, math.floor((n + 1) * small)
        while True:
            u, v = rng.random() - 0.5, rng.random()
            edge = 0.5 - abs(u)
            k = math.floor((2 * a / edge + b) * u + n * small + 0.5) * 1.0
            if edge >= 0.07 and v <= 0.92 - 4.2 / b:
                break
            if k < 0 or k > n:
                continue
            height = math.lgamma(mode + 1) - math.lgamma(k + 1) + (k - mode) * math.log(small / q)
            height += math.lgamma(n - mode + 1) - math.lgamma(n - k + 1)
            if math.log(v * alpha / (a / (edge * edge) + b)) <= height:
                break
    return n - k if p > 0.5 else k
