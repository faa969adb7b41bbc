"""Compile every loop of this package, so that no call has to."""

import numpy as np

from karat.ranking._placements import _merged
from karat.ranking._read import _parted
from karat.ranking._softplus_loop import softplus_sums

__all__ = ["warm"]


def warm() -> None:
    """Part and merge a few scores, and sum a loss over their pairs."""
    score, half = np.linspace(0, 1, 8), np.full(4, 0.25)
    ones, zeros = _parted(score, np.arange(8) % 2 == 0, 4)
    _merged(ones, zeros)
    softplus_sums(ones, zeros, half, half)
