"""Metrics that the answers leave possible, whatever the strategy."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import Family

__all__ = ["PosteriorDraws", "thinned"]


@dataclass(frozen=True, slots=True)
class PosteriorDraws:
    """Parameters (n, size) of metrics with their shares (n,), and those of the estimate (size,)."""

    family: Family
    parameters: FloatArray
    shares: FloatArray
    estimate: FloatArray

    def thinned(self, n: int) -> FloatArray:
        """Return n metrics of equal share."""
        return thinned(self.parameters, self.shares, n)


def thinned(parameters: FloatArray, shares: FloatArray, n: int) -> FloatArray:
    """Return n of some vectors, each as often as its share asks."""
    at = (np.arange(n) + 0.5) / n
    chosen = np.searchsorted(np.cumsum(shares), at).clip(max=len(shares) - 1)
    return np.asarray(parameters[chosen])
