"""Compile the loops of this room, so that no later call has to."""

import numpy as np

from karat.sources.counting._hashed import add_rows

__all__ = ["warm"]


def warm() -> None:
    """Count a few scores in a table that has to grow."""
    bits = np.linspace(0, 1, 8).view(np.int64)
    add_rows(bits, np.arange(8) % 2, np.zeros((4, 2), dtype=np.int64), np.zeros(5, dtype=np.int64))
