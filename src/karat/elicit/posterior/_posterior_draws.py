"""Metrics that the answers leave possible, whatever the strategy."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.elicit.families import Family

__all__ = ["PosteriorDraws"]


@dataclass(frozen=True, slots=True)
class PosteriorDraws:
    """Parameters (n, size) of metrics with their shares (n,), and those of the estimate (size,)."""

    family: Family
    parameters: FloatArray
    shares: FloatArray
    estimate: FloatArray

    def thinned(self, n: int) -> FloatArray:
        """Return n metrics of equal share."""
        at = (np.arange(n) + 0.5) / n
        chosen = np.searchsorted(np.cumsum(self.shares), at).clip(max=len(self.shares) - 1)
        return np.asarray(self.parameters[chosen])
