"""Votes as a matrix of patterns and voters: products of two such count the items in common."""

from typing import Any

import numpy as np

from karat._typing import AnyArray, FloatArray

__all__ = ["ballots"]

# Entries of a matrix, and of a product, that take less time than to make a sparse matrix.
_FEW = 10_000


def ballots(weight: FloatArray, pattern: AnyArray, voter: AnyArray, shape: tuple[int, int]) -> Any:
    """Return a matrix with a weight for each vote: a plain array if it is small, else a sparse one.

    With the root of a pattern's count as weight, ``one.T @ other`` counts items by pairs of voters.
    """
    if max(shape) * shape[1] <= _FEW:
        spot = pattern * shape[1] + voter
        return np.bincount(spot, weight, shape[0] * shape[1]).astype(np.float64).reshape(shape)
    from scipy import sparse

    return sparse.csr_matrix((weight, (pattern, voter)), shape=shape)
