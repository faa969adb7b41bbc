"""How an error grows: the exponent of a power law, fitted to measured errors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["exponent"]


def exponent(sizes: Sequence[float], errors: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the b of ``error ∝ size^b`` that fits the logarithms best (least squares)."""
    return float(np.polyfit(np.log(sizes), np.log(np.asarray(errors)), 1)[0])
