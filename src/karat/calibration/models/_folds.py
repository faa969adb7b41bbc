"""Random folds of rows."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["folds_of"]


def folds_of(n: int, k: int, rng: np.random.Generator) -> FloatArray:
    """Return a random fold for each row, as even as can be."""
    return np.asarray(rng.permutation(n) % k)
