"""Whether two metrics are the same up to positive scale and shift."""

from collections.abc import Callable

import numpy as np

from karat._typing import FloatArray

__all__ = ["affinely_related"]

_POPULATIONS = 6


def affinely_related(
    first: Callable[[FloatArray], FloatArray],
    second: Callable[[FloatArray], FloatArray],
    n_classes: int,
    tol: float,
) -> bool:
    """Whether, on every population, ``second = scale·first + shift`` with a positive scale.

    Two rational functions that agree at more generic points than they have coefficients are the
    same, so a fixed set of random populations, with random confusions on each, decides it.
    """
    rng = np.random.default_rng(20240607)
    k = n_classes
    for _ in range(_POPULATIONS):
        prior = rng.dirichlet(np.full(k, 2.0))
        rates = rng.dirichlet(np.ones(k), size=(3 * k * k + 8, k))
        confusions = prior[:, None] * rates
        if not _affine(first(confusions), second(confusions), tol):
            return False
    return True


def _affine(x: FloatArray, y: FloatArray, tol: float) -> bool:
    x, y = x - x.mean(), y - y.mean()
    x_size, y_size = float(np.abs(x).max()), float(np.abs(y).max())
    if min(x_size, y_size) <= tol * max(1.0, x_size, y_size):
        return max(x_size, y_size) <= tol  # a constant is like another constant only
    x, y = x / x_size, y / y_size
    scale = float(x @ y) / float(x @ x)
    return scale > 0 and float(np.abs(y - scale * x).max()) <= tol
