"""Whether pairs of voters agree as the model of scores expects."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["pairs_apart"]

_FEWEST = 20  # items that two voters share


def pairs_apart(
    codes: IntArray, weight: FloatArray, chances: FloatArray, share: float
) -> FloatArray:
    """Return z of each pair of voters: their observed correlation of levels beside the model's.

    ``chances`` (voters, 2, levels) is P(level | class). Levels are compared after they were centred
    and scaled by the model; a pair that shares fewer than 20 items has no z.
    """
    m, grid = codes.shape[1], np.arange(chances.shape[2])
    mean = chances @ grid  # voters × classes
    marginal = (1 - share) * chances[:, 0] + share * chances[:, 1]
    centre = marginal @ grid
    spread = np.sqrt(np.maximum(marginal @ grid**2 - centre**2, 1e-12))
    found = []
    for i in range(m):
        for j in range(i + 1, m):
            both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
            n = weight[both].sum()
            if n < _FEWEST:
                continue
            a = (codes[both, i] - centre[i]) / spread[i]
            b = (codes[both, j] - centre[j]) / spread[j]
            seen = float(weight[both] @ (a * b) / n)
            error = np.sqrt(max(float(weight[both] @ ((a * b - seen) ** 2) / n), 1e-9) / n)
            product = (mean[i] - centre[i]) * (mean[j] - centre[j]) / (spread[i] * spread[j])
            found.append((seen - float((1 - share) * product[0] + share * product[1])) / error)
    return np.array(found)
