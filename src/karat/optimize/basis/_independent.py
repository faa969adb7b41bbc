"""Which of several basis functions are no combination of the others."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["independent"]

# A function adds nothing if what the others do not explain is below this share of its square.
_DEPENDENT = 1e-9


def independent(basis: FloatArray) -> IntArray:
    """Return which functions to keep: those that are no combination of earlier ones.

    Weights are a function of the row, and a combination of the others adds no function. So a
    constant and one indicator for each cluster may be passed together.
    """
    kept: list[int] = []
    directions: list[FloatArray] = []
    gram = basis.T @ basis
    # Gram–Schmidt in the coordinates of the functions, with the Gram matrix as inner product.
    for b in range(basis.shape[1]):
        rest = np.eye(basis.shape[1])[b]
        for _ in range(2):  # the second pass removes what rounding left
            for known in directions:
                rest = rest - (known @ gram @ rest) * known
        size = float(rest @ gram @ rest)
        if size > _DEPENDENT * gram[b, b]:
            kept.append(b)
            directions.append(rest / np.sqrt(size))
    return np.array(kept, dtype=np.intp)
